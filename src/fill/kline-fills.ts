/**
 * The fill engine where only klines are stored, for one symbol, in exact integers. The caller takes each
 * kline through its phases, and calls nothing while `idle`:
 *
 *     open      orders that were waiting become active: MARKET orders fill, LIMITs that cross take, the rest begins to rest
 *     triggers  which stops this kline sets off; each is answered with `fillStop`, and targets beside it with `cancel`
 *     rest      resting LIMITs fill; then `triggers` once more for the stops of what was entered here
 *     close     the kline is over
 *     decided   only by rules that fill at the close decided on: what was ordered after it becomes active, as at an `open`
 *
 * An order submitted at any time waits for the next `open`: inside a kline nobody knows what came first. Rules that let a
 * take-profit work in the kline of its entry make an exception of LIMITs that are submitted inside.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Kline, Side } from '../domain/market.ts';
import {
  type Lots,
  lessFee,
  lotsFor,
  lotsOf,
  min,
  minus,
  noLots,
  partOfLots,
  priceFor,
  priceNumber,
  type Rate,
  type Ticks,
} from '../domain/money.ts';
import type { Evidence } from '../domain/order.ts';
import type { UsualDay } from './impact.ts';
import { hasArrived } from './in-flight.ts';
import { restsAtArrival, type Working } from './kline-order.ts';
import { firstOf } from './kline-path.ts';
import { LargeOrders, type Priced, type Taking } from './large-orders.ts';
import { arrivalMs, arrivalPrice, delayOf, evidenceIn, isPassed, isReached, lastMs, reachOf } from './order-arrival.ts';
import {
  and,
  fresh,
  type Growing,
  nothing,
  type SimFill,
  type SimOrder,
  type Step,
  type Stop,
  type StopHit,
} from './orders.ts';
import { limitOf } from './resting-order.ts';
import type { Rules } from './rules.ts';
import { stopHit } from './stops.ts';

/** What the engine reads of a kline; the caller may pass one object again and again. */
export type FillKline = Pick<Kline, 'openTime' | 'open' | 'high' | 'low' | 'close' | 'volume'>;

export interface KlineFillsOptions {
  readonly instrument: Instrument;
  readonly interval: Interval;
  readonly rules: Rules;
  /** Asked before a MARKET BUY in base lots fills, the only order whose cost is not locked; no ends it unfilled. */
  readonly canPay?: (order: SimOrder, price: Ticks, quantity: Lots, before: readonly SimFill[]) => boolean;
  /** What usually trades in the days before a time (UTC ms), for rules with impact. */
  readonly liquidity?: UsualDay;
  /** The rate of the fee that a MARKET BUY's amount pays, too. */
  readonly feeInAmount?: Rate;
  /** The finer klines within the one that opens at a time: they decide what it leaves open. */
  readonly finer?: (openTime: number) => readonly FillKline[];
}

const by = {
  rest: { rule: 'kline-rest' },
  gap: { rule: 'kline-rest-gap' },
  path: { rule: 'kline-rest-path', ambiguous: true },
} as const satisfies Record<string, Evidence>;

export class KlineFills {
  /** Klines in which a stop and a target could both have filled, and nothing but the rules said which came first. */
  ambiguousKlines = 0;
  readonly #options: KlineFillsOptions;
  readonly #working: Working[] = [];
  /** Whole klines that an order or a cancel takes to arrive. */
  readonly #delay: number;
  readonly #large: LargeOrders;
  #inside = false;
  #takenAt = Number.NaN;
  /** How much of a kline's volume is left for us; undefined is no limit. */
  #takeable: Lots | undefined;
  #ambiguousAt = Number.NaN;
  /** By strategy, the stops of a kline that the chosen path let come after its target: side, price, and when it opens. */
  readonly #later = new Map<string, { readonly side: Side; readonly price: Ticks; readonly at: number }>();
  /** Open time of the kline whose resting orders have had their turn. */
  #restedAt = Number.NaN;

  constructor(options: KlineFillsOptions) {
    this.#options = options;
    this.#large = new LargeOrders(options.rules.impact, options.liquidity, options.instrument);
    this.#delay = delayOf(options.rules, options.interval);
  }

  /** True while no order is waiting or resting: then a kline needs no phase but `triggers`. */
  get idle(): boolean {
    return this.#working.length === 0;
  }

  /** The orders that wait or rest, oldest first. */
  get working(): readonly Working[] {
    return this.#working;
  }

