/**
 * The fill engine on public trades and, where available, depth, for one symbol. Calls arrive in the order of the exchange; the caller has
 * added the latencies. While the depth is recent, MARKET orders fill level by level and resting LIMITs have a position in the queue.
 * Without depth, only trades fill orders.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Depth, Side, Trade } from '../domain/market.ts';
import {
  type Lots,
  lotsFor,
  lotsOf,
  max,
  min,
  minus,
  noLots,
  plus,
  priceFor,
  quantityNumber,
  type Ticks,
  worsened,
} from '../domain/money.ts';
import type { Evidence } from '../domain/order.ts';
import { BookSide, type RequestedSize, type TakenLevel } from './book-side.ts';
import { draw } from './fill-chance.ts';
import type { UsualDay } from './impact.ts';
import { LargeOrders } from './large-orders.ts';
import { nothing, type OrderEnd, type SimFill, type SimOrder, type Step } from './orders.ts';
import { frontAfter } from './queue.ts';
import {
  arrived,
  type Left,
  limitOf,
  type Print,
  type PrintColumns,
  reachablePrices,
  ruleOf,
  type Working,
} from './resting-order.ts';
import type { Rules } from './rules.ts';

export interface TradeFillsOptions {
  readonly instrument: Instrument;
  readonly rules: Rules;
  /** Asked before a MARKET BUY in base lots fills, the only order whose cost is not locked; no ends it unfilled. */
  readonly canPay?: (order: SimOrder, price: Ticks, quantity: Lots) => boolean;
  /** What usually trades in the days before a time (UTC ms), for rules with impact. */
  readonly liquidity?: UsualDay;
}

interface Growing {
  readonly fills: SimFill[];
  readonly ends: OrderEnd[];
}

export class TradeFills {
  readonly #options: TradeFillsOptions;
  #working: Working[] = [];
  readonly #asks: BookSide;
  readonly #bids: BookSide;
  readonly #large: LargeOrders;
  #bookAt = Number.NEGATIVE_INFINITY;
  /** Until then lies a hole in the trades: what happened in it nobody knows, so nothing fills. */
  #blindUntil = Number.NEGATIVE_INFINITY;
  #seq = 0;
  #lastBuy = Number.NaN;
  #lastSell = Number.NaN;
  #lastBuyAt = Number.NEGATIVE_INFINITY;
  #lastSellAt = Number.NEGATIVE_INFINITY;
  /** Prints that cannot matter are most: a SELL above the one, a BUY below the other. */
  #sellsFrom = Number.NEGATIVE_INFINITY;
  #buysFrom = Number.POSITIVE_INFINITY;

  constructor(options: TradeFillsOptions) {
    this.#options = options;
    this.#asks = new BookSide('BUY', options.instrument);
    this.#bids = new BookSide('SELL', options.instrument);
    this.#large = new LargeOrders(options.rules.impact, options.liquidity, options.instrument);
  }

  get idle(): boolean {
    return this.#working.length === 0;
  }

