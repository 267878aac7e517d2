import { isScalar, type Scalar } from 'yaml';
import { ScalarError } from './go-scalar.ts';

/*
 * What Go's scanner refuses and the parser here takes.
 * Source: go.yaml.in/yaml/v2, scannerc.go
 */

/** @throws ScalarError when Go would not read the scalar so */
export function checkSpelling({ type, source = '', range }: Scalar, text: string, isInFlow: boolean): void {
  if (isInFlow && type === 'PLAIN' && source.includes('?'))
    throw new ScalarError('has a ? without quotes inside { } or [ ]: write it in quotes');
  if (type === 'QUOTE_DOUBLE' && halfCharacter.test(text.slice(range?.[0], range?.[1])))
    throw new ScalarError('has the escape of half a character, such as \\ud83d: write the character itself');
}

const halfCharacter = /^([^\\]|\\[^u]|\\u[^dD]|\\u[dD][0-7])*\\u[dD][89a-fA-F]/;

/** Whether a key inside braces has no blank behind its colon: Go takes `key:,` and `key:[` for longer words. */
export function lacksBlank(key: unknown, text: string): boolean {
  if (!isScalar(key) || key.type !== 'PLAIN' || !key.range) return false;
  return /^:\S/.test(text.slice(key.range[1], key.range[1] + 2));
}
