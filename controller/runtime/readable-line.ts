import { styleText } from 'node:util';

const colours = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const;

/** One JSON line of the log as a short line for a terminal: `12:01:02 info  put back StatefulSet orders  field=image`. */
export function readableLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const label = String(level);
  const colour = Object.hasOwn(colours, label) ? colours[label as keyof typeof colours] : 'reset';
  const rest = Object.entries(fields).map(([name, value]) => styleText('dim', `${name}=${shown(value)}`));
  return [clock, styleText(colour, label.padEnd(5)), String(msg), ...rest].join(' ') + '\n' + shownError(err);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shownError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const text = 'stack' in error ? error.stack : 'message' in error ? error.message : undefined;
  return typeof text === 'string' ? text.replace(/^/gm, '    ') + '\n' : '';
}
