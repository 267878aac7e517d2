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

/** What is wrong with how a key is written: `key:,` and `key:[` inside braces are longer words for Go, and the colon must be in its line. */
export function keyProblem(key: unknown, text: string, isInFlow: boolean): string | undefined {
  if (!isScalar(key) || !key.range) return undefined;
  const [start, end] = key.range;
  if (isInFlow && key.type === 'PLAIN' && /^:\S/.test(text.slice(end, end + 2)))
    return 'needs a blank behind the colon';
  const isInLine = !text.slice(end, text.indexOf(':', end)).includes('\n');
  const isExplicit = (): boolean => /\?\s*$/.test(text.slice(Math.max(0, start - 100), start));
  return isInLine || isExplicit() ? undefined : 'needs its colon in the same line';
}
