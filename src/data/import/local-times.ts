/** Turns local times into UTC: the hour that clocks show twice in autumn, and the one that they skip in spring. */

import { intervalMs } from '../../domain/interval.ts';
import { counted } from '../../domain/words.ts';
import type { SeriesKey } from '../catalogue/kinds.ts';
import type { Finding } from '../check/finding.ts';
import type { Gap } from '../check/gaps.ts';
import { Tally } from '../check/tally.ts';
import { changingPlace, isPutForward, isShownTwice } from '../time-zones.ts';

const hourMs = 3_600_000;

export class LocalTimes {
  /** Length of a row, ms, 0 of trades; undefined where times are not local, or rows are longer than an hour. */
  readonly #lengthMs: number | undefined;
  readonly #zone: string | undefined;
  /** Of the row before, UTC ms. */
  #before = Number.NaN;
  #isSecondHour = false;
  /** The last row of the batch before. */
  #last: readonly number[] = [];
  readonly #moved = new Tally();
  /** Hours that are shown twice of which the order of rows does not show which one it is. */
  readonly #ambiguous = new Tally();
  #ambiguousFrom: number | undefined;
  /** Rows of hours that these clocks skip. */
  readonly #skipped = new Tally();
  /** Where times without a zone go back by an hour. */
  readonly #back = new Tally();

  constructor(isLocal: boolean, { kind, interval }: SeriesKey, zone: string | undefined) {
    const lengthMs = kind === 'trades' ? 0 : interval === undefined ? Number.NaN : intervalMs(interval, 0);
    this.#lengthMs = isLocal && lengthMs <= hourMs ? lengthMs : undefined;
    this.#zone = zone;
  }

  /**
   * Times come read as the first of two equal hours. In a file in order, rows that go back to its beginning when it is over are those of
   * the second.
   */
  toUtc(columns: readonly Float64Array[], rows: number): void {
    if (this.#lengthMs === undefined) return;
    const times = columns[0] as Float64Array;
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      const backMs = this.#before - time;
      this.#before = time;
      if (this.#zone === undefined) {
        const isBack = this.#lengthMs === 0 && backMs > hourMs / 2 && backMs <= hourMs;
        if (isBack && changingPlace(time, 'back') !== undefined) this.#back.add(0, time);
        continue;
      }
      this.#isSecondHour = backMs >= 0 && this.#isOfSecondHour(time, backMs, columns, row);
      if (backMs >= 0 && backMs < hourMs && isPutForward(this.#zone, time)) this.#skipped.add(0, time);
      if (this.#isSecondHour) {
        this.#before = time + hourMs;
        this.#moved.add(0, this.#before);
      }
      times[row] = this.#before;
      this.#noteAmbiguous(this.#zone, time);
    }
    if (rows > 0) this.#last = columns.map((column) => column[rows - 1] as number);
  }

  /** Rows of the second hour show that those before were of the first. */
  #noteAmbiguous(zone: string, time: number): void {
    if (this.#isSecondHour) this.#ambiguousFrom = undefined;
    else if (isShownTwice(zone, time)) this.#ambiguousFrom ??= time;
    else this.#endAmbiguous();
  }

  #endAmbiguous(): void {
    if (this.#ambiguousFrom !== undefined) this.#ambiguous.add(0, this.#ambiguousFrom);
    this.#ambiguousFrom = undefined;
  }

  #isOfSecondHour(time: number, backMs: number, columns: readonly Float64Array[], row: number): boolean {
    const lengthMs = this.#lengthMs ?? 0;
    const step = hourMs - backMs;
    // Rows in disorder go back by less. Trades of the second hour may be out of order within it, for a repair to sort.
    const slackMs = lengthMs === 0 ? hourMs / 2 : 0;
    if (this.#isSecondHour ? step < -slackMs : step <= 0 || step > Math.max(lengthMs, hourMs / 2)) return false;
    if (!isShownTwice(this.#zone ?? 'UTC', time)) return false;
    // A row of an hour that is repeated exactly has the same time and values.
    const before = (at: number): number | undefined => (row === 0 ? this.#last[at] : columns[at]?.[row - 1]);
    return lengthMs < hourMs || columns.some((column, at) => at > 0 && column[row] !== before(at));
  }

  /** What was done about times without a zone, or why they seem local. */
  findings(gaps: readonly Gap[]): readonly Finding[] {
    if (this.#lengthMs === undefined) return [];
    return this.#zone === undefined ? this.#suspicions(gaps) : this.#zoneFindings(this.#zone);
  }

  #suspicions(gaps: readonly Gap[]): readonly Finding[] {
    const skipped = new Tally();
    for (const [from, to] of gaps)
      if (to - from === hourMs && changingPlace(from, 'forward') !== undefined) skipped.add(0, from);
    const backPlace = changingPlace(this.#back.places[0]?.time ?? 0, 'back');
    const place = changingPlace(skipped.places[0]?.time ?? 0, 'forward');
    const back = this.#back.fault(
      'zone',
      `times go back by an hour ${counted(this.#back.count, 'time')}, as clocks in ${backPlace} do in autumn: these look like local times`,
      'read as UTC, two hours would be mixed, and all times would be hours off',
      `give the time zone (--zone ${backPlace}), or export them in UTC`,
    );
    const forward = skipped.warning(
      'zone',
      `${counted(skipped.count, 'gap is an hour', 'gaps are hours')} that clocks in ${place} skip in spring: these look like local times, but were read as UTC`,
      'every kline would be hours off, and together with UTC data a run would see the future',
      `if so, remove them (sluice data remove) and import again with --zone ${place}`,
    );
    return back.length > 0 ? back : forward;
  }

  #zoneFindings(zone: string): readonly Finding[] {
    this.#endAmbiguous();
    const [skipped, moved, ambiguous] = [this.#skipped, this.#moved, this.#ambiguous];
    const assumed = moved.warning(
      'assumed',
      `${counted(moved.count, 'row')} in hours that occur twice in ${zone}`,
      'read as the second occurrence, because they follow the first',
    );
    return [
      ...skipped.fault(
        'zone',
        `rows of ${counted(skipped.count, 'hour')} that clocks in ${zone} skip in spring`,
        'they are not local times of that zone',
        'leave out --zone if they are UTC, or give the correct zone',
      ),
      ...assumed.map((one) => ({ ...one, count: 1, places: [] })),
      ...ambiguous.warning(
        'zone',
        `rows of ${counted(ambiguous.count, 'hour')} that occur twice in ${zone}, and the order of the rows does not distinguish them`,
        'read as the first occurrence: those of the second are an hour early',
        'if you know the zone, import them in UTC, or with their zone',
      ),
    ];
  }
}
