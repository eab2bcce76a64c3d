/** Rows whose times are those of a place's clocks: the hour that these show twice in autumn, and the one that they leave out in spring. */
import { intervalMs } from '../../domain/interval.ts';
import type { SeriesKey } from '../catalogue/kinds.ts';
import { counted, type Finding } from '../check/finding.ts';
import type { Gap } from '../check/quiet-periods.ts';
import { Tally } from '../check/tally.ts';
import { changingPlace, isPutForward, isShownTwice } from '../time-zones.ts';
import type { Told } from './layout.ts';

const hourMs = 3_600_000;

export class Clocks {
  /** Of klines of an hour or less in local times, 0 of trades; undefined of others, of which none is moved. */
  readonly #lengthMs: number | undefined;
  readonly #zone: string | undefined;
  #before = Number.NaN;
  #isSecond = false;
  #last: readonly number[] = [];
  #moved = 0;
  /** Rows of hours that are shown twice of which no order of rows tells which one it is; those of the hour that goes on, and its first. */
  readonly #either = new Tally();
  /** Where trades of no place go back as clocks do. */
  readonly #back = new Tally();
  #open = 0;
  #opened = Number.NaN;
  /** Moments from which on rows of an hour that these clocks never show go before. */
  readonly #never = new Tally();

  constructor(
    { isLocal = false }: { readonly isLocal?: boolean | undefined },
    { kind, interval }: SeriesKey,
    { zone }: Told,
  ) {
    const lengthMs = kind === 'trades' ? 0 : interval === undefined ? Number.NaN : intervalMs(interval, 0);
    this.#lengthMs = isLocal && lengthMs <= hourMs ? lengthMs : undefined;
    this.#zone = zone;
  }

  /**
   * An hour that the clocks show twice is read as the first of the two: rows that go back to its beginning when it is over, in a file
   * in order, are those of the second.
   */
  settle(columns: readonly Float64Array[], rows: number): void {
    if (this.#lengthMs === undefined) return;
    const times = columns[0] as Float64Array;
    if (this.#zone === undefined) {
      // Klines that go back are looked at by the checks.
      if (this.#lengthMs === 0) this.#noteBack(times, rows);
      return;
    }
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      this.#isSecond = time <= this.#before && this.#isOfSecond(time, columns, row);
      const backMs = this.#before - time;
      if (backMs >= 0 && backMs < hourMs && isPutForward(this.#zone, time)) this.#never.add(0, time);
      this.#before = this.#isSecond ? time + hourMs : time;
      times[row] = this.#before;
      if (this.#isSecond) this.#moved++;
      this.#noteEither(time);
    }
    if (rows > 0) this.#last = columns.map((column) => column[rows - 1] as number);
  }

  #noteBack(times: Float64Array, rows: number): void {
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      const backMs = this.#before - time;
      if (backMs > hourMs / 2 && backMs <= hourMs && changingPlace(time, 'back') !== undefined) this.#back.add(0, time);
      this.#before = time;
    }
  }

  /** Rows of the second hour tell that those before were of the first. */
  #noteEither(time: number): void {
    if (this.#isSecond) this.#open = 0;
    else if (isShownTwice(this.#zone ?? 'UTC', time)) {
      if (this.#open === 0) this.#opened = time;
      this.#open++;
    } else this.#endEither();
  }

  #endEither(): void {
    if (this.#open > 0) this.#either.add(0, this.#opened);
    this.#open = 0;
  }

  #isOfSecond(time: number, columns: readonly Float64Array[], row: number): boolean {
    const lengthMs = this.#lengthMs ?? 0;
    const step = time + hourMs - this.#before;
    // Rows in disorder go back by less than that: where the first hour had hardly begun, nobody knows.
    // Trades may be a moment out of order: those of the second hour stay there, for a repair to sort.
    const backMs = lengthMs === 0 ? hourMs / 2 : 0;
    if (this.#isSecond ? step < -backMs : step <= 0 || step > Math.max(lengthMs, hourMs / 2)) return false;
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
    if (this.#zone !== undefined)
      return [...this.#neverShown(this.#zone), ...this.#shownTwice(this.#zone), ...this.#eitherHour(this.#zone)];
    if (this.#back.count > 0) return [this.#wentBack()];
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

  #wentBack(): Finding {
    const { count, places } = this.#back;
    const place = changingPlace(places[0]?.time ?? 0, 'back');
    return {
      check: 'zone',
      count,
      refused: true,
      what: `times go back by an hour ${counted(count, 'time')}, as clocks of ${place} do in autumn: these look like local times`,
      effect: 'sorted as times of UTC, two hours would be mixed, and all are hours off',
      advice: `say of which place (--zone ${place}), or export them in UTC`,
      places,
    };
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
  #eitherHour(zone: string): readonly Finding[] {
    this.#endEither();
    const { count, places } = this.#either;
    if (count === 0) return [];
    const what = `rows of ${counted(count, 'hour')} that the clocks of ${zone} show twice, and the order of rows does not show which one`;
    const effect = 'taken for the first one: those of the second are an hour early';
    const advice = 'where you know it, import them in UTC, or with their zone';
    return [{ check: 'zone', count, refused: false, what, effect, advice, places }];
  }
}
