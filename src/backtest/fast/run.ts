/**
 * The fast engine: the most frequent runs over klines, calculated in safe integers. It supports one strategy on one spot symbol whose MARKET
 * orders reach targets of a fixed quantity (`supported.ts`). It gives the digits of plan, rules, account and fill engine, a tenth of the time.
 *
 * It denies nothing. Where a limit may be exceeded, funds may not suffice, a signal has an exit or a number is no longer safe, it stops as
 * `unsupported`, and the engine over klines makes the run with the answers that the strategy gave so far.
 */
import { rowAt } from '../../data/klines.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { closeTime, intervalMs } from '../../domain/interval.ts';
import { noUnits, plus, rateNumber, safeLotsOf, safeTicksOf } from '../../domain/money.ts';
import type { Signal } from '../../domain/order.ts';
import { safe, safeFee, safeNotional } from '../../domain/safe-integers.ts';
import { isPlain } from '../../portfolio/protection.ts';
import { checkedOf } from '../../strategy/validate.ts';
import { KlineCursor } from '../engine/klines/kline-cursor.ts';
import { firstEvent } from '../engine/klines/levels.ts';
import { type StrategyAnswers, StrategyCursor } from '../engine/klines/strategy-cursor.ts';
import { type BacktestEngine, idleCash, type RunInput, type RunResult } from '../run.ts';
import { FastLog } from './log.ts';
import { FastPosition } from './position.ts';
import { fastRunOf, type Supported } from './supported.ts';

/** The engine at its first row; undefined where it does not support the run. */
export function fastRun(input: RunInput): FastRun | undefined {
  const supported = fastRunOf(input);
  return supported === undefined ? undefined : new FastRun(input, supported);
}

class FastRun implements BacktestEngine {
  readonly #input: RunInput;
  readonly #supported: Supported;
  readonly #at: Instrument;
  readonly #cursor: KlineCursor;
  readonly #books: FastPosition;
  readonly #strategyCursor: StrategyCursor;
  readonly #log: FastLog;
  /** The rows at which it said something else, and what. */
  readonly #saidAt: number[] = [];
  readonly #said: Signal[] = [];
  readonly #feeOf: (amount: number) => number;
  readonly #mostFeeOf: (amount: number) => number;
  readonly #lengthMs: number;
  /** The share of a day's equity that has to be left. */
  readonly #keeps: number;
  /** The next row; those before it are done. */
  row: number;
  /** Signed lots that fill at the next open. */
  #ordered = 0;
  /** When the UTC day ends, and the first row that may close after it. */
  #dayEndsAt = Number.NEGATIVE_INFINITY;
  #dayEndRow = 0;
  /** When row 0 would have opened if no kline were missing up to the end of this day; NaN where one is missing within the day. */
  #firstAt = Number.NaN;
  /** The equity is `fixed` + `held` × price; at or below `least` the limit of the daily loss is too near. */
  readonly #line = { fixed: 0, held: 0, least: Number.NEGATIVE_INFINITY };

