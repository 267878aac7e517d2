import { Type, type TSchemaOptions, type TUnsafe } from 'typebox';
import { patterns } from './patterns.ts';
import { everyKey, type Rule } from './rule.ts';

/** What every node of a structural schema may say beside its type. */
export interface NodeOptions extends TSchemaOptions {
  readonly description: string;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** `{type: string, enum: […]}`: a union of constants would not be a structural schema. */
export function Enum<const Values extends readonly string[]>(
  values: Values,
  options: NodeOptions,
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
}

type Strings = Readonly<Record<string, string>>;

/** A map of text without control characters; a pattern on the keys would not be a structural schema, so keys are judged by rules. */
export function StringMap(
  options: NodeOptions & {
    readonly maxProperties: number;
    readonly maxLength: number;
    readonly valuePattern?: string;
  },
): TUnsafe<Strings> {
  const { maxLength, valuePattern: pattern = patterns.printable, ...rest } = options;
  return Type.Unsafe<Strings>({
    type: 'object',
    additionalProperties: { type: 'string', maxLength, pattern },
    ...rest,
  });
}

/** Bounds of a label key. Its prefix may have 253 characters; keys that need more than that in all are not seen. */
export const labelKey = { minLength: 1, maxLength: 253, pattern: patterns.labelKey } as const;
export const labelValue = { maxLength: 63, pattern: patterns.labelValue } as const;
export const objectName = { minLength: 1, maxLength: 253, pattern: patterns.objectName } as const;

/** A map of label keys to label values. */
export function LabelMap(description: string): TUnsafe<Strings> {
  return StringMap({
    description,
    maxProperties: 16,
    maxLength: labelValue.maxLength,
    valuePattern: labelValue.pattern,
    'x-kubernetes-validations': [
      everyKey(
        `k.matches('${labelKey.pattern}') && size(k) <= ${labelKey.maxLength}`,
        'keys must be label keys such as kubernetes.io/hostname, not',
      ),
    ],
  });
}

/** A Kubernetes quantity greater than zero, as text or as a whole number. */
export function Quantity(options: NodeOptions): TUnsafe<string | number> {
  const { 'x-kubernetes-validations': rules = [], ...rest } = options;
  return Type.Unsafe<string | number>({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    maxLength: 32,
    pattern: patterns.quantity,
    ...rest,
    'x-kubernetes-validations': [
      { rule: `${quantity}.isGreaterThan(quantity('0'))`, message: 'must be greater than zero' },
      ...rules,
    ],
  });
}

/**
 * A quantity of bytes: no fraction of a byte (`512m` is half a byte, never meant), and within what Kubernetes can count. A pattern says it,
 * since `isInteger()` of Kubernetes' CEL says no to 1.5Gi and to 100Ti: it asks how a quantity is kept, not what it is.
 */
export function Bytes(options: NodeOptions): TUnsafe<string | number> {
  return Quantity({
    ...options,
    pattern: patterns.bytes,
    'x-kubernetes-validations': [{ rule: `${quantity}.isLessThan(quantity('8Ei'))`, message: 'must be less than 8Ei' }],
  });
}

const quantity = 'quantity(string(self))';
