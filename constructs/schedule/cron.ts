/** When something is due: at fixed distances from a first time, or where the clock of a zone shows certain times. */
export type Cron =
  | { readonly kind: 'every'; readonly everyMs: number }
  | {
      readonly kind: 'clock';
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly days: ReadonlySet<number>;
      /** From 1. */
      readonly months: ReadonlySet<number>;
      /** From Sunday, 0. */
      readonly weekdays: ReadonlySet<number>;
      /** Day and weekday must both fit: one of the two is any. Otherwise either does. */
      readonly isBoth: boolean;
    };

export type Clock = Extract<Cron, { kind: 'clock' }>;

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  {
    min: 1,
    max: 12,
    names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * Reads a schedule that keeps the rules of the API, as the CronJob controller does.
 *
 * @returns undefined where it is none; a stored spec may break every rule
 * Source: parser.go of https://github.com/robfig/cron/tree/v3.0.1
 */
export function cronOf(schedule: string): Cron | undefined {
  if (schedule.startsWith('@every ')) return everyOf(schedule.slice('@every '.length));
  const texts = (descriptors[schedule] ?? schedule).trim().split(/[ \t]+/);
  const fields = bounds.flatMap((of, i) => fieldOf(texts[i] ?? '', of) ?? []);
  const [minutes, hours, days, months, weekdays] = fields;
  if (!minutes || !hours || !days || !months || !weekdays || texts.length !== fields.length) return undefined;
  return {
    kind: 'clock',
    minutes: minutes.values,
    hours: hours.values,
    days: days.values,
    months: months.values,
    weekdays: weekdays.values,
    isBoth: days.isAny || weekdays.isAny,
  };
}

/** Whether something is due on a day. @param shown what the clock shows, as if it were UTC */
export function isDueOn({ days, months, weekdays, isBoth }: Clock, shown: Date): boolean {
  if (!months.has(shown.getUTCMonth() + 1)) return false;
  const [day, weekday] = [days.has(shown.getUTCDate()), weekdays.has(shown.getUTCDay())];
  return isBoth ? day && weekday : day || weekday;
}

function everyOf(duration: string): Cron | undefined {
  const [whole, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  const everyMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return whole === undefined || everyMs === 0 ? undefined : { kind: 'every', everyMs };
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** It has a star, or a question mark, for every value; with a longer step, it is a list like others. */
  readonly isAny: boolean;
}

function fieldOf(text: string, of: Bounds): Field | undefined {
  const items = text.split(',').map((item) => itemOf(item, of));
  const whole = items.filter((item) => item !== undefined);
  if (whole.length < items.length) return undefined;
  return { values: new Set(whole.flatMap(({ values }) => [...values])), isAny: whole.some(({ isAny }) => isAny) };
}

function itemOf(text: string, of: Bounds): Field | undefined {
  const [, star, from = '', to, step = '1'] =
    /^(?:([*?])|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:\/([0-9]+))?$/i.exec(text) ?? [];
  const stride = Number(step);
  const first = star === undefined ? numberOf(from, of) : of.min;
  // `5/15` goes on to the end of the field.
  const isOpen = star !== undefined || (to === undefined && text.includes('/'));
  const last = isOpen ? of.max : numberOf(to ?? from, of);
  if (!(first >= of.min && first <= last && last <= of.max && stride > 0)) return undefined;
  const count = Math.floor((last - first) / stride) + 1;
  const values = new Set(Array.from({ length: count }, (_, i) => first + i * stride));
  return { values, isAny: star !== undefined && stride === 1 };
}

/** NaN for what is none. */
function numberOf(text: string, { names = [] }: Bounds): number {
  if (/^[0-9]+$/.test(text)) return Number(text);
  const found = names.indexOf(text.toLowerCase());
  return found === -1 ? Number.NaN : found;
}
