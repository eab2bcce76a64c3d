/** Checks of klines as they pass by, batch after batch, in the order of the file. */

import { type Interval, intervalMs } from '../../domain/interval.ts';
import { counted } from '../../domain/words.ts';
import { isPossible, isWick, maxTurnover } from '../price-jumps.ts';
import { type Frame, frameClose, frameOpen } from '../resample.ts';
import { klineColumns } from '../tape.ts';
import { changingPlace } from '../time-zones.ts';
import { type Finding, lengthText, quantityEffect, tooMuch } from './finding.ts';
import { type Gap, gapFindings } from './gaps.ts';
import { isJump, Jumps, outlierFinding } from './outliers.ts';
import { Runs, Tally } from './tally.ts';

/** Rows in a run that are alike in all but their time. */
const minStuck = 10;
const hourMs = 3_600_000;
/** Steps in a run that are those of one larger interval: no market is quiet that regularly. */
const minMixed = 20;
const largerSteps: ReadonlySet<number> = new Set([5, 15, 30, 60, 1_440, 10_080].map((minutes) => minutes * 60_000));

/** Of rows that no repair chooses between. */
export const otherValues = 'with other values';

export class KlineChecks {
  readonly gaps: Gap[] = [];
  missing = 0;
  rows = 0;
  readonly #interval: Interval;
  readonly #frame: Frame;
  /** 0 for months, which differ, and in zones, whose days differ. */
  readonly #ms: number;
  readonly #outside = new Tally();
  readonly #impossible = new Tally();
  readonly #offGrid = new Tally();
  readonly #disorder = new Tally();
  readonly #duplicates = new Tally();
  /** Rows with the time of the row before and other values. */
  readonly #contradictions = new Tally();
  readonly #opens = new Tally();
  readonly #jumps = new Jumps('close');
  readonly #wicks = new Tally();
  readonly #volumes = new Tally();
  readonly #swapped = new SwappedColumns();
  readonly #zone = new Tally();
  readonly #stuck = new Runs(minStuck);
  readonly #quiet = new Runs(minStuck);
  readonly #mixed = new Runs(minMixed);
  #step = 0;
  #isOnGrid = false;
  readonly #zeroVolume = new Tally();
  #offset = Number.NaN;
  #oneOffset = true;
  // Of the row before, and the close before that.
  #line = 0;
  #time = Number.NaN;
  #open = 0;
  #high = 0;
  #low = Number.POSITIVE_INFINITY;
  #close = 0;
  #closeBefore = 0;
  #volume = 0;

  constructor(interval: Interval, zone = 'UTC') {
    this.#interval = interval;
    this.#frame = { interval, zone };
    this.#ms = interval === '1month' || zone !== 'UTC' ? 0 : intervalMs(interval, 0);
  }