  constructor(input: RunInput, supported: Supported) {
    const { series, hosted, scale, at } = supported;
    this.#input = input;
    this.#supported = supported;
    this.#at = at;
    this.#cursor = new KlineCursor(series);
    this.#books = new FastPosition(supported.allocation, at, scale, this.#cursor);
    this.#strategyCursor = new StrategyCursor(hosted, series, this.#cursor, this.#books);
    this.#log = new FastLog(hosted, at, scale);
    this.#feeOf = safeFee(supported.taker, scale);
    this.#mostFeeOf = safeFee(supported.most, scale);
    this.#lengthMs = intervalMs(series.interval, 0);
    this.#keeps = 1 - rateNumber(input.limits.maxDailyLoss);
    // Nothing happens before the strategy may decide.
    this.row = Math.min(this.#strategyCursor.from, series.end);
    this.#reckon();
  }

  /** Goes on for so many klines: whether there are more, or nothing of it counts since it cannot go on. */
  advance(klines: number): 'more' | 'done' | 'unsupported' {
    const { series } = this.#supported;
    const { close } = series.columns;
    const end = Math.min(this.row + klines, series.end);
    const strategyCursor = this.#strategyCursor;
    const line = this.#line;
    while (this.row < end) {
      const row = this.row++;
      this.#cursor.row = row;
      if (this.#ordered !== 0 && !this.#fill(row)) return 'unsupported';
      if (row >= this.#dayEndRow) this.#beginDay(row);
      if (line.fixed + line.held * (close[row] as number) <= line.least) return 'unsupported';
      const signal = strategyCursor.decide();
      if (!strategyCursor.rests(signal) && !this.#signal(row, signal as Signal)) return 'unsupported';
      if (this.#ordered === 0 && strategyCursor.quiet) this.#passOver(Math.min(end, this.#dayEndRow));
    }
    return this.row < series.end ? 'more' : 'done';
  }

  /** Goes on over rows at which the strategy says nothing new and the equity stays above its limit. */
  #passOver(to: number): void {
    const { fixed, held, least } = this.#line;
    const below = held === 0 ? Number.NEGATIVE_INFINITY : (least - fixed) / held;
    const levels = { below, above: Number.POSITIVE_INFINITY, trails: [] };
    const { columns } = this.#supported.series;
    this.row = firstEvent(columns, [this.#strategyCursor], levels, { from: this.row, to }).row;
  }

  /** What the strategy said up to where the run could not go on. */
  get answers(): StrategyAnswers {
    return this.#strategyCursor.answersTo(
      this.row - 1,
      new Map(this.#saidAt.map((row, index) => [row, this.#said[index] as Signal])),
    );
  }

  /** Takes a signal that differs from the last, and orders what reaches it. */
  #signal(row: number, said: Signal): boolean {
    const signal = checkedOf(said, this.#supported.hosted, this.#opensAt(row));
    this.#saidAt.push(row);
    this.#said.push(signal);
    if (signal.kind !== 'target' || signal.limit !== undefined || !isPlain(signal) || !('quantity' in signal.size))
      return false;
    const { quantity } = signal.size;
    // Spot cannot be short, and less than a lot is denied: the other engine knows how.
    if (quantity < 0) return false;
    const targetLots = safe(safeLotsOf(quantity, this.#at));
    if (targetLots === 0 && quantity > 0) return false;
    const at = closeTime(this.#supported.series.interval, this.#opensAt(row));
    this.#strategyCursor.lastSignal = signal;
    this.#strategyCursor.quiet = true;
    this.#log.signal(at, signal, targetLots);
    const lots = targetLots - this.#books.lots;
    if (lots === 0) return true;
    if (!(lots > 0 ? this.#mayBuy(row, lots) : this.#maySell(row, -lots))) return false;
    this.#ordered = lots;
    this.#log.order(at, lots);
    return true;
  }

  /** Only the whole of what is held: a part of it has a part of its cost, which need not be whole. */
  #maySell(row: number, lots: number): boolean {
    return lots === this.#books.lots && this.#isLarge(row, lots);
  }

  /** True when no limit, nor what was allotted, stands against a purchase at the last price. */
  #mayBuy(row: number, lots: number): boolean {
    const { scale, series, maxOrderValue, maxPosition, allocation } = this.#supported;
    const last = safeTicksOf(series.columns.close[row] as number, this.#at, 'up');
    const value = safeNotional(last, lots, scale);
    return (
      this.#isLarge(row, lots) &&
      value <= maxOrderValue &&
      safeNotional(last, this.#books.lots + lots, scale) <= maxPosition &&
      value <= allocation + this.#books.free
    );
  }

  /** Beyond the exchange's minima, within which a plan does nothing. */
  #isLarge(row: number, lots: number): boolean {
    const { scale, series, minLots, minNotional } = this.#supported;
    const last = safeTicksOf(series.columns.close[row] as number, this.#at, 'down');
    return lots >= minLots && safeNotional(last, lots, scale) > minNotional;
  }

  /** Fills what is ordered at the row's open; false when the money does not suffice or is no longer exact. */
  #fill(row: number): boolean {
    const { series, scale, cash } = this.#supported;
    const lots = this.#ordered;
    const price = safeTicksOf(series.columns.open[row] as number, this.#at, lots > 0 ? 'up' : 'down');
    const value = safeNotional(price, Math.abs(lots), scale);
    const fee = this.#feeOf(value);
    if (lots > 0 && !(value + this.#mostFeeOf(value) <= cash + this.#books.free)) return false;
    this.#ordered = 0;
    this.#log.fill(this.#opensAt(row), row, price, fee);
    const isExact = this.#books.book(lots, value, fee);
    this.#reckon();
    return isExact;
  }

  /** When a row opened, UTC ms: reading another column costs more than the rest of a fill. */
  #opensAt(row: number): number {
    const at = row < this.#dayEndRow ? this.#firstAt + row * this.#lengthMs : Number.NaN;
    return Number.isNaN(at) ? (this.#supported.series.columns.openTime[row] as number) : at;
  }

  /** At the first close of a UTC day the loss is counted anew. */
  #beginDay(row: number): void {
    const { interval, columns, end } = this.#supported.series;
    const opensAt = columns.openTime[row] as number;
    const closesAt = closeTime(interval, opensAt);
    if (closesAt < this.#dayEndsAt) return;
    this.#dayEndsAt = Math.floor(closesAt / dayMs) * dayMs + dayMs;
    this.#dayEndRow = Math.min(end, this.#rowAt(row, this.#dayEndsAt - this.#lengthMs));
    const last = this.#dayEndRow - 1;
    const isSteady = (columns.openTime[last] as number) - opensAt === (last - row) * this.#lengthMs;
    this.#firstAt = isSteady ? opensAt - row * this.#lengthMs : Number.NaN;
    const start = this.#line.fixed + this.#line.held * (columns.close[row] as number);
    // Far wider than the rounding of a sum: what is nearer needs exact amounts.
    this.#line.least = start * this.#keeps + Math.abs(start) * 1e-8;
  }

  /** The first row that opens at `time` or later, beyond `row`: mostly where it is if no kline is missing between. */
  #rowAt(row: number, time: number): number {
    const { openTime } = this.#supported.series.columns;
    const guess = row + Math.ceil((time - (openTime[row] as number)) / this.#lengthMs);
    const isThere = (openTime[guess - 1] as number) < time && time <= (openTime[guess] as number);
    return isThere ? guess : rowAt(openTime, time);
  }

  #reckon(): void {
    this.#line.fixed = this.#books.fixed;
    this.#line.held = this.#books.quantity;
  }

  get done(): number {
    return this.row - this.#supported.series.first;
  }

  /** The last row that is done. */
  get #last(): number {
    return Math.max(this.row, this.#supported.series.first + 1) - 1;
  }

  /** The last close of the klines that are done, UTC ms. */
  get closedAt(): number {
    const { interval, columns } = this.#supported.series;
    return closeTime(interval, columns.openTime[this.#last] as number);
  }

  /** What the klines that are done came to; `endedAt` where it ended before its time. */
  result(endedAt?: number): RunResult {
    const [log, { closedAt }] = [this.#log, this];
    const price = safeTicksOf(this.#supported.series.columns.close[this.#last] as number, this.#at, 'down');
    return {
      get fills() {
        return log.fills;
      },
      table: () => log.table(),
      fillAt: (index) => log.fillAt(index),
      asked: () => log.asked(),
      kills: [],
      finalEquity: plus(this.#books.equityAt(price), idleCash(this.#input)),
      couldBeBetterBy: noUnits,
      couldBeWorseBy: noUnits,
      ambiguousKlines: 0,
      ...(endedAt !== undefined && { endedAt }),
      journal: () => log.journal(closedAt),
    };
  }
}

const dayMs = 86_400_000;
