import { isDueOn, type Clock, type Cron } from './cron.ts';
import type { Zone } from './zone.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** A search ends so many years on. */
const years = 5;

/**
 * The first time behind `after` at which a Job is due by the CronJob controller. It takes the steps of robfig/cron, whose outcome is the rule: a time
 * that the clock skips is left out, one that it shows twice is due twice, and where it skips midnight, hours are counted from what there is.
 *
 * No library was found that gives the same: croner and cron-parser run a skipped time later and a doubled one once.
 *
 * @param first when the first distance of `@every` begins, in milliseconds: when the CronJob made a Job last, or was made
 * @returns milliseconds; undefined where nothing is due within five years
 * Source: `Next` in spec.go and constantdelay.go of https://github.com/robfig/cron/tree/v3.0.1
 */
export function dueAfter(cron: Cron, zone: Zone, after: number, first: number): number | undefined {
  if (cron.kind === 'every') {
    const passed = Math.max(0, Math.floor((after - first) / cron.everyMs));
    return first + (passed + 1) * cron.everyMs;
  }
  return new Search(cron, zone, after).find();
}

class Search {
  readonly #cron: Clock;
  readonly #zone: Zone;
  #at: number;
  /** Something was counted up, so that what is smaller begins at nothing. */
  #isMoved = false;

  constructor(cron: Clock, zone: Zone, after: number) {
    this.#cron = cron;
    this.#zone = zone;
    this.#at = (Math.floor(after / secondMs) + 1) * secondMs;
  }

  find(): number | undefined {
    const lastYear = this.#shown().getUTCFullYear() + years;
    while (this.#shown().getUTCFullYear() <= lastYear) {
      if (this.#toMonth() && this.#toDay() && this.#toHour() && this.#toMinute()) return this.#at;
    }
    return undefined;
  }

  /** Each of these counts up to what fits. @returns false where a larger field has changed by that */
  #toMonth(): boolean {
    const { months } = this.#cron;
    for (let shown = this.#shown(); !months.has(shown.getUTCMonth() + 1); shown = this.#shown()) {
      this.#begin((at) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
      this.#add(1, 0);
      if (this.#shown().getUTCMonth() === 0) return false;
    }
    return true;
  }

  #toDay(): boolean {
    for (let shown = this.#shown(); !isDueOn(this.#cron, shown); shown = this.#shown()) {
      this.#begin((at) => at.setUTCHours(0, 0, 0, 0));
      this.#add(0, 1);
      // There is no midnight where the clock skips it.
      const hour = this.#shown().getUTCHours();
      this.#at += (hour > 12 ? 24 - hour : -hour) * hourMs;
      if (this.#shown().getUTCDate() === 1) return false;
    }
    return true;
  }

  #toHour(): boolean {
    const { hours } = this.#cron;
    for (let shown = this.#shown(); !hours.has(shown.getUTCHours()); shown = this.#shown()) {
      this.#begin((at) => at.setUTCMinutes(0, 0, 0));
      this.#at += hourMs;
      if (this.#shown().getUTCHours() === 0) return false;
    }
    return true;
  }

  /** Within an hour the clock goes as time does, but for the changes by half an hour. */
  #toMinute(): boolean {
    const { minutes } = this.#cron;
    for (let shown = this.#shown(); !minutes.has(shown.getUTCMinutes()); shown = this.#shown()) {
      if (!this.#isMoved) this.#at = Math.floor(this.#at / minuteMs) * minuteMs;
      this.#isMoved = true;
      this.#at += minuteMs;
      if (this.#shown().getUTCMinutes() === 0) return false;
    }
    return this.#toSecond();
  }

  /** Second 0. */
  #toSecond(): boolean {
    if (this.#at % minuteMs === 0) return true;
    this.#isMoved = true;
    this.#at = Math.ceil(this.#at / minuteMs) * minuteMs;
    return false;
  }

  #shown(): Date {
    return this.#zone.shown(this.#at);
  }

  #begin(of: (shown: Date) => number): void {
    if (!this.#isMoved) this.#at = this.#zone.at(of(this.#shown()));
    this.#isMoved = true;
  }

  /** To the same time of the clock. */
  #add(months: number, days: number): void {
    const shown = this.#shown();
    const [month, day] = [shown.getUTCMonth() + months, shown.getUTCDate() + days];
    this.#at = this.#zone.at(shown.setUTCMonth(month, day));
  }
}