  add(columns: readonly Float64Array[], rows: number, lines?: Uint32Array): void {
    const {
      openTime: times,
      open: opens,
      high: highs,
      low: lows,
      close: closes,
      volume: volumes,
    } = klineColumns(columns);
    this.#swapped.add(times, opens, closes, rows);
    for (let row = 0; row < rows; row++) {
      const line = lines === undefined ? 0 : (lines[row] as number);
      const time = times[row] as number;
      const open = opens[row] as number;
      const high = highs[row] as number;
      const low = lows[row] as number;
      const close = closes[row] as number;
      const volume = volumes[row] as number;
      if (!isPossible(open, high, low, close, volume))
        this.#impossible.add(line, time, `open ${open}, high ${high}, low ${low}, close ${close}, volume ${volume}`);
      // Sources that open at the close before are near it; an open further away is a wrong price.
      if (open < low || open > high) {
        if (isWick(open, open, close, this.#high, this.#low)) this.#opens.add(line, time, `open ${open}`);
        else this.#outside.add(line, time);
      }
      if (volume * close >= maxTurnover) this.#volumes.add(line, time, `volume ${volume}`);
      if (volume === 0) this.#zeroVolume.add(line, time);
      if (volume === 0 || this.#quiet.isRunning) this.#quiet.step(volume === 0, line, time);
      const alike =
        volume === this.#volume &&
        close === this.#close &&
        open === this.#open &&
        high === this.#high &&
        low === this.#low;
      // Nearly all rows are one step behind a row on the grid that is one step behind another.
      if (time - this.#time !== this.#ms || this.#step !== this.#ms || !this.#isOnGrid) {
        if (time === this.#time && !alike)
          this.#contradictions.add(line, time, this.#differences([open, high, low, close, volume]));
        this.#checkTime(line, time);
      }
      const isStuck = alike && volume !== 0;
      if (isStuck || this.#stuck.isRunning) this.#stuck.step(isStuck, line, time);
      if (isJump(close, this.#close))
        this.#jumps.addJump(
          { line, time, price: close },
          { line: this.#line, time: this.#time, price: this.#close },
          this.#closeBefore,
        );
      if (isWick(high, low, close, this.#high, this.#low))
        this.#wicks.add(line, time, `open ${open}, high ${high}, low ${low}, close ${close}`);
      this.#closeBefore = this.#close;
      this.#line = line;
      this.#time = time;
      this.#open = open;
      this.#high = high;
      this.#low = low;
      this.#close = close;
      this.#volume = volume;
    }
    this.rows += rows;
  }

  #differences(row: readonly number[]): string {
    return differencesText(row, [this.#open, this.#high, this.#low, this.#close, this.#volume]);
  }

  #checkTime(line: number, time: number): void {
    // One step behind a row on the grid is on the grid: a remainder of doubles costs more than the rest of this.
    const isNext = time - this.#time === this.#ms && this.#isOnGrid;
    const offset = isNext ? 0 : this.#offsetOf(time);
    this.#isOnGrid = offset === 0;
    if (offset !== 0) {
      this.#offGrid.add(line, time);
      if (Number.isNaN(this.#offset)) this.#offset = offset;
      else if (offset !== this.#offset) this.#oneOffset = false;
    }
    const before = this.#time;
    if (Number.isNaN(before)) return;
    const step = time - before;
    this.#mixed.step(this.#ms > 0 && step > this.#ms && step === this.#step && largerSteps.has(step), line, time);
    this.#step = step;
    if (time < before) {
      this.#disorder.add(line, time);
      if (before - time === hourMs - this.#ms) this.#zone.add(line, time);
    } else if (time === before) this.#duplicates.add(line, time);
    else if (time - before !== this.#ms) this.#gap(before, time);
  }

  #offsetOf(time: number): number {
    return this.#ms > 0 && this.#interval !== '1week' ? time % this.#ms : time - frameOpen(this.#frame, time);
  }

  #gap(before: number, to: number): void {
    const from = frameClose(this.#frame, before);
    if (from >= to) return;
    this.gaps.push([from, to]);
    if (this.#ms > 0) this.missing += Math.round((to - from) / this.#ms);
    else for (let time = from; time < to; time = frameClose(this.#frame, time)) this.missing++;
  }

  /** The findings, gravest first; called once, at the end. */
  findings(): readonly Finding[] {
    for (const runs of [this.#stuck, this.#quiet, this.#mixed]) runs.end();
    return [...this.#faults(), ...this.#jumps.scaleFinding(), ...this.#warnings()];
  }

  *#faults(): Generator<Finding> {
    const { rows } = this;
    const [impossible, offGrid, mixed] = [this.#impossible, this.#offGrid, this.#mixed];
    yield* impossible.fault(
      'impossible',
      `${counted(impossible.count, 'impossible row')} of ${counted(rows, 'row')}`,
      'such klines are impossible',
      // Too many for single mistakes.
      impossible.count > rows / 10
        ? 'correct the file, drop these rows (--repair impossible), or, if the columns have another order, name them (--columns or --format)'
        : 'correct the file, or drop these rows (--repair impossible)',
    );
    if (this.#swapped.isSwapped)
      yield {
        ...{ check: 'swapped', count: rows, refused: true, places: [] },
        what: 'the open and close columns are swapped',
        effect: 'on average, closes are much nearer to the previous open than opens are to the previous close',
        advice: 'swap the two column names (--columns time,close,high,low,open,volume)',
      };
    yield* offGrid.fault(
      'off-grid',
      `${counted(offGrid.count, 'time')} at which no ${this.#interval} kline opens`,
      'a run would know klines too early or too late',
      gridAdvice(this.#ms, offGrid.count === rows, this.#oneOffset ? this.#offset : undefined),
    );
    yield* mixed.fault(
      'mixed',
      `${counted(mixed.count, 'row')} in a row at a larger, equal distance than ${this.#interval}`,
      'klines of two intervals would be read as one series',
      'split the file by interval',
    );
    yield* this.#orderFaults();
  }

  *#orderFaults(): Generator<Finding> {
    const [zone, disorder, duplicates, other] = [this.#zone, this.#disorder, this.#duplicates, this.#contradictions];
    yield* zone.fault(
      'zone',
      `times go back by an hour ${counted(zone.count, 'time')}`,
      'clocks do so in autumn: these are local times',
      'give the time zone (--zone Europe/Berlin), or export them in UTC',
    );
    yield* disorder.fault(
      'disorder',
      `${counted(disorder.count, 'row')} earlier than the row before`,
      'a run would see the future',
      'correct the file, or sort it (--repair sort; if parts overlap, --repair sort,duplicates)',
    );
    yield* other.fault(
      'duplicates',
      `${counted(other.count, 'row')} of the same time as the row before, ${otherValues}`,
      'nothing shows which one is correct',
      contradictionAdvice(other.places[0]?.time, this.#ms),
    );
    if (other.count > 0) return;
    yield* duplicates.fault(
      'duplicates',
      `${counted(duplicates.count, 'row')} of the same time as the row before`,
      'a strategy would see the same kline twice',
      'correct the file, or drop exact duplicates (--repair duplicates)',
    );
  }

  *#warnings(): Generator<Finding> {
    const [zero, quiet, outside, stuck] = [this.#zeroVolume, this.#quiet, this.#outside, this.#stuck];
    const missing = `, ${counted(this.missing, 'kline')} missing`;
    yield* gapFindings(this.gaps, 'nothing is traded inside them, and strategies receive them as events', missing);
    yield* zero.warning(
      'zero-volume',
      `${counted(zero.count, 'kline')} without volume${quiet.count === 0 ? '' : `, longest run ${quiet.longest}`}`,
      'quiet minutes, or an outage that was filled: limit orders do not fill there',
    );
    yield* outside.warning(
      'opens-outside',
      `${counted(outside.count, 'open')} outside [low, high]`,
      'the source opens at the close before',
    );
    yield* stuck.warning(
      'stuck',
      `${counted(stuck.count, 'kline')} that repeat the one before in price and volume, longest run ${stuck.longest}`,
      'the feed was stuck: fills there are not real',
    );
    yield* outlierFinding('open', this.#opens);
    yield* outlierFinding('close', this.#jumps.outliers);
    yield* this.#volumes.warning(
      'volumes',
      `${counted(this.#volumes.count, 'kline')} with a volume ${tooMuch}`,
      quantityEffect,
    );
    yield* this.#wicks.warning(
      'wicks',
      `${counted(this.#wicks.count, 'kline')} whose open, low or high is more than 20 % beyond its close and the kline before`,
      'a flash crash or a wrong print: it triggers stops and fills limit orders',
    );
  }
}

/** Fewer pairs of rows prove nothing. */
const minPairs = 50;
/** More pairs change nothing. */
const maxPairs = 10_000;
/** How many times nearer closes must be to the previous open than opens to the previous close. Recorded rows reach 1.02 at most. */
const surelyNearer = 2;

/** Detects swapped open and close columns: a kline opens near the close before it. Takes klines in the order of time. */
export class SwappedColumns {
  #pairs = 0;
  #wide = 0;
  #near = 0;
  #time = Number.NaN;
  #open = Number.NaN;
  #close = Number.NaN;

  add(times: Float64Array, opens: Float64Array, closes: Float64Array, rows: number): void {
    for (let row = 0; row < rows && this.#pairs < maxPairs; row++)
      this.#next(times[row] as number, opens[row] as number, closes[row] as number);
  }

  #next(time: number, open: number, close: number): void {
    const [one, other] = [Math.abs(open - this.#close), Math.abs(close - this.#open)];
    const [step, swapped] = time < this.#time ? [other, one] : [one, other];
    this.#time = time;
    this.#open = open;
    this.#close = close;
    if (Number.isNaN(step + swapped)) return;
    this.#pairs++;
    this.#wide += step;
    this.#near += swapped;
  }

  get isSwapped(): boolean {
    return this.#pairs >= minPairs && this.#wide > surelyNearer * this.#near;
  }
}

const quarterMs = hourMs / 4;

/** For klines `lengthMs` long of which some, or all, are off their grid by `offsetMs`, undefined where it differs. */
function gridAdvice(lengthMs: number, isAll: boolean, offsetMs: number | undefined): string {
  if (!isAll)
    return 'correct these times; if they are of a smaller interval, split the file, or give that interval (--interval)';
  if (offsetMs === undefined) return 'give their interval (--interval)';
  if (lengthMs - offsetMs <= 1_000) return 'these are closing times: use --stamps close';
  const late = `each is ${lengthText(offsetMs)} late`;
  const hours = (lengthMs - offsetMs) / hourMs;
  return offsetMs % quarterMs === 0 && hours <= 14
    ? `${late}: days of another time zone (UTC+${hours}); fetch days of UTC or smaller klines`
    : `${late}: not opening times, but perhaps those of the last trades; fetch them with opening times`;
}

/** For two different klines of one time, UTC ms or local. */
function contradictionAdvice(time: number | undefined, lengthMs: number): string {
  const place = time === undefined || lengthMs !== hourMs ? undefined : changingPlace(time, 'back');
  const edit = 'remove the wrong line from the file';
  return place === undefined
    ? `${edit}; no repair chooses between them`
    : `in ${place} this hour occurs twice in autumn: if these are local times, give the time zone (--zone ${place}), or export them in UTC; otherwise ${edit}`;
}

const names = ['open', 'high', 'low', 'close', 'volume'];

const differencesText = (row: readonly number[], before: readonly number[]): string =>
  row
    .flatMap((value, at) =>
      value === before[at] ? [] : [`${names[at] ?? ''} ${value}, in the row before it ${before[at]}`],
    )
    .join('; ');
