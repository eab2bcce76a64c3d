/**
 * The fast engine: the most frequent runs over klines, calculated in safe integers. It supports one strategy on one spot symbol whose MARKET
 * orders reach its targets, with stops, trailing stops and time exits (`supported.ts`), and gives the digits of the engine over klines.
 * It denies nothing but orders that are too small. Where a limit may be exceeded, funds may not suffice, a signal asks for a resting order, a
 * part of a position is sold or a number is no longer safe, it stops as `unsupported`. The engine over klines then makes the run.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { closeTime } from '../../domain/interval.ts';
import { type Columns, mapColumns, rowAt } from '../../domain/market.ts';
import {
  baseUnits,
  lotsOfSafe,
  noLots,
  noRate,
  noUnits,
  plus,
  priceNumber,
  rateNumber,
  safe,
  safeLotsOf,
  safeSteps,
  safeTicksOf,
} from '../../domain/money.ts';
import { mainRole, type Purpose, type Signal, sameSize, sizeValue, type Target } from '../../domain/order.ts';
import { arrivalEvidence, isLate, lastMs } from '../../fill/order-arrival.ts';
import { isGapped, stopHit } from '../../fill/stops.ts';
import { noOverride, type ProtectionOverride } from '../../portfolio/plan.ts';
import { isPlain, Protection } from '../../portfolio/protection.ts';
import { sizeInLots } from '../../portfolio/target-size.ts';
import { targetTooSmall } from '../../portfolio/too-small.ts';
import { checkedOf } from '../../strategy/signals.ts';
import { KlineCursor } from '../engine/klines/kline-cursor.ts';
import { firstEvent, trailOver } from '../engine/klines/levels.ts';
import { KlineLog } from '../engine/klines/log.ts';
import { followPrices, hasOnlyPrices } from '../engine/klines/moved-prices.ts';
import { type StrategyAnswers, StrategyCursor } from '../engine/klines/strategy-cursor.ts';
import { UtcDays } from '../engine/klines/utc-days.ts';
import { stopReason } from '../engine/phases.ts';
import { type BacktestEngine, idleCash, planTerms, type RunInput, type RunResult } from '../run.ts';
import { type FastOrder, FastOrders, FastPosition } from './account.ts';
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
  readonly #position: FastPosition;
  readonly #protection: Protection;
  readonly #strategyCursor: StrategyCursor;
  readonly #strategyCursors: readonly StrategyCursor[];
  /** The limit of the daily loss is looked at with each close. */
  readonly #closes: Columns;
  readonly #log = new KlineLog();
  readonly #sizing: ReturnType<typeof planTerms>['sizing'];
  readonly #orders: FastOrders;
  readonly #days: UtcDays;
  /** The share of a day's equity that has to be left. */
  readonly #keeps: number;
  /** The next row; those before it are done. */
  row: number;
  /** The standing target and its size in lots. */
  #target: Target | undefined;
  #targetLots = 0;
  #targetSize = noLots;
  /** The target has to be planned: it is another, or a fill came. */
  #isOpen = false;
  /** A target has something that protects. */
  #isGuarded = false;
  /** What is missing to the target was too little for an order: it is planned again with each signal. */
  #isOff = false;
  /** An entry was reported as too small. */
  #isReported = false;
  /** The equity is `fixed` + `held` × price; at or below `least` the limit of the daily loss is too near. */
  readonly #line = { fixed: 0, held: 0, least: Number.NEGATIVE_INFINITY };

  constructor(input: RunInput, supported: Supported) {
    const { series, hosted, at } = supported;
    this.#input = input;
    this.#supported = supported;
    this.#at = at;
    this.#cursor = new KlineCursor(series);
    this.#position = new FastPosition(supported, this.#cursor);
    this.#protection = new Protection({ subAccount: () => this.#position }, () => {});
    this.#strategyCursor = new StrategyCursor(hosted, series, this.#cursor, this.#position);
    this.#strategyCursors = [this.#strategyCursor];
    this.#closes = mapColumns(series.columns, () => series.columns.close);
    this.#sizing = planTerms(input).sizing;
    this.#orders = new FastOrders(supported, this.#position, this.#log);
    this.#days = new UtcDays(series);
    this.#keeps = 1 - rateNumber(input.limits.maxDailyLoss);
    // Nothing happens before the strategy may decide.
    this.row = Math.min(this.#strategyCursor.from, series.end);
    this.#line.fixed = this.#position.fixed;
  }

  /** Goes on for so many klines: whether there are more, or nothing of it counts since it cannot go on. */
  advance(klines: number): 'more' | 'done' | 'unsupported' {
    const { series, hosted } = this.#supported;
    const { close } = series.columns;
    const end = Math.min(this.row + klines, series.end);
    const [strategyCursor, line, orders] = [this.#strategyCursor, this.#line, this.#orders];
    while (this.row < end) {
      const row = this.row++;
      this.#cursor.row = row;
      if (orders.waiting !== undefined && !this.#fill(row, orders.waiting)) return 'unsupported';
      if (this.#isGuarded && this.#position.lots > 0 && !this.#meetStops(row)) return 'unsupported';
      if (row >= this.#days.endRow) this.#beginDay(row);
      if (line.fixed + line.held * (close[row] as number) <= line.least) return 'unsupported';
      if (this.#isGuarded && !this.#exitOverdue(row)) return 'unsupported';
      const signal = strategyCursor.decide();
      if (!strategyCursor.rests(signal)) {
        if (!this.#signal(row, signal as Signal)) return 'unsupported';
        this.#followPrices(end);
        continue;
      }
      // A signal that repeats the last one may have another reason.
      if (this.#isOpen && signal !== undefined)
        this.#target = checkedOf(signal, hosted, this.#days.opensAt(row)) as Target;
      if (this.#isOpen && !this.#plan(row)) return 'unsupported';
      if (orders.waiting === undefined) this.#passOver(Math.min(end, this.#days.endRow, this.#dueRow()));
    }
    return this.row < series.end ? 'more' : 'done';
  }

  /** Goes on over rows at which the strategy says nothing new, no stop is reached and the equity stays above its limit. */
  #passOver(to: number): void {
    const { symbol, columns } = this.#supported.series;
    const { fixed, held, least } = this.#line;
    const below = held === 0 ? Number.NEGATIVE_INFINITY : (least - fixed) / held;
    const from = this.row;
    if (held === 0 || !this.#isGuarded) {
      const levels = { below, above: Number.POSITIVE_INFINITY, trails: noTrails };
      // No price is below zero.
      if (below <= 0) this.row = Math.max(from, this.#strategyCursor.next(from, to));
      else this.row = firstEvent(this.#closes, this.#strategyCursors, levels, { from, to }).row;
      return;
    }
    const stops = this.#protection.levels(symbol);
    if (stops === undefined) return;
    const levels = { ...stops, below: Math.max(below, stops.below) };
    this.row = firstEvent(columns, this.#strategyCursors, levels, { from, to }).row;
    if (stops.trails.length > 0 && this.row > from) trailOver(this.#protection, this.#supported.series, from, this.row);
  }

  /** Goes on over rows at which the strategy moves nothing but its stop. */
  #followPrices(end: number): void {
    const target = this.#target;
    const { waiting } = this.#orders;
    if (waiting !== undefined || this.#isOpen || this.#isOff || !hasOnlyPrices(target)) return;
    const { series, hosted } = this.#supported;
    const { fixed, held, least } = this.#line;
    const stops = this.#protection.levels(series.symbol);
    if (stops === undefined || stops.trails.length > 0) return;
    const bounds = {
      ...{ mayMoveExits: true, mayMoveLimit: false, mayMoveTakeProfit: false, tick: 0 },
      below: Math.max(stops.below, held === 0 ? Number.NEGATIVE_INFINITY : (least - fixed) / held),
      above: stops.above,
      stopOf: held === 0 ? 'nothing' : 'long',
      end: Math.min(end, this.#days.endRow, this.#dueRow()),
      horizon: Number.POSITIVE_INFINITY,
    } as const;
    const { signals } = this.#log;
    const record = { signals, decision: signals.length, closesAt: (row: number) => this.#days.closesAt(row) };
    const { to, moved } = followPrices(this.#strategyCursor, target, series.columns, this.row, bounds, record);
    this.row = to;
    if (moved === undefined) return;
    this.#target = moved.signal;
    this.#protection.follow(hosted.id, hosted.symbol, moved.signal);
  }

  /** The first row at whose close the position was held for as long as it may be. */
  #dueRow(): number {
    if (!this.#isGuarded) return Number.POSITIVE_INFINITY;
    const due = this.#protection.exitDue(this.#at.symbol);
    if (due === Number.POSITIVE_INFINITY) return due;
    return Math.max(this.row, rowAt(this.#supported.series.columns.openTime, due - this.#days.lengthMs));
  }

  /** What the strategy said up to where the run could not go on. */
  get answers(): StrategyAnswers {
    const { openTime } = this.#supported.series.columns;
    const known = new Map<number, Signal>();
    for (const { at, signal } of this.#log.signals.all()) known.set(rowAt(openTime, at) - 1, signal);
    return this.#strategyCursor.answersTo(this.row - 1, known);
  }

  /** Takes a signal that differs from the last, and orders what reaches it. */
  #signal(row: number, said: Signal): boolean {
    const { hosted } = this.#supported;
    const signal = checkedOf(said, hosted, this.#days.opensAt(row));
    if (signal.kind !== 'target' || !this.#isSupported(signal)) return false;
    if (this.#target === undefined || !sameSize(this.#target.size, signal.size)) {
      this.#targetLots = this.#sizeOf(signal, row);
      if (Number.isNaN(this.#targetLots)) return false;
      this.#targetSize = lotsOfSafe(this.#targetLots);
      this.#isOpen = true;
    }
    this.#target = signal;
    this.#strategyCursor.lastSignal = signal;
    this.#strategyCursor.quiet = true;
    this.#protection.follow(hosted.id, hosted.symbol, signal);
    this.#isGuarded = this.#protection.guards(hosted.symbol);
    const at = this.#days.closesAt(row);
    const leg = { strategy: hosted.id, role: mainRole, symbol: hosted.symbol, at, signal };
    this.#log.signal(leg, this.#targetSize, this.#log.signals.length + 1);
    return (!this.#isOpen && !this.#isOff) || this.#plan(row);
  }

  /** Spot cannot be short: the other engine knows how that is reported. */
  #isSupported(signal: Target): boolean {
    const { limit, takeProfit, reenterAfterMs, size } = signal;
    if (reenterAfterMs !== undefined || limit !== undefined || takeProfit !== undefined || sizeValue(size) < 0)
      return false;
    if ('share' in size && this.#sizing.atFill) return false;
    return isPlain(signal) || this.#supported.hasStops;
  }

  #sizeOf(signal: Target, row: number): number {
    const { size } = signal;
    if ('quantity' in size) return safe(safeLotsOf(size.quantity, this.#at));
    const price = this.#supported.series.columns.close[row] as number;
    const equity = 'share' in size ? this.#position.equityAt(safeTicksOf(price, this.#at, 'down')) : noUnits;
    return safeSteps(sizeInLots(signal, equity, { account: 'spot', instrument: this.#at, price }, this.#sizing));
  }

  /** Orders what is missing to the standing target, unless an order waits. */
  #plan(row: number): boolean {
    this.#isOpen = false;
    this.#isOff = false;
    const target = this.#target;
    if (target === undefined) return true;
    if (this.#orders.waiting !== undefined) {
      this.#isReported = false;
      return true;
    }
    const { lots: held, strategy } = this.#position;
    const override = this.#isGuarded ? this.#protection.override(strategy, this.#at.symbol, target) : noOverride;
    const lots = (override.exit === undefined ? this.#targetLots : 0) - held;
    if (lots === 0 || !this.#orders.isLarge(this.#lastTicks(row), Math.abs(lots))) {
      this.#isOff = lots !== 0;
      return this.#report(row, target, override);
    }
    const last = safeTicksOf(this.#supported.series.columns.close[row] as number, this.#at, 'up');
    // A part of a position has a part of its cost, which need not be whole.
    if (!(lots > 0 ? this.#orders.mayBuy(last, lots) : -lots === held)) return false;
    const purpose = override.exit !== undefined ? 'stop' : lots > 0 ? 'enter' : 'exit';
    this.#order(lots, purpose, override.exit ?? target.reason, this.#days.closesAt(row));
    return true;
  }

  /** Nothing is ordered: says so once where that is because the order would be too small. */
  #report(row: number, target: Target, override: ProtectionOverride): true {
    const { lots: held, strategy } = this.#position;
    const isReached = held > 0 ? this.#targetLots > 0 : sizeValue(target.size) === 0;
    const small = isReached
      ? []
      : targetTooSmall(target, this.#targetSize, override, {
          ...{ may: 'all', decision: this.#log.signals.length, strategy, role: mainRole },
          ...{ account: 'spot', instrument: this.#at },
          ...{ held: baseUnits(lotsOfSafe(held), this.#at), orders: [], marketBuyIn: 'lots', feeInBase: noRate },
          price: this.#supported.series.columns.close[row] as number,
        });
    for (const { draft, denial } of small)
      if (!this.#isReported) this.#log.denied(draft, denial, { instrument: () => this.#at }, this.#days.closesAt(row));
    this.#isReported = small.length > 0;
    return true;
  }

  #order(lots: number, purpose: Purpose, reason: string, createdAt: number): void {
    this.#orders.waiting = { lots, purpose, reason, decision: this.#log.signals.length, createdAt };
  }

  #lastTicks(row: number): number {
    return safeTicksOf(this.#supported.series.columns.close[row] as number, this.#at, 'down');
  }

  /** Fills what waits at the row's open; false when the money does not suffice or is no longer exact. */
  #fill(row: number, order: FastOrder): boolean {
    const { lots, createdAt } = order;
    const { columns, interval } = this.#supported.series;
    const price = safeTicksOf(columns.open[row] as number, this.#at, lots > 0 ? 'up' : 'down');
    const time = this.#days.opensAt(row);
    const late = time !== createdAt && isLate(createdAt, time, interval, 0);
    const isExact = this.#orders.fillWaiting(order, { price, time, evidence: arrivalEvidence('open', late) });
    this.#filled();
    return isExact;
  }

  /** What the strategy holds is another amount. */
  #filled(): void {
    this.#isOpen = true;
    this.#line.fixed = this.#position.fixed;
    this.#line.held = this.#position.quantity;
  }

  /** The stop of the position: at an open beyond it, then inside the kline; and what the kline moves. */
  #meetStops(row: number): boolean {
    const { symbol, columns } = this.#supported.series;
    const [cursor, protection] = [this.#cursor, this.#protection];
    const isReached = protection.isStopReached(symbol, cursor);
    if (isReached && this.#isGap()) return this.#hitStop(this.#days.opensAt(row));
    if (!isReached && !protection.isTrailing(symbol)) return true;
    protection.trail(symbol, columns.open[row] as number);
    if (protection.isStopReached(symbol, cursor) && !this.#isGap()) {
      return this.#hitStop(lastMs({ openTime: this.#days.opensAt(row) }, this.#supported.series));
    }
    trailOver(protection, this.#supported.series, row, row + 1);
    return true;
  }

  #isGap(): boolean {
    return this.#protection.stops(this.#at.symbol).some((stop) => isGapped(this.#cursor, stop, this.#at));
  }

  /** Leaves by the stop that the cursor's kline sets off, at UTC ms. */
  #hitStop(at: number): boolean {
    const { rules } = this.#input;
    const [stop] = this.#protection.stops(this.#at.symbol);
    const hit = stop && stopHit(this.#cursor, stop, { instrument: this.#at, rules })?.hit;
    if (hit === undefined) return true;
    const [price, reason] = [safeSteps(hit.price), stopReason(priceNumber(hit.price, this.#at))];
    const { lots } = this.#position;
    if (!this.#orders.isLarge(price, lots)) return false;
    this.#exit(reason);
    const order: FastOrder = {
      lots: -lots,
      purpose: 'stop',
      reason,
      decision: this.#log.signals.length,
      createdAt: at,
    };
    const isExact = this.#orders.fill(order, { price, time: at, evidence: hit.evidence });
    this.#filled();
    return isExact;
  }

  #exit(why: string): void {
    const size = this.#target?.size ?? { quantity: 0 };
    this.#protection.exit(this.#position.strategy, this.#at.symbol, size, why, Number.NaN);
  }

  /** Orders the exit of a position that was held for as long as it may be at the row's close. */
  #exitOverdue(row: number): boolean {
    const now = this.#days.closesAt(row);
    if (this.#protection.exitDue(this.#at.symbol) > now) return true;
    for (const { why } of this.#protection.overdue(this.#at.symbol, now)) {
      const { lots } = this.#position;
      if (!this.#orders.isLarge(this.#lastTicks(row), lots)) return false;
      this.#exit(why);
      this.#order(-lots, 'stop', why, now);
    }
    return true;
  }

  /** At the first close of a UTC day the loss is counted anew. */
  #beginDay(row: number): void {
    if (!this.#days.begin(row)) return;
    const start = this.#line.fixed + this.#line.held * (this.#supported.series.columns.close[row] as number);
    // Far wider than the rounding of a sum: what is nearer needs exact amounts.
    this.#line.least = start * this.#keeps + Math.abs(start) * 1e-8;
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
    const price = safeTicksOf(this.#supported.series.columns.close[this.#last] as number, this.#at, 'down');
    const { closedAt } = this;
    const portfolio = { orders: () => this.#orders.open().values(), instrument: () => this.#at };
    return this.#log.result(portfolio, this.#input, {
      kills: [],
      finalEquity: plus(this.#position.equityAt(price), idleCash(this.#input)),
      ...{ couldBeBetterBy: noUnits, couldBeWorseBy: noUnits, ambiguousKlines: 0 },
      ...(endedAt !== undefined && { endedAt }),
      journal: () => this.#log.journal(portfolio, closedAt),
    });
  }
}

const noTrails: readonly never[] = [];
