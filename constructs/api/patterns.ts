/** The patterns of the schema. Each has words, since a regular expression tells few people what to write. */
export const patterns = {
  /** No control characters: a carriage return or a NUL in a value is never passed on silently. */
  printable: '^[^\\x00-\\x1f\\x7f]*$',
  objectName: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  labelKey: '^(([a-z0-9]([-a-z0-9.]*[a-z0-9])?)/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
  labelValue: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
  /** Source: k8s.io/apimachinery/pkg/api/resource, "The serialization format". */
  quantity: '^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][-+]?[0-9]+)?$',
  sqlName: '^[A-Za-z_][A-Za-z0-9_-]*$',
  image: '^[a-zA-Z0-9]([-a-zA-Z0-9._/:]*[a-zA-Z0-9])?(@sha256:[0-9a-f]{64})?$',
} as const;

const words: Readonly<Record<keyof typeof patterns, string>> = {
  printable: 'must not contain control characters: remove the carriage return, line break or NUL',
  objectName: 'must be the name of a Kubernetes object: a-z, 0-9, - and . between letters or digits',
  labelKey: 'must be a label key such as kubernetes.io/hostname',
  labelValue: 'must be a label value: letters, digits, -, _ and .',
  quantity: 'must be a Kubernetes quantity',
  sqlName: 'must begin with a letter or _ and have only letters, digits, _ and -',
  image: 'must be a container image such as registry.example/postgresql:17.5',
};

/** What a pattern asks for, in words. */
export function inWords(pattern: string): string {
  const name = (Object.keys(patterns) as (keyof typeof patterns)[]).find((key) => patterns[key] === pattern);
  return name ? words[name] : `must match ${pattern}`;
}