  /** The sides of the book, for a loop that writes levels into them itself and then calls `shown`. */
  get sides(): { readonly bids: BookSide; readonly asks: BookSide } {
    return { bids: this.#bids, asks: this.#asks };
  }

  /**
   * An order arrives at UTC ms `at`, `executed` of it already filled in an earlier run. Before a young book a MARKET order
   * walks it and a LIMIT takes what crosses. Otherwise a MARKET order waits for the next print of its side, and a LIMIT that
   * crosses what takers of its side paid last takes, whole, at that price made worse.
   */
  submit(order: SimOrder, at: number, executed: Lots = noLots): Step {
    const step: Growing = { fills: [], ends: [] };
    const last = order.side === 'BUY' ? this.#lastBuy : this.#lastSell;
    const working = arrived(order, at, executed, last, this.#options.instrument);
    if (at >= this.#blindUntil) {
      const done = this.#isYoung(at) ? this.#takeFromBook(working, at, step) : this.#crossLast(working, at, step);
      if (done) return step;
    }
    this.#place(working, at);
    this.#working.push(working);
    this.#look();
    return step.fills.length === 0 ? nothing : step;
  }

  cancel(clientOrderId: string): Step {
    const found = this.#working.find(({ order }) => order.clientOrderId === clientOrderId);
    if (found === undefined) return nothing;
    this.#working = this.#working.filter((working) => working !== found);
    this.#look();
    return { fills: [], ends: [{ order: found.order, end: 'canceled' }] };
  }

  /** Hands over every order, for an engine that fills by other data. */
  release(): readonly Left[] {
    const left = this.#working.map(({ order, executed }) => ({ order, executed }));
    this.#working = [];
    this.#look();
    return left;
  }

  /** A hole in the trades begins, which ends at UTC ms `to`. */
  gap(to: number): void {
    this.#blindUntil = Math.max(this.#blindUntil, to);
  }

  /** A trade of others: MARKET orders of its side fill by it, and LIMITs of the other side that it reaches. */
  print({ side, price, quantity, time, seenAt }: Trade): Step {
    return this.printed(side, price, quantity, time, seenAt);
  }

  /** The same as numbers; `at` is when it reached whoever counts the age of prints, UTC ms. */
  printed(side: Side, price: number, quantity: number, time: number, at: number): Step {
    this.#seq++;
    const matters = side === 'BUY' ? price >= this.#buysFrom : price <= this.#sellsFrom;
    const step = matters && time >= this.#blindUntil ? this.#match(side, price, quantity, time, at) : nothing;
    if (side === 'BUY') {
      this.#lastBuy = price;
      this.#lastBuyAt = at;
    } else {
      this.#lastSell = price;
      this.#lastSellAt = at;
    }
    return step;
  }

  /** The first of these trades from row `from` on that can matter to an order, or lies at `until` (UTC ms) or later; `to` without one. */
  nextMattering({ time, price, side }: PrintColumns, from: number, to: number, until: number): number {
    const [buys, sells] = [this.#buysFrom, this.#sellsFrom];
    for (let row = from; row < to; row++) {
      if ((time[row] as number) >= until) return row;
      const paid = price[row] as number;
      if ((side[row] as number) > 0 ? paid >= buys : paid <= sells) return row;
    }
    return to;
  }

  /** Trades from row `from` to `to` that matter to no order have been printed, as if each had been handed over. */
  pass({ time, price, side }: PrintColumns, from: number, to: number): void {
    this.#seq += to - from;
    let [bought, sold] = [false, false];
    for (let row = to - 1; row >= from && !(bought && sold); row--) {
      const isBuy = (side[row] as number) > 0;
      if (isBuy && !bought) {
        this.#lastBuy = price[row] as number;
        this.#lastBuyAt = time[row] as number;
      } else if (!isBuy && !sold) {
        this.#lastSell = price[row] as number;
        this.#lastSellAt = time[row] as number;
      }
      if (isBuy) bought = true;
      else sold = true;
    }
  }

  #match(side: Side, price: number, quantity: number, time: number, at: number): Step {
    const step: Growing = { fills: [], ends: [] };
    const size = lotsOf(quantity, this.#options.instrument, 'down');
    const print: Print = { side, price, time, seq: this.#seq, size, whole: quantity };
    this.#working = this.#working.filter((working) => {
      if (working.order.type === 'MARKET')
        return working.order.side !== side || this.#fillMarket(working, print, at, step);
      if (working.order.side !== side) this.#fillLimit(working, print, at, step);
      return working.remaining > 0n;
    });
    this.#look();
    return step;
  }

  /** The whole book as it is now. */
  book({ bids, asks, time, seenAt }: Depth): Step {
    this.#bids.show(bids);
    this.#asks.show(asks);
    return this.shown(time, seenAt);
  }

  /** The sides have been written: queues move up, what the other side has crossed fills, MARKET orders that waited walk. */
  shown(time: number, at: number): Step {
    this.#seq++;
    this.#bookAt = at;
    if (this.#working.length === 0) return nothing;
    const step: Growing = { fills: [], ends: [] };
    const isBlind = at < this.#blindUntil;
    this.#working = this.#working.filter((working) => {
      if (working.order.type === 'MARKET') return isBlind || !this.#takeFromBook(working, time, step);
      this.#moveUp(working);
      if (!isBlind) this.#crossed(working, time, step);
      return working.remaining > 0n;
    });
    this.#look();
    return step;
  }

  /** Its place in the queue: behind all that is displayed at its price, before nobody where nobody knows. */
  #place(working: Working, at: number): void {
    if (working.order.type === 'MARKET') return;
    const own = working.order.side === 'BUY' ? this.#bids : this.#asks;
    const displayed = this.#isYoung(at) ? own.quantityAt(working.limit) : undefined;
    working.displayed = displayed ?? 0;
    working.front = displayed ?? this.#options.rules.assumedQueue ?? Number.POSITIVE_INFINITY;
  }

