/** No clock changes twice in that. */
const weekMs = 7 * 24 * 3_600_000;

/** The clock of a time zone. Times are milliseconds of UTC; what the clock shows is given as if it were UTC. */
export class Zone {
  readonly #format: Intl.DateTimeFormat;
  /** By the number of the week since 1970; undefined in one in which the clock changes. */
  readonly #weeks = new Map<number, number | undefined>();

  private constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  /** @returns undefined for a name that is none */
  static of(name: string): Zone | undefined {
    const known = zones.get(name);
    if (known !== undefined) return known;
    try {
      const zone = new Zone(new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' }));
      zones.set(name, zone);
      return zone;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** How far the clock is ahead of UTC, in milliseconds. */
  aheadMs(at: number): number {
    const week = Math.floor(at / weekMs);
    if (!this.#weeks.has(week)) {
      const [begin, end] = [this.#asked(week * weekMs), this.#asked((week + 1) * weekMs)];
      this.#weeks.set(week, begin === end ? begin : undefined);
    }
    return this.#weeks.get(week) ?? this.#asked(at);
  }

  /** What the clock shows then. */
  shown(at: number): Date {
    return new Date(at + this.aheadMs(at));
  }

  /**
   * When the clock shows this. Of a time that it skips, or shows twice, it is a time that Go's `time.Date` gives: the doubled one is the first
   * or the second by the side of UTC on which the zone lies.
   */
  at(shown: number): number {
    const guess = this.aheadMs(shown);
    return guess === 0 ? shown : shown - this.aheadMs(shown - guess);
  }

  /** Takes some microseconds, and a search asks a hundred times. */
  #asked(at: number): number {
    const [, sign, hours, minutes, seconds = 0] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(this.#format.format(at)) ?? [];
    if (sign === undefined) return 0;
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -ms : ms;
  }
}

/** A format is dear to make. There are no more of them than zones. */
const zones = new Map<string, Zone>();
