/*
 * The names that Kubernetes itself asks for.
 * Source: k8s.io/apimachinery/pkg/util/validation
 */
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabel.test(text);
}

/** The beginning of a DNS subdomain, as a generateName is. */
export function isNamePrefix(text: string): boolean {
  // As Kubernetes does it: something will follow a dash.
  const masked = text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text;
  return isSubdomain(masked, text.length);
}

/** The key of a label or an annotation, or a finalizer: `name` or `example.com/name`. */
export function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').reverse();
  return (
    rest.length === 0 && (prefix === undefined || isSubdomain(prefix)) && name.length <= 63 && qualified.test(name)
  );
}

export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && qualified.test(text));
}

function isSubdomain(text: string, length = text.length): boolean {
  return length <= 253 && text.split('.').every((part) => dnsLabel.test(part));
}
