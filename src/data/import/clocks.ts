/** Klines whose times are those of a place's clocks: the hour that these show twice in autumn, and the one that they leave out in spring. */
import { intervalMs } from '../../domain/interval.ts';
import type { SeriesKey } from '../catalogue/kinds.ts';
import { counted, type Finding } from '../check/finding.ts';
import type { Gap } from '../check/klines.ts';
import { Tally } from '../check/tally.ts';
import { changingPlace, isPutForward, isShownTwice } from '../zones.ts';
import type { Layout, Told } from './layout.ts';

const hourMs = 3_600_000;

export class Clocks {
  /** Of klines of an hour or less in local times; undefined of others, of which none is moved. */
  readonly #lengthMs: number | undefined;
  readonly #zone: string | undefined;
  #before = Number.NaN;
  #isSecond = false;
  #last: readonly number[] = [];
  #moved = 0;
  /** Moments from which on rows of an hour that these clocks never show go before. */
  readonly #never = new Tally();

  constructor({ isLocal = false }: Pick<Layout, 'isLocal'>, { interval }: SeriesKey, { zone }: Told) {
    const lengthMs = interval === undefined ? Number.NaN : intervalMs(interval, 0);
    this.#lengthMs = isLocal && lengthMs <= hourMs ? lengthMs : undefined;
    this.#zone = zone;
  }

  /**
   * An hour that the clocks show twice is read as the first of the two: rows that go back to its beginning when it is over, in a file
   * in order, are those of the second.
   */
  settle(columns: readonly Float64Array[], rows: number): void {
    if (this.#lengthMs === undefined || this.#zone === undefined) return;
    const times = columns[0] as Float64Array;
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      this.#isSecond = time <= this.#before && this.#isOfSecond(time, columns, row);
      const backMs = this.#before - time;
      if (backMs >= 0 && backMs < hourMs && isPutForward(this.#zone, time)) this.#never.add(0, time);
      this.#before = this.#isSecond ? time + hourMs : time;
      times[row] = this.#before;
      if (this.#isSecond) this.#moved++;
    }
    if (rows > 0) this.#last = columns.map((column) => column[rows - 1] as number);
  }

  #isOfSecond(time: number, columns: readonly Float64Array[], row: number): boolean {
    const lengthMs = this.#lengthMs ?? 0;
    const step = time + hourMs - this.#before;
    // Rows in disorder go back by less than that: where the first hour had hardly begun, nobody knows.
    if (this.#isSecond ? step < 0 : step <= 0 || step > Math.max(lengthMs, hourMs / 2)) return false;
    if (!isShownTwice(this.#zone ?? 'UTC', time)) return false;
    // Of hours a row that is repeated exactly looks the same.
    return (
      lengthMs < hourMs || columns.some((column, at) => at > 0 && column[row] !== this.#valueBefore(column, at, row))
    );
  }

  #valueBefore(column: Float64Array, at: number, row: number): number | undefined {
    return row === 0 ? this.#last[at] : column[row - 1];
  }

  /** What there is to say of times that name no zone: what was done about them, or that they look local. */
  findings(gaps: readonly Gap[]): readonly Finding[] {
    if (this.#lengthMs === undefined) return [];
    if (this.#zone !== undefined) return [...this.#neverShown(this.#zone), ...this.#shownTwice(this.#zone)];
    const skipped = gaps.filter(([from, to]) => to - from === hourMs && changingPlace(from, 'forward') !== undefined);
    const [first] = skipped;
    if (first === undefined) return [];
    const place = changingPlace(first[0], 'forward');
    return [
      {
        check: 'zone',
        count: skipped.length,
        refused: false,
        what: `${counted(skipped.length, 'gap is an hour', 'gaps are hours')} that clocks of ${place} leave out in spring: these look like local times, and were read as UTC`,
        effect: 'every kline would be hours off, and with others of UTC a run would see the future',
        advice: `if so, remove them (sluice data remove) and import again with --zone ${place}`,
        places: [{ time: first[0] }],
      },
    ];
  }

  #neverShown(zone: string): readonly Finding[] {
    const { count, places } = this.#never;
    if (count === 0) return [];
    const what = `rows of ${counted(count, 'hour')} that the clocks of ${zone} leave out in spring`;
    const advice = 'leave out --zone where they are of UTC, or name the place that they are of';
    return [{ check: 'zone', count, refused: true, what, effect: 'their times are not of there', advice, places }];
  }

  #shownTwice(zone: string): readonly Finding[] {
    if (this.#moved === 0) return [];
    const what = `${counted(this.#moved, 'row')} of hours that the clocks of ${zone} show twice`;
    const effect = 'taken for the second one, since they come after the first';
    return [{ check: 'assumed', count: 1, refused: false, what, effect, places: [] }];
  }
}
