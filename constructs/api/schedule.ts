import type { Rule } from './kubernetes-schema.ts';

/*
 * A schedule as the CronJob controller reads it: five fields, or a descriptor. Kubernetes parses with robfig/cron v3
 * (`cron.ParseStandard`), whose names are case-insensitive, whose day of week ends at 6, and which refuses `L`, `#`, `W` and `H`.
 * Source: https://pkg.go.dev/github.com/robfig/cron/v3#hdr-CRON_Expression_Format
 */
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const anyCase = (name: string): string => name.replace(/[a-z]/g, (c) => `[${c.toUpperCase()}${c}]`);
const names = (list: readonly string[]): string => list.map(anyCase).join('|');

function field(value: string): string {
  const item = `([*]|[?]|(${value})(-(${value}))?)(/0*[1-9][0-9]{0,2})?`;
  return `${item}(,${item})*`;
}

const fields = [
  field('0*[0-5]?[0-9]'),
  field('0*(1?[0-9]|2[0-3])'),
  field('0*([1-9]|[12][0-9]|3[01])'),
  field(`0*([1-9]|1[0-2])|${names(months)}`),
  field(`0*[0-6]|${names(days)}`),
];

/** Go's duration, in hours, minutes and seconds: the only units that make sense for a backup. */
const every = '@every ([0-9]+h)?([0-9]+m)?([0-9]+s)?';

const schedulePattern = `^(${fields.join(' +')}|@(yearly|annually|monthly|weekly|daily|midnight|hourly)|${every})$`;

/** Numbers of the names, in one CEL map: `fri-mon` runs backwards just as `5-1` does. */
const numbers = `{${[...months.map((m, i) => `'${m}': ${i + 1}`), ...days.map((d, i) => `'${d}': ${i}`)].join(', ')}}`;
const number = (text: string): string =>
  `(${text}.matches('^[0-9]+$') ? int(${text}) : ${numbers}[${text}.lowerAscii()])`;

const name = [...months, ...days].map(anyCase).join('|');
const range = `^([0-9]{1,4}|${name})-([0-9]{1,4}|${name})(/|$)`;
const end = (index: 0 | 1): string => number(`i.split('/')[0].split('-')[${index}]`);

const neverInFebruary = `^[^ ]+ +[^ ]+ +(30|31)([,-](30|31))* +0*(2|${anyCase('feb')})([,-]0*(2|${anyCase('feb')}))* +[*?]$`;
const shortMonth = `0*(2|4|6|9|11)|${names(['feb', 'apr', 'jun', 'sep', 'nov'])}`;
const neverOn31 = `^[^ ]+ +[^ ]+ +31([,-]31)* +(${shortMonth})(,(${shortMonth}))* +[*?]$`;

export const scheduleRules: readonly Rule[] = [
  {
    rule: `!self.matches('^TZ=|^CRON_TZ=')`,
    message: 'a time zone does not belong into the schedule: use timeZone',
  },
  {
    rule: `self.matches('^TZ=|^CRON_TZ=') || self.matches('${schedulePattern}')`,
    message:
      "must be a Kubernetes cron schedule: five fields such as '30 2 * * *' (day of week 0-6), or @daily, @weekly, @every 6h",
  },
  {
    rule: `self.split(' ').all(f, f.split(',').all(i, !i.matches('${range}') || ${end(0)} <= ${end(1)}))`,
    message: 'has a range that runs backwards: write 22-23,0-4 instead of 22-4',
  },
  {
    rule: `!self.matches('${neverInFebruary}') && !self.matches('${neverOn31}')`,
    message: 'names a date that never comes, such as 31 February',
  },
  {
    rule: `!self.matches('^@every *$') && !self.matches('^@every (0+[hms])+$')`,
    message: "@every needs a length of time, such as '@every 6h'",
  },
];
