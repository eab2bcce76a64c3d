/** Checks of public trades as they pass by. */
import { counted } from '../../domain/words.ts';
import { maxPrice, maxTurnover } from '../price-jumps.ts';
import { tradeColumns } from '../tape.ts';
import { type Finding, quantityEffect, tooMuch } from './finding.ts';
import { type Gap, gapFindings, minGap, shortestGapMs } from './gaps.ts';
import { Jumps, outlierFinding } from './outliers.ts';
import { Tally } from './tally.ts';

/** Silences that are kept until the end; where there are more, they are too short to matter. */
const maxSilences = 100_000;
const minRowsOneSided = 100;

export class TradeChecks {
  rows = 0;
  readonly #silences: Gap[] = [];
  readonly #disorder = new Tally();
  readonly #impossible = new Tally();
  readonly #jumps = new Jumps('price');
  readonly #volumes = new Tally();
  readonly #identical = new Tally();
  readonly #twice = new Tally();
  #buys = 0;
  #first = Number.NaN;
  #time = Number.NaN;
  /** The trades of the current moment. */
  readonly #moment = new Map<number, number>();
  #keys: number[] = [];
  #momentLine = 0;
  /** The stretch of moments in which every trade came twice, so far. */
  #doubled = { moments: 0, different: 0, trades: 0 };

  add(columns: readonly Float64Array[], rows: number, lines?: Uint32Array): void {
    const { time: times, price: prices, quantity: quantities, side: sides } = tradeColumns(columns);
    for (let row = 0; row < rows; row++) {
      const line = lines === undefined ? 0 : (lines[row] as number);
      const [time, price, quantity] = [times[row] as number, prices[row] as number, quantities[row] as number];
      if (!(price > 0 && quantity > 0 && price < maxPrice && quantity < 1e300))
        this.#impossible.add(line, time, `price ${price}, quantity ${quantity}`);
      else if (price * quantity >= maxTurnover) this.#volumes.add(line, time, `quantity ${quantity}`);
      if (sides[row] === 1) this.#buys++;
      if (time !== this.#time) this.#nextMoment(line, time);
      this.#jumps.add({ line, time, price });
      // One number for price, quantity and side: different trades hardly ever have the same.
      const key = (price * 1e6 + quantity * Math.PI) * (sides[row] as number);
      const before = this.#moment.get(key) ?? 0;
      if (before > 0) this.#identical.add(line, time);
      this.#moment.set(key, before + 1);
      this.#keys.push(key);
    }
    this.rows += rows;
  }

  #nextMoment(line: number, time: number): void {
    if (time < this.#time) this.#disorder.add(line, time);
    else if (time - this.#time >= shortestGapMs.trades && this.#silences.length < maxSilences)
      this.#silences.push([this.#time, time]);
    this.#endMoment();
    if (Number.isNaN(this.#first)) this.#first = time;
    this.#time = time;
    this.#momentLine = line;
  }

  #endMoment(): void {
    const trades = this.#keys.length;
    let even = trades > 1;
    if (even) for (const count of this.#moment.values()) even &&= count % 2 === 0;
    const block = repeatedBlock(this.#keys);
    if (even && block === undefined) {
      this.#doubled.moments++;
      this.#doubled.different += this.#moment.size;
      this.#doubled.trades += trades / 2;
    } else this.#endStretch();
    if (block !== undefined) this.#twice.add(this.#momentLine, this.#time, `${block.length} trades`);
    if (trades > 0) this.#moment.clear();
    if (trades > 0) this.#keys = [];
  }

  #endStretch(): void {
    const { moments, different, trades } = this.#doubled;
    if (moments === 0) return;
    if (moments >= minMoments && different >= minDifferent)
      this.#twice.add(this.#momentLine, this.#time, `${trades} trades`);
    this.#doubled = { moments: 0, different: 0, trades: 0 };
  }

  /** Silences that are too long for how busy this market is. */
  get gaps(): readonly Gap[] {
    const min = minGap('trades', this.#time - this.#first, this.rows);
    return this.#silences.filter(([from, to]) => to - from >= min);
  }

  findings(): readonly Finding[] {
    this.#endMoment();
    this.#endStretch();
    return [
      ...this.#impossible.fault(
        'impossible',
        counted(this.#impossible.count, 'impossible trade'),
        'prices and quantities are above 0',
        'correct the file, or drop these rows (--repair impossible)',
      ),
      ...this.#disorder.fault(
        'disorder',
        `${counted(this.#disorder.count, 'trade')} earlier than the one before`,
        'a run would see the future',
        'correct the file, or sort it (--repair sort)',
      ),
      ...this.#jumps.scaleFinding(false),
      ...gapFindings(this.gaps, 'unusually long for this market: no orders fill inside them'),
      ...this.#sideFinding(),
      ...this.#identical.warning(
        'identical',
        `${counted(this.#identical.count, 'trade')} identical to another of the same time`,
        'may be real: kept',
      ),
      ...this.#twice.warning(
        'delivered-twice',
        `${counted(this.#twice.count, 'stretch', 'stretches')} of repeated trades`,
        'volume counts double there, as after a reconnect',
        'drop the repetition (--repair duplicates; add --replace if it is stored)',
      ),
      ...this.#volumes.warning('volumes', `${counted(this.#volumes.count, 'trade')} ${tooMuch}`, quantityEffect),
      ...outlierFinding('price', this.#jumps.outliers),
    ];
  }

  #sideFinding(): readonly Finding[] {
    const { rows } = this;
    if (rows < minRowsOneSided || (this.#buys > 0 && this.#buys < rows)) return [];
    const side = this.#buys === 0 ? 'SELL' : 'BUY';
    const effect =
      'the side in the source is wrong: resting orders of one side would never fill, those of the other too often';
    return [{ check: 'one-sided', count: rows, refused: false, what: `every trade is a ${side}`, effect, places: [] }];
  }
}

// Sources deliver trades twice, as after a reconnect. Single equal trades are usual and prove nothing.
/** Different trades that a stretch of moments must repeat. */
export const minDifferent = 10;
/** Different trades that a block must repeat: the same ones in the same order are less likely by chance. Of recorded ones that are real it is two. */
const minInBlock = 5;
/** Moments in a row in which every trade comes twice. */
export const minMoments = 5;
/** A moment of more trades than this is not searched: that takes the square of their number. */
const maxSearched = 4_000;

/** The longest block of trades of one moment that repeats an earlier one of it, whole and in the same order. */
export function repeatedBlock(
  keys: readonly (number | string)[],
): { readonly from: number; readonly length: number } | undefined {
  const count = keys.length;
  if (count < 2 * minInBlock || count > maxSearched) return undefined;
  let best = { from: 0, length: 0 };
  let before = new Uint16Array(count + 1);
  let now = new Uint16Array(count + 1);
  for (let row = 1; row < count; row++) {
    for (let other = 0; other < row; other++) {
      const length = keys[row] === keys[other] ? Math.min((before[other] as number) + 1, row - other) : 0;
      now[other + 1] = length;
      if (length > best.length) best = { from: row - length + 1, length };
    }
    [before, now] = [now, before];
  }
  const different = new Set(keys.slice(best.from, best.from + best.length)).size;
  return different >= minInBlock ? best : undefined;
}
