import { Type, type TSchemaOptions, type TUnsafe } from 'typebox';
import { patterns } from './patterns.ts';

/** One rule in CEL as a CRD carries it (`x-kubernetes-validations`). The API server and `validate()` evaluate the same text. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  /** A CEL expression of type string; wins over `message`. */
  readonly messageExpression?: string;
  /** Path of the field at fault, relative to where the rule stands, such as `.storage.size`. */
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
}

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

/** A map of strings; a pattern on the keys would not be a structural schema, so keys are judged by rules. */
export function StringMap(
  options: NodeOptions & { readonly maxProperties: number; readonly maxLength: number },
): TUnsafe<Readonly<Record<string, string>>> {
  const { maxLength, ...rest } = options;
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string', maxLength, pattern: patterns.printable },
    ...rest,
  });
}

/** A Kubernetes quantity, as a string or a whole number. */
export function Quantity(options: NodeOptions): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    maxLength: 32,
    pattern: patterns.quantity,
    ...options,
  });
}

/** A quantity of bytes: more than nothing and no fraction of a byte (`512m` is half a byte, never meant). */
export function Bytes(options: NodeOptions): TUnsafe<string | number> {
  return Quantity({
    ...options,
    'x-kubernetes-validations': [
      {
        rule: 'quantity(string(self)).isGreaterThan(quantity("0"))',
        message: 'must be greater than zero, such as 10Gi',
      },
      {
        rule: 'quantity(string(self)).isInteger()',
        message: 'must be whole bytes, such as 512Mi; the suffix m means thousandths',
      },
      ...(options['x-kubernetes-validations'] ?? []),
    ],
  });
}
