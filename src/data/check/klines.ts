/** Checks of klines as they pass by, batch after batch, in the order of the file. */
import { type Interval, intervalMs } from '../../domain/interval.ts';
import { isPossible, isWick, mostTurnover } from '../price-jumps.ts';
import { type Frame, frameClose, frameOpen } from '../resample.ts';
import { contradictionAdvice, differencesText, gridAdvice } from './advice.ts';
import { counted, type Finding, quantityEffect, tooMuch } from './finding.ts';
import { isJump, Jumps, outlierFinding } from './outliers.ts';
import { type Gap, longestText } from './quiet-periods.ts';
import { SwappedColumns } from './swapped-columns.ts';
import { type Place, Runs, Tally } from './tally.ts';

/** Rows alike in all but their time that count as stuck. */
const leastStuck = 10;
const hourMs = 3_600_000;
/** Steps in a row that are all those of one larger interval: no market is quiet that regularly. */
const leastMixed = 20;
const largerSteps: ReadonlySet<number> = new Set([5, 15, 30, 60, 1_440, 10_080].map((minutes) => minutes * 60_000));

export class KlineChecks {
  readonly gaps: Gap[] = [];
  missing = 0;
  rows = 0;
  zeroVolume = 0;
  readonly #interval: Interval;
  readonly #frame: Frame;
  /** 0 for months, which differ, and in zones, whose days differ. */
  readonly #ms: number;
  readonly #outside = new Tally();
  readonly #impossible = new Tally();
  readonly #offGrid = new Tally();
  readonly #disorder = new Tally();
  readonly #duplicates = new Tally();
  /** Rows of the time of the one before that say something else. */
  readonly #contradictions = new Tally();
  readonly #opens = new Tally();
  readonly #jumps = new Jumps('close');
  readonly #wicks = new Tally();
  readonly #volumes = new Tally();
  readonly #swapped = new SwappedColumns();
  readonly #zone = new Tally();
  readonly #stuck = new Runs(leastStuck);
  readonly #quiet = new Runs(leastStuck);
  readonly #mixed = new Runs(leastMixed);
  #step = 0;
  #isPlaced = false;
  #firstZero: Place | undefined;
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
    const [times, opens, highs, lows, closes, volumes] = columns as readonly [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    this.#swapped.add(times, opens, closes, rows);
    for (let row = 0; row < rows; row++) {
      const line = lines === undefined ? 0 : (lines[row] as number);
      const time = times[row] as number;
      const open = opens[row] as number;
      const high = highs[row] as number;
      const low = lows[row] as number;
      const close = closes[row] as number;
      const volume = volumes[row] as number;
      if (!isPossible(open, high, low, close, volume)) this.#notePossible(line, time, [open, high, low, close, volume]);
      // Sources that open at the close before are near it; further away it is as wrong as any other price.
      if (open < low || open > high) {
        if (isWick(open, open, close, this.#high, this.#low)) this.#opens.add(line, time, `open ${open}`);
        else this.#outside.add(line, time);
      }
      if (volume * close >= mostTurnover) this.#volumes.add(line, time, `volume ${volume}`);
      if (volume === 0 && this.zeroVolume++ === 0) this.#firstZero = { ...(line > 0 && { line }), time };
      if (volume === 0 || this.#quiet.runs) this.#quiet.step(volume === 0, line, time);
      const alike =
        volume === this.#volume &&
        close === this.#close &&
        open === this.#open &&
        high === this.#high &&
        low === this.#low;
      // A step like the one before it, from a row in its place, is what nearly all of them are.
      if (time - this.#time !== this.#ms || this.#step !== this.#ms || !this.#isPlaced) {
        if (time === this.#time && !alike)
          this.#contradictions.add(line, time, this.#differences([open, high, low, close, volume]));
        this.#placeInTime(line, time);
      }
      const isStuck = alike && volume !== 0;
      if (isStuck || this.#stuck.runs) this.#stuck.step(isStuck, line, time);
      if (isJump(close, this.#close))
        this.#jumps.note(
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

  #notePossible(
    line: number,
    time: number,
    [open = 0, high = 0, low = 0, close = 0, volume = 0]: readonly number[],
  ): void {
    this.#impossible.add(line, time, `open ${open}, high ${high}, low ${low}, close ${close}, volume ${volume}`);
  }

  #placeInTime(line: number, time: number): void {
    // One step on from a row in its place is in its place: a remainder of doubles would cost more than the rest of this.
    const isNext = time - this.#time === this.#ms && this.#isPlaced;
    const offset = isNext ? 0 : this.#offsetOf(time);
    this.#isPlaced = offset === 0;
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
    else for (let at = from; at < to; at = frameClose(this.#frame, at)) this.missing++;
  }

  /** What there is to say, gravest first. To be asked once, at the end. */
  findings(): readonly Finding[] {
    this.#stuck.end();
    this.#quiet.end();
    this.#mixed.end();
    return [...this.#faults(), ...this.#jumps.scaleFinding(), ...this.#remarks()];
  }

  *#faults(): Generator<Finding> {
    const { rows } = this;
    if (this.#impossible.count > 0) {
      const many = `${counted(this.#impossible.count, 'impossible row')} of ${counted(rows, 'row')}`;
      yield fault(
        'impossible',
        this.#impossible,
        many,
        'no market can have made them',
        // Too many for single mistakes.
        this.#impossible.count > rows / 10
          ? 'correct the file, drop them (--repair impossible), or, where its columns are in another order, name these (--columns, or --format)'
          : 'correct the file, or drop them (--repair impossible)',
      );
    }
    if (this.#swapped.isSwapped)
      yield {
        ...{ check: 'swapped', count: rows, refused: true, places: [] },
        what: 'the open and close columns are swapped',
        effect: 'on average, closes are much nearer to the previous open than opens are to the previous close',
        advice: 'swap the two column names (--columns time,close,high,low,open,volume)',
      };
    if (this.#offGrid.count > 0)
      yield fault(
        'off-grid',
        this.#offGrid,
        `${counted(this.#offGrid.count, 'time')} at which no kline of ${this.#interval} opens`,
        'klines would be known before they close, or late',
        gridAdvice(this.#ms, this.#offGrid.count === rows, this.#oneOffset ? this.#offset : undefined),
      );
    yield* this.#mixedFinding();
    yield* this.#orderFaults();
  }

  *#orderFaults(): Generator<Finding> {
    if (this.#zone.count > 0)
      yield fault(
        'zone',
        this.#zone,
        `times go back by an hour ${counted(this.#zone.count, 'time')}`,
        'so do clocks in autumn: these are local times',
        'say of which place (--zone Europe/Berlin), or export them in UTC',
      );
    if (this.#disorder.count > 0)
      yield fault(
        'disorder',
        this.#disorder,
        `${counted(this.#disorder.count, 'row')} earlier than the row before`,
        'a run would see the future',
        'correct the file, or sort it (--repair sort; if parts overlap, --repair sort,duplicates)',
      );
    if (this.#contradictions.count > 0)
      yield fault(
        'duplicates',
        this.#contradictions,
        `${counted(this.#contradictions.count, 'row')} of the same time as the row before, with other values`,
        'nobody knows which is true',
        contradictionAdvice(this.#contradictions.places[0]?.time, this.#ms),
      );
    else if (this.#duplicates.count > 0)
      yield fault(
        'duplicates',
        this.#duplicates,
        `${counted(this.#duplicates.count, 'row')} of the same time as the row before`,
        'the same kline would be traded on twice',
        'correct the file, or drop what is repeated exactly (--repair duplicates)',
      );
  }

  *#mixedFinding(): Generator<Finding> {
    if (this.#mixed.rows > 0)
      yield {
        check: 'mixed',
        count: this.#mixed.rows,
        refused: true,
        what: `${counted(this.#mixed.rows, 'row')} one after the other that are more than ${this.#interval} apart, and all alike`,
        effect: 'klines of two intervals in one file would be taken for one',
        advice: 'cut the file up by interval',
        places: this.#mixed.first ? [this.#mixed.first] : [],
      };
  }

  *#remarks(): Generator<Finding> {
    const [firstGap] = this.gaps;
    if (firstGap !== undefined) {
      const missing = `${counted(this.gaps.length, 'gap')}, ${counted(this.missing, 'kline')} missing, ${longestText(this.gaps)}`;
      yield remark(
        'gaps',
        this.gaps.length,
        missing,
        'nothing is traded inside them, and strategies receive them as events',
        [{ time: firstGap[0] }],
      );
    }
    if (this.zeroVolume > 0) {
      const { rows, longest } = this.#quiet;
      const runs = rows === 0 ? '' : `, longest run ${longest}`;
      const what = `${counted(this.zeroVolume, 'kline')} without volume${runs}`;
      yield remark(
        'zero-volume',
        this.zeroVolume,
        what,
        'quiet minutes, or an outage that was filled: limit orders do not fill there',
        [...(this.#firstZero ? [this.#firstZero] : [])],
      );
    }
    const { count, places } = this.#outside;
    if (count > 0)
      yield remark(
        'opens-outside',
        count,
        `${counted(count, 'open')} outside [low, high]`,
        'the source opens at the close before',
        places,
      );
    if (this.#stuck.rows > 0)
      yield remark(
        'stuck',
        this.#stuck.rows,
        `${counted(this.#stuck.rows, 'kline')} that repeat the one before in price and volume, longest run ${this.#stuck.longest}`,
        'a feed that stood still: fills there did not happen',
        this.#stuck.first ? [this.#stuck.first] : [],
      );
    yield* outlierFinding('open', this.#opens);
    yield* outlierFinding('close', this.#jumps.outliers);
    if (this.#volumes.count > 0)
      yield remark(
        'volumes',
        this.#volumes.count,
        `${counted(this.#volumes.count, 'kline')} with a volume ${tooMuch}`,
        quantityEffect,
        this.#volumes.places,
      );
    if (this.#wicks.count > 0)
      yield remark(
        'wicks',
        this.#wicks.count,
        `${counted(this.#wicks.count, 'kline')} whose open, low or high is more than 20 % beyond its close and the kline before`,
        'a flash, or a wrong print: it sets off stops and fills limits',
        this.#wicks.places,
      );
  }
}

const fault = (
  check: Finding['check'],
  { count, places }: Tally,
  what: string,
  effect: string,
  advice: string,
): Finding => ({ check, count, refused: true, what, effect, advice, places });

const remark = (
  check: Finding['check'],
  count: number,
  what: string,
  effect: string,
  places: readonly Place[],
): Finding => ({ check, count, refused: false, what, effect, places });
