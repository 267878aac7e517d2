import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createLogger } from '../../../controller/runtime/logger.ts';
import { LogLines } from './log-lines.ts';

class RequestError extends Error {
  override name = 'RequestError';
  readonly reason = 'Forbidden';
  readonly headers = { authorization: 'Bearer t0p-secret' };
  readonly body = { data: { password: 't0p-secret' } };
}

describe('the logger', () => {
  test('a line is one JSON object with level, time, fields and a sentence', () => {
    const { log, lines } = new LogLines();
    log.child({ controller: 'database' }).info({ key: 'shop/orders' }, 'put back');
    assert.equal(lines.length, 1);
    const { time, ...rest } = lines[0] ?? {};
    assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(rest, { level: 'info', controller: 'database', key: 'shop/orders', msg: 'put back' });
  });

  test('of an error only its kind, words, place and causes are written, never what a client hung onto it', () => {
    const { log, lines } = new LogLines();
    const error = new Error('apply failed', { cause: new RequestError('403') });
    log.child({}).error({ err: error }, 'reconcile failed');
    assert.doesNotMatch(JSON.stringify(lines), /t0p-secret/);
    const { cause, message } = (lines[0] ?? {})['err'] as { message: string; cause: Record<string, unknown> };
    assert.equal(message, 'apply failed');
    assert.deepEqual({ ...cause, stack: 0 }, { type: 'RequestError', message: '403', reason: 'Forbidden', stack: 0 });
  });

  test('an error that is its own cause, a text and undefined can be logged', () => {
    const { log, lines } = new LogLines();
    const error = new Error('round');
    error.cause = error;
    for (const err of [error, 'text', undefined]) log.error({ err }, 'thrown');
    assert.equal(lines.length, 3);
  });

  test('a terminal gets short lines', () => {
    let text = '';
    const log = createLogger({ isReadable: true, output: { write: (line) => (text += line) } });
    log.info({ key: 'shop/orders', paths: ['image'] }, 'put back');
    log.error({ err: new Error('boom') }, 'reconcile failed');
    const [first, second, third] = stripVTControlCharacters(text).split('\n');
    assert.match(first ?? '', /^\d\d:\d\d:\d\d info {2}put back key=shop\/orders paths=\["image"\]$/);
    assert.match(second ?? '', /^\d\d:\d\d:\d\d error reconcile failed$/);
    assert.equal(third, '    Error: boom');
  });

  test('lines below the level are not written', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', isReadable: false, output: { write: (line) => lines.push(line) } });
    log.info({}, 'quiet');
    log.warn({}, 'loud');
    assert.equal(lines.length, 1);
  });

  test('standard output that is no terminal gets JSON, and the line before a sudden exit is not lost', () => {
    const file = new URL('../../../controller/runtime/logger.ts', import.meta.url).href;
    const program = `import { createLogger } from '${file}'; createLogger().info({}, 'last words'); process.exit(1);`;
    let output = '';
    try {
      execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    assert.equal((JSON.parse(output) as { msg: string }).msg, 'last words');
  });
});
