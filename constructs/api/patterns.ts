const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const pathPart = '[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*';

/* Quantities that are whole bytes: without a fraction, with at most thousandths of a decimal unit, or with eighths of a binary one. */
const whole = '([0-9]+[.]?0*|[.]0+)([kMGTPE]|[KMGTPE]i|[eE][+]?[0-9]{1,2})?';
const decimal = '[0-9]*[.][0-9]{1,3}0*([kMGTPE]|[eE][+]?([3-9]|[1-9][0-9]))';
const binary = '[0-9]*[.](5|25|75|125|375|625|875)0*[KMGTPE]i';

const host = '([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])';
/* Printable, and neither blank, # nor ?. */
const urlPath = '[!-"$->@-~]+';
const user = '[A-Za-z0-9._-]+';
const refPart = '[A-Za-z0-9]([.]?[A-Za-z0-9_-])*';

/** The patterns of the schema, in what Go's RE2 and JavaScript read alike: no lookaround, no Unicode classes. */
export const patterns = {
  /** No control characters: a carriage return or a NUL in a value is never passed on silently. */
  printable: '^[^\\x00-\\x1f\\x7f]*$',
  objectName: `^${subdomain}$`,
  labelKey: `^(${subdomain}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`,
  labelValue: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
  /** Source: k8s.io/apimachinery/pkg/api/resource, "The serialization format". */
  quantity: '^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][-+]?[0-9]{1,2})?$',
  bytes: `^[+]?(${whole}|${decimal}|${binary})$`,
  /** RFC 3339. */
  time: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$',
  dnsLabel: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  gitUrl: `^(https?://${host}(:[0-9]{1,5})?/${urlPath}|ssh://(${user}@)?${host}(:[0-9]{1,5})?/${urlPath}|file:///${urlPath}|(${user}@)?[A-Za-z0-9.-]+:/?[!"$-.0-9;->A-~][!"$->A-~]*)$`,
  /** Stricter than git. Source: git-check-ref-format(1) */
  gitBranch: `^${refPart}(/${refPart})*$`,
  githubApp: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  digits: '^[0-9]+$',
  apiUrl: `^https://${host}(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)*/?$`,
  gitReviewBranch: `^(${refPart}|<cluster>)(/(${refPart}|<cluster>))*$`,
  gitPath: '^((<cluster>|[A-Za-z0-9][A-Za-z0-9._-]*)/)*<namespace>/<name>/?$',
  gitIdentity: '^[^\\x00-\\x20\\x7f<>]([^\\x00-\\x1f\\x7f<>]*[^\\x00-\\x20\\x7f<>])?$',
  mailAddress: '^[!-;=?A-~]+@[!-;=?A-~]+$',
  sqlName: '^[A-Za-z_][A-Za-z0-9_-]*$',
  /** Source: https://pkg.go.dev/github.com/distribution/reference, "Grammar". */
  image: `^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]{1,5})?/)?${pathPart}(/${pathPart})*(:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(@sha256:[0-9a-f]{64})?$`,
} as const;

const words: Readonly<Record<keyof typeof patterns, string>> = {
  printable: 'must not contain control characters: remove the carriage return, line break or NUL',
  objectName: 'must be the name of a Kubernetes object: a-z, 0-9, - and . between letters or digits',
  labelKey: 'must be a label key such as kubernetes.io/hostname',
  labelValue: 'must be a label value: letters, digits, -, _ and .',
  quantity: 'must be a Kubernetes quantity: a number with a suffix such as Gi, Mi, m or none; GB and gb are none',
  bytes:
    'must be a quantity of whole bytes, with at most three digits behind a point; GB and gb are no suffixes, and m means thousandths',
  time: 'must be a time such as 2027-01-01T00:00:00Z',
  dnsLabel: 'must be a DNS label: a-z, 0-9 and -, with a letter or digit at both ends',
  gitUrl: 'must be a URL of https, http, file or ssh without a user name, password or token, but for the user of ssh',
  gitBranch: 'must be the name of a branch such as main or env/prod',
  githubApp: 'must be the ID or client ID of a GitHub App',
  digits: 'must be digits',
  apiUrl: 'must be a URL that begins with https://, without a query, such as https://github.example/api/v3',
  gitReviewBranch: 'must be the name of a branch such as plumbline/main or plumbline/<cluster>',
  gitPath: 'must end with `<namespace>/<name>`, after folders of letters, digits, ., _ and -, or `<cluster>`',
  gitIdentity: 'must have no angle brackets or control characters, and no blank at its ends',
  mailAddress: 'must be an address such as plumbline@example.org',
  sqlName: 'must begin with a letter or _ and have only letters, digits, _ and -',
  image: 'must be a container image such as registry.example/postgresql:17.5',
};

/** What a pattern asks for, in words: a regular expression tells few people what to write. */
export function inWords(pattern: string): string {
  const name = (Object.keys(patterns) as (keyof typeof patterns)[]).find((key) => patterns[key] === pattern);
  return name ? words[name] : `must match ${pattern}`;
}

const compiled = new Map<string, RegExp>();

/** The compiled form of a pattern of the schema. */
export function expression(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const fresh = new RegExp(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}