  /** Takes an order that is well formed and whose funds are locked, `executed` of it already filled. */
  submit(order: SimOrder, executed: Lots = noLots): void {
    const isAtOnce = this.#inside && this.#delay === 0 && this.#options.rules.targetsFrom === 'entry';
    this.#working.push({
      order,
      reach: order.type === 'MARKET' ? Number.NaN : reachOf(order.side, limitOf(order), this.#options),
      remaining: 'lots' in order.volume ? minus(order.volume.lots, executed) : noLots,
      active: isAtOnce && order.type === 'LIMIT',
      way: { left: this.#delay, at: Number.NaN },
      cancel: undefined,
      tookAt: Number.NaN,
    });
  }

  /** Cancels an order: at once, or when latency spans klines, as many opens later, however often it is asked for. Unknown orders are let be. */
  cancel(clientOrderId: string): Step {
    const index = this.#working.findIndex(({ order }) => order.clientOrderId === clientOrderId);
    const working = this.#working[index];
    if (working === undefined) return nothing;
    if (this.#delay > 0 && (!this.#inside || working.cancel !== undefined)) {
      working.cancel ??= { left: this.#delay, at: Number.NaN };
      return nothing;
    }
    this.#working.splice(index, 1);
    return { fills: [], ends: [{ order: working.order, end: 'canceled' }] };
  }

  /** Hands over every order with what it has filled, for an engine that fills by other data. */
  release(): readonly { readonly order: SimOrder; readonly executed: Lots }[] {
    return this.#working.splice(0).map(({ order, remaining }) => ({
      order,
      executed: 'lots' in order.volume ? minus(order.volume.lots, remaining) : noLots,
    }));
  }

  /** Begins a kline, which ends with `close`. */
  open(kline: FillKline): Step {
    this.#inside = true;
    return this.#options.rules.marketAt === 'open' ? this.#arrive(kline) : nothing;
  }

  /** What was ordered after the close of this kline becomes active. */
  decided(kline: FillKline): Step {
    return this.#options.rules.marketAt === 'close' ? this.#arrive(kline) : nothing;
  }

  #arrive(kline: FillKline): Step {
    if (this.#working.length === 0) return nothing;
    const step = fresh();
    this.#keep((working) => {
      if (working.cancel !== undefined && hasArrived(working.cancel, kline)) {
        step.ends = and(step.ends, { order: working.order, end: 'canceled' });
        return false;
      }
      if (working.active || !hasArrived(working.way, kline)) return true;
      working.active = true;
      if (working.order.type === 'MARKET') return this.#market(working.order, kline, step);
      return restsAtArrival(working.order, this.#options.rules) || this.#cross(working, kline, step);
    });
    return step;
  }

  /** Which stops this kline sets off; changes nothing. */
  triggers(kline: FillKline, stops: readonly Stop[]): readonly StopHit[] {
    const hits: StopHit[] = [];
    for (const stop of stops) {
      const hit = stopHit(kline, stop, this.#options);
      const first = hit === undefined || hit.gap ? hit?.hit : this.#orTarget(kline, stop, hit.hit);
      if (first !== undefined) hits.push(first);
    }
    return hits;
  }

  /** Fills the MARKET order that answers a stop, at once, as far as the kline's volume goes; the remainder is canceled. */
  fillStop(kline: FillKline, order: SimOrder, hit: StopHit): Step {
    if (hit.evidence.ambiguous === true) this.#count(kline);
    const step = fresh();
    // What rested comes before: a position that it entered is left no earlier.
    const isAtOpen = hit.evidence.rule.endsWith('-gap') && this.#restedAt !== kline.openTime;
    const time = isAtOpen ? kline.openTime : lastMs(kline, this.#options);
    this.#fillAll(kline, { ...hit, order, time }, step);
    return step;
  }

  rest(kline: FillKline): Step {
    this.#restedAt = kline.openTime;
    if (!this.#working.some((working) => this.#reached(working, kline))) return nothing;
    const step = fresh();
    let allowance = this.#share(kline, this.#options.rules.limitParticipation);
    this.#keep((working) => {
      if (!this.#reached(working, kline)) return true;
      const quantity = allowance === undefined ? working.remaining : min(working.remaining, allowance);
      if (quantity === 0n) return true;
      if (allowance !== undefined) allowance = minus(allowance, quantity);
      working.remaining = minus(working.remaining, quantity);
      const { order } = working;
      const { side } = order;
      const isGap = isPassed(order, kline, this.#options);
      const stop = this.#later.get(order.strategy);
      const later = stop?.at === kline.openTime && stop.side === side ? stop.price : undefined;
      if (later !== undefined) this.#count(kline);
      step.fills = and(step.fills, {
        order,
        side,
        price: isGap ? priceFor(side, kline.open, this.#options.instrument) : limitOf(order),
        quantity,
        maker: true,
        time: lastMs(kline, this.#options),
        evidence: later !== undefined ? by.path : isGap ? by.gap : by.rest,
        worstPrice: later,
      });
      if (working.remaining > 0n) return true;
      step.ends = and(step.ends, { order, end: 'filled' });
      return false;
    });
    return step;
  }

  /** Between the phases of a kline, and after it: an order waits for the next open, and a cancel takes its time again. */
  pause(): void {
    this.#inside = false;
  }

  /** Goes on with the kline that has opened. */
  goOn(): void {
    this.#inside = true;
  }

  #market(order: SimOrder, kline: FillKline, step: Growing): false {
    // Of a kline without volume nobody has to know the price.
    if (this.#takeableIn(kline) === noLots) {
      step.ends = and(step.ends, { order, end: 'canceled' });
      return false;
    }
    const evidence = evidenceIn(order, kline, this.#delay, this.#options);
    const [price, time] = [arrivalPrice(order.side, kline, this.#options), arrivalMs(kline, this.#options)];
    this.#fillAll(kline, { order, price, time, evidence }, step);
    return false;
  }

  /** Fills a MARKET order as far as the kline's volume goes, at a price that its size moves, and ends it. */
  #fillAll(
    kline: FillKline,
    taker: Pick<SimFill, 'order' | 'price' | 'time' | 'evidence' | 'bestPrice'>,
    step: Growing,
  ): void {
    const { order, time, bestPrice } = taker;
    const meant = this.#asked(order, taker.price);
    const { price, evidence } = this.#sized(kline, { side: order.side, quantity: meant }, taker);
    const asked = price === taker.price ? meant : this.#asked(order, price);
    const isUnlocked = order.side === 'BUY' && 'lots' in order.volume;
    if (isUnlocked && this.#options.canPay?.(order, price, asked, step.fills) === false) {
      step.ends = and(step.ends, { order, end: 'canceled' });
      return;
    }
    const quantity = this.#take(kline, asked);
    const isWhole = quantity > 0n && quantity === asked;
    const made = { order, side: order.side, price, quantity, maker: false, time, bestPrice };
    // It took all that takers may have of the kline.
    const said = isWhole ? evidence : { ...evidence, participation: 1 };
    if (quantity > 0n) step.fills = and(step.fills, { ...made, evidence: said });
    step.ends = and(step.ends, { order, end: isWhole ? 'filled' : 'canceled' });
  }

  /** A LIMIT on arrival: takes when the open, made worse, is within its price; what is left rests. */
  #cross(working: Working, kline: FillKline, step: Growing): boolean {
    const { order } = working;
    const { side } = order;
    const [price, limit] = [arrivalPrice(side, kline, this.#options), limitOf(order)];
    if (side === 'BUY' ? price > limit : price < limit) return true;
    const small = { price, evidence: evidenceIn(order, kline, this.#delay, this.#options) };
    const sized = this.#sized(kline, { side, quantity: working.remaining, limit }, small);
    // What takes at a close rests in the next kline like any other.
    if (this.#options.rules.marketAt === 'open') working.tookAt = kline.openTime;
    const quantity = this.#take(kline, working.remaining);
    if (quantity === 0n) return true;
    working.remaining = minus(working.remaining, quantity);
    step.fills = and(step.fills, {
      order,
      side,
      ...sized,
      quantity,
      maker: false,
      time: arrivalMs(kline, this.#options),
    });
    if (working.remaining > 0n) return true;
    step.ends = and(step.ends, { order, end: 'filled' });
    return false;
  }

  /** What an order gets whose size may move the price. */
  #sized({ openTime, volume }: FillKline, taking: Pick<Taking, 'side' | 'quantity' | 'limit'>, small: Priced): Priced {
    return this.#large.sized({ ...taking, time: openTime, klineVolume: volume }, small);
  }

  #asked({ volume }: SimOrder, price: Ticks): Lots {
    if ('lots' in volume) return volume.lots;
    const { feeInAmount, instrument } = this.#options;
    return lotsFor(feeInAmount === undefined ? volume.amount : lessFee(volume.amount, feeInAmount), price, instrument);
  }

  /** Takes from what takers may have of this kline's volume. */
  #take(kline: FillKline, asked: Lots): Lots {
    const left = this.#takeableIn(kline);
    if (left === undefined) return asked;
    const taken = min(asked, left);
    this.#takeable = minus(left, taken);
    return taken;
  }

  /** What is left of this kline's volume for takers; undefined is no limit. */
  #takeableIn(kline: FillKline): Lots | undefined {
    const { marketParticipation } = this.#options.rules;
    if (marketParticipation !== undefined && this.#takenAt !== kline.openTime) {
      this.#takenAt = kline.openTime;
      this.#takeable = this.#share(kline, marketParticipation);
    }
    return this.#takeable;
  }

  #share(kline: FillKline, share: Rate | undefined): Lots | undefined {
    return share === undefined ? undefined : partOfLots(lotsOf(kline.volume, this.#options.instrument, 'down'), share);
  }

  #reached({ active, tookAt, order, reach }: Working, kline: FillKline): boolean {
    return active && tookAt !== kline.openTime && isReached(order.side, reach, kline);
  }

  /**
   * The hit, where a target of the same strategy could have filled in the kline before the stop: finer klines say which came
   * first, then the path that the rules choose; else it is ambiguous. Undefined when the target comes first: `rest` fills it.
   */
  #orTarget(kline: FillKline, stop: Stop, hit: StopHit): StopHit | undefined {
    const soon = this.#soonIn(kline, stop);
    const bestPrice = soon ?? this.#targetIn(kline, stop);
    const isRested = this.#restedAt === kline.openTime;
    const isSoon = soon !== undefined;
    // The target has had its turn, and there is something left to protect.
    if (bestPrice === undefined || (isRested && !isSoon)) return hit;
    const doubtful: StopHit = { ...hit, bestPrice, evidence: { ...hit.evidence, ambiguous: true } };
    // When a resting order entered no kline says.
    for (const fine of (isRested ? undefined : this.#options.finer?.(kline.openTime)) ?? []) {
      const isTarget = (this.#soonIn(fine, stop) ?? this.#targetIn(fine, stop)) !== undefined;
      const stopped = stopHit(fine, stop, this.#options);
      if (stopped !== undefined && (stopped.gap || !isTarget)) return stopped.hit;
      if (isTarget && stopped === undefined) return isSoon ? doubtful : undefined;
      if (isTarget) break;
    }
    if (isSoon) return doubtful;
    const first = firstOf(this.#options.rules.path, kline, stop.side, priceNumber(bestPrice, this.#options.instrument));
    if (first === 'assumedTarget')
      this.#later.set(stop.strategy, { side: stop.side, price: hit.price, at: kline.openTime });
    return first === 'stop' ? doubtful : undefined;
  }

  /** The take-profit that does not rest yet, where the kline reaches it. */
  #soonIn(kline: FillKline, { side, soon }: Stop): Ticks | undefined {
    const isIn = soon !== undefined && isReached(side, reachOf(side, soon, this.#options), kline);
    return isIn && !this.#isDry(kline) ? soon : undefined;
  }

  /** Of no volume nothing that rests fills: then nothing is in doubt. */
  #isDry(kline: FillKline): boolean {
    return this.#share(kline, this.#options.rules.limitParticipation) === noLots;
  }

  /** The best price of the strategy's resting orders on the stop's side that the kline reaches. */
  #targetIn(kline: FillKline, stop: Stop): Ticks | undefined {
    let bestPrice: Ticks | undefined;
    if (this.#isDry(kline)) return undefined;
    for (const working of this.#working) {
      const { order } = working;
      if (order.strategy !== stop.strategy || order.side !== stop.side || !this.#reached(working, kline)) continue;
      const price = limitOf(order);
      if (bestPrice === undefined || (stop.side === 'SELL' ? price > bestPrice : price < bestPrice)) bestPrice = price;
    }
    return bestPrice;
  }

  #count({ openTime }: FillKline): void {
    if (this.#ambiguousAt !== openTime) this.ambiguousKlines++;
    this.#ambiguousAt = openTime;
  }

  /** Drops the orders for which `keeps` says no, in place and in order. */
  #keep(keeps: (working: Working) => boolean): void {
    let kept = 0;
    for (const working of this.#working) if (keeps(working)) this.#working[kept++] = working;
    this.#working.length = kept;
  }
}
