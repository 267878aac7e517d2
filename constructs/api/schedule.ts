import type { Rule } from './rule.ts';

/*
 * A schedule as the CronJob controller reads it: five fields, or a descriptor. Kubernetes parses with robfig/cron v3
 * (`cron.ParseStandard`), whose names are case-insensitive, whose day of week ends at 6, and which refuses `L`, `#`, `W` and `H`.
 * What we refuse beyond it is never meant: items without a number, dates that never come, and lengths of time that round to nothing.
 * Sources: https://pkg.go.dev/github.com/robfig/cron/v3#hdr-CRON_Expression_Format, parser.go and spec.go there
 */
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const blank = '[ \\t]';
const anyCase = (name: string): string => name.replace(/[a-z]/g, (c) => `[${c.toUpperCase()}${c}]`);
const oneOf = (names: readonly string[]): string => names.map(anyCase).join('|');

function listOf(value: string): string {
  const item = `([*]|[?]|(${value})(-(${value}))?)(/0*[1-9][0-9]{0,2})?`;
  return `${item}(,${item})*`;
}

const fields = [
  listOf('0*[0-5]?[0-9]'),
  listOf('0*(1?[0-9]|2[0-3])'),
  listOf('0*([1-9]|[12][0-9]|3[01])'),
  listOf(`0*([1-9]|1[0-2])|${oneOf(months)}`),
  listOf(`0*[0-6]|${oneOf(days)}`),
];

/** Go's duration, in hours, minutes and seconds: the only units that make sense for a backup. */
const every = '@every ([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?';
const descriptor = `@(yearly|annually|monthly|weekly|daily|midnight|hourly)|${every}`;
const pattern = `^(${blank}*${fields.join(`${blank}+`)}${blank}*|${descriptor})$`;

/** CEL: the schedule with numbers for names. */
const numeric = [...months.map((name, i) => [name, i + 1]), ...days.map((name, i) => [name, i])].reduce(
  (text, [name, number]) => `${text}.replace('${name}', '${number}')`,
  'self.lowerAscii()',
);

/** Dates that never come: the days begin with `days`, the months are among `months`, and any weekday will do (else one brings it about). */
function never(days: string, months: readonly number[]): string {
  const field = '[^ \\t]+';
  const day = `0*(${days})(-0*(${days}))?(/[0-9]+)?`;
  const month = `(${months.flatMap((from) => monthItems(from, months)).join('|')})`;
  const anyWeekday = '([^ \\t]*,)?[*?](/0*1)?(,[^ \\t]*)?';
  const whole = [field, field, `${day}(,${day})*`, `${month}(,${month})*`, anyWeekday].join(`${blank}+`);
  return `^${blank}*${whole}${blank}*$`;
}

/** Every way to write an item that begins with month `from` and takes in `allowed` months only: `4`, `4-5`, `4/7` (April, November) … */
function monthItems(from: number, allowed: readonly number[]): readonly string[] {
  const steps = Array.from({ length: 12 }, (_, i) => i + 1);
  return steps.map((step) => {
    let to = from;
    while (to < 12 && ((to + 1 - from) % step !== 0 || allowed.includes(to + 1))) to += 1;
    const end = `-0*(${steps.slice(from - 1, to).join('|')})`;
    if (step === 1) return `0*${from}(${end})?|0*${from}${end}/0*1`;
    const length = step === 12 ? '(1[2-9]|[2-9][0-9]|[1-9][0-9][0-9])' : step;
    return `0*${from}${to === 12 ? `(${end})?` : end}/0*${length}`;
  });
}

export const scheduleRules: readonly Rule[] = [
  {
    rule: `!self.matches('^${blank}*(CRON_)?TZ=')`,
    message: 'must not have a time zone in it: use timeZone',
  },
  {
    rule: `self.matches('TZ=') || self.matches('${pattern}')`,
    message:
      "must be a Kubernetes cron schedule: five fields such as '30 2 * * *' (day of week 0-6), or @daily, @weekly, @every 6h",
  },
  {
    rule: `${numeric}.findAll('[0-9]+-[0-9]+').all(r, int(r.split('-')[0]) <= int(r.split('-')[1]))`,
    message: 'must not have a range that runs backwards: write 22-23,0-4 instead of 22-4',
  },
  {
    rule: `!${numeric}.matches('${never('30|31', [2])}') && !${numeric}.matches('${never('31', [2, 4, 6, 9, 11])}')`,
    message: 'must not name a date that never comes, such as 31 February',
  },
  {
    rule: `!self.matches('^@every (0+[hms])*$')`,
    message: "must have a length of time behind @every, such as '@every 6h'",
  },
];