  #moveUp(working: Working): void {
    const own = working.order.side === 'BUY' ? this.#bids : this.#asks;
    const now = own.quantityAt(working.limit);
    if (now === undefined) return;
    const { front, displayed: before, printed } = working;
    working.front = frontAfter(this.#options.rules.queue, { front, before, now, printed });
    working.displayed = now;
    working.printed = 0;
  }

  /** A MARKET order walks the book to its end and beyond; a LIMIT takes what is within its price. True when it is over. */
  #takeFromBook(working: Working, time: number, step: Growing): boolean {
    const { order } = working;
    const { rules, canPay } = this.#options;
    const isMarket = order.type === 'MARKET';
    const side = order.side === 'BUY' ? this.#asks : this.#bids;
    // Nobody is there: what a MARKET order would get, only a print can say.
    if (side.count === 0) return false;
    const anyPrice = order.side === 'BUY' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const wanted: RequestedSize = 'lots' in order.volume ? { lots: working.remaining } : order.volume;
    const { taken, rest } = side.take(wanted, isMarket ? anyPrice : working.limit);
    const isOpen = 'amount' in rest ? rest.amount > 0n : rest.lots > 0n;
    const beyond = isMarket && isOpen ? side.beyond(rest, rules.beyondDepth) : undefined;
    const pieces = beyond === undefined ? taken : [...taken, beyond];
    const last = pieces.at(-1);
    if (isMarket && last !== undefined && order.side === 'BUY' && 'lots' in order.volume) {
      if (canPay?.(order, last.price, working.remaining) === false) {
        step.ends.push({ order, end: 'canceled' });
        return true;
      }
    }
    for (const piece of pieces)
      this.#fill(
        working,
        piece,
        { time, maker: false, evidence: this.#walked(working, piece, piece === beyond) },
        step,
      );
    if (!isMarket) {
      if (working.remaining > 0n) return false;
      step.ends.push({ order, end: 'filled' });
      return true;
    }
    step.ends.push({ order, end: pieces.length > 0 ? 'filled' : 'canceled' });
    return true;
  }

  #walked({ order }: Working, { quantity, displayed }: TakenLevel, isBeyond: boolean): Evidence {
    if (isBeyond) return { rule: 'depth-beyond-book', eventSeq: this.#seq, participation: 1 };
    const participation = quantityNumber(quantity, this.#options.instrument) / displayed;
    return { rule: order.type === 'MARKET' ? 'depth-walk' : 'depth-cross', eventSeq: this.#seq, participation };
  }

  /** A LIMIT that crosses what takers of its side paid last, unless that was long ago. */
  #crossLast(working: Working, at: number, step: Growing): boolean {
    const { order, remaining } = working;
    const { rules, instrument } = this.#options;
    const isBuy = order.side === 'BUY';
    const lastAt = isBuy ? this.#lastBuyAt : this.#lastSellAt;
    if (order.type !== 'LIMIT' || !(at - lastAt <= rules.staleAfterMs)) return false;
    const last = priceFor(order.side, isBuy ? this.#lastBuy : this.#lastSell, instrument);
    const price = worsened(order.side, last, rules.slippage);
    const limit = limitOf(order);
    if (isBuy ? price > limit : price < limit) return false;
    const taking = { side: order.side, quantity: remaining, limit, time: at, klineVolume: undefined };
    const sized = this.#large.sized(taking, { price, evidence: { rule: 'trade-cross', eventSeq: this.#seq } });
    this.#fill(working, { ...sized, quantity: remaining }, { time: at, maker: false, evidence: sized.evidence }, step);
    step.ends.push({ order, end: 'filled' });
    return true;
  }

  /** The best of the other side has come to a resting order's price: it would have met us. */
  #crossed(working: Working, time: number, step: Growing): void {
    const { order, limit } = working;
    const other = order.side === 'BUY' ? this.#asks : this.#bids;
    if (!(order.side === 'BUY' ? other.best <= limit : other.best >= limit)) return;
    const price = limitOf(order);
    for (const { quantity, displayed } of other.take({ lots: working.remaining }, limit).taken) {
      const participation = quantityNumber(quantity, this.#options.instrument) / displayed;
      const evidence: Evidence = { rule: 'depth-crossed', eventSeq: this.#seq, queueAhead: 0, participation };
      this.#fill(working, { price, quantity }, { time, maker: true, evidence }, step);
    }
    if (working.remaining === 0n) step.ends.push({ order, end: 'filled' });
  }

  #fillMarket(working: Working, print: Print, at: number, step: Growing): boolean {
    const { rules, instrument, canPay } = this.#options;
    const { order, arrivedAt, before } = working;
    const { side, volume } = order;
    const now = priceFor(side, print.price, instrument);
    const earlier = Number.isNaN(before) ? now : priceFor(side, before, instrument);
    const reference = side === 'BUY' ? max(earlier, now) : min(earlier, now);
    const rule = at - arrivedAt > rules.staleAfterMs ? 'trade-next-stale' : 'trade-next';
    const small = { price: worsened(side, reference, rules.slippage), evidence: { rule, eventSeq: print.seq } };
    const asked = (price: Ticks): Lots =>
      'lots' in volume ? working.remaining : lotsFor(volume.amount, price, instrument);
    const taking = { side, quantity: asked(small.price), time: print.time, klineVolume: print.whole };
    const { price, evidence } = this.#large.sized(taking, small);
    const quantity = asked(price);
    const unpaid = side === 'BUY' && 'lots' in volume && canPay?.(order, price, quantity) === false;
    if (unpaid || quantity === 0n) {
      step.ends.push({ order, end: 'canceled' });
      return false;
    }
    const participation = quantityNumber(quantity, instrument) / print.whole;
    const how = { time: print.time, maker: false, evidence: { ...evidence, participation } };
    this.#fill(working, { price, quantity }, how, step);
    step.ends.push({ order, end: 'filled' });
    return false;
  }

  /** A print through its price empties the queue before it; one at its price shortens it, and only what is over fills. */
  #fillLimit(working: Working, print: Print, at: number, step: Growing): void {
    const { order, limit, through, front } = working;
    const isBuy = order.side === 'BUY';
    const { price } = print;
    if (isBuy ? price > limit : price < limit) return;
    const isThrough = isBuy ? price <= through : price >= through;
    const isYoung = this.#isYoung(at);
    const ahead = isThrough ? 0 : this.#ahead(working, print, isYoung);
    if (isThrough && isYoung) working.front = 0;
    if (ahead === undefined) return;
    const over = ahead > 0 ? quantityNumber(print.size, this.#options.instrument) - ahead : undefined;
    const granted = over === undefined ? print.size : over <= 0 ? noLots : lotsOf(over, this.#options.instrument);
    const quantity = min(working.remaining, granted);
    if (quantity === 0n) return;
    print.size = minus(print.size, quantity);
    const rule = ruleOf(isThrough, Number.isFinite(front), isYoung);
    const evidence: Evidence = {
      rule,
      eventSeq: print.seq,
      ...(Number.isFinite(front) ? { queueAhead: Math.max(0, front) } : {}),
      participation: quantityNumber(quantity, this.#options.instrument) / print.whole,
    };
    this.#fill(working, { price: limitOf(order), quantity }, { time: print.time, maker: true, evidence }, step);
    if (working.remaining === 0n) step.ends.push({ order, end: 'filled' });
  }

  /** What was before the order when a print at its price came; undefined when nobody knows, so that it does not fill. */
  #ahead(working: Working, { size, seq }: Print, isYoung: boolean): number | undefined {
    const { rules, instrument } = this.#options;
    const { front, order } = working;
    if (Number.isFinite(front) && (isYoung || rules.assumedQueue !== undefined)) {
      const printed = quantityNumber(size, instrument);
      working.printed += printed;
      working.front = Math.max(0, front - printed);
      return Math.max(0, front);
    }
    return rules.touchChance > 0 && draw(rules.seed, order.clientOrderId, seq) < rules.touchChance ? 0 : undefined;
  }

  #fill(
    working: Working,
    { price, quantity }: Pick<TakenLevel, 'price' | 'quantity'>,
    how: Pick<SimFill, 'time' | 'maker' | 'evidence'>,
    step: Growing,
  ): void {
    const { order } = working;
    working.executed = plus(working.executed, quantity);
    if ('lots' in order.volume) working.remaining = minus(working.remaining, quantity);
    step.fills.push({ order, side: order.side, price, quantity, ...how });
  }

  #isYoung(at: number): boolean {
    return at - this.#bookAt <= this.#options.rules.maxDepthAgeMs;
  }

  #look(): void {
    [this.#sellsFrom, this.#buysFrom] = reachablePrices(this.#working);
  }
}
