/** One rule in CEL as a CRD carries it (`x-kubernetes-validations`). The API server and offline validation evaluate the same text. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  /** A CEL expression of type string; wins over `message`. */
  readonly messageExpression?: string;
  /** Path of the field at fault, relative to where the rule stands, such as `.storage.size`. */
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
}

/** A rule that compares with the value before; it holds where there is none. */
export function isTransition(rule: Rule): boolean {
  return /\boldSelf\b/.test(rule.rule);
}

/** That a field of an object stays as it was. `absent` is the CEL literal of what its absence means. */
export function immutable(field: string, absent: string, message: string): Rule {
  const valueIn = (object: string): string => `(has(${object}.${field}) ? ${object}.${field} : ${absent})`;
  return {
    rule: `${valueIn('self')} == ${valueIn('oldSelf')}`,
    message,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  };
}

/**
 * A rule on every key of a map of strings. A rule of a CRD cannot point to one entry, so the message names the first wrong key; offline
 * each entry is judged by itself and named in the field.
 *
 * @param holds CEL over `k`
 * @param message ends where the key follows
 */
export function everyKey(holds: string, message: string): Rule {
  return { rule: `${keyRule}${holds})`, messageExpression: `'${message}: ' + self.filter(k, !(${holds}))[0]` };
}

/** Whether the rule judges each entry of a map alone. */
export function isKeyRule(rule: Rule): boolean {
  return rule.rule.startsWith(keyRule);
}

const keyRule = 'self.all(k, ';
