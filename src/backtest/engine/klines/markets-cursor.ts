/** A strategy of several markets, over their series side by side. */

import { closeTime, type Interval } from '../../../domain/interval.ts';
import { rowAt } from '../../../domain/market.ts';
import { type Decision, type Leg, sameSignal } from '../../../domain/order.ts';
import type { Planner } from '../../../portfolio/planner.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { Standing } from '../../../portfolio/standing.ts';
import { hasList, type SeveralMarkets } from '../../../strategy/contract.ts';
import { withStrategy } from '../../../strategy/fault.ts';
import type { HostedMarket } from '../../../strategy/host.ts';
import { wholeColumn } from '../../../strategy/indicator.ts';
import type { MarketRows } from '../../../strategy/markets/joined-klines.ts';
import type { MarketNow } from '../../../strategy/markets/market-now.ts';
import type { MarketSignals } from '../../../strategy/markets/market-signals.ts';
import { dueAfter, type Schedule, scheduleOf } from '../../../strategy/markets/schedule.ts';
import { MarketsDecider } from '../../../strategy/markets/several-markets.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { RunSeries } from '../../run.ts';
import { joinedOf } from '../joined-series.ts';
import { HeldColumns, type LastRow } from './held-columns.ts';
import { KlineCursor } from './kline-cursor.ts';

interface Market extends HostedMarket {
  /** The last signal. */
  leg: Leg | undefined;
  /** What stands of it, and the last price, once there are such: looked up once, as both stay the same objects. */
  standing: Standing | undefined;
  mark: { readonly price: number } | undefined;
}

/** A market at the moment that the cursor is at. Its row is looked up, and its kline made, only where somebody looks at them. */
class MarketAt implements MarketNow, LastRow {
  readonly interval: Interval;
  readonly holding: MarketNow['holding'];
  readonly #rowAt: Int32Array;
  readonly #cursor: KlineCursor;
  readonly #now: { readonly moment: number };
  /** The last row that was there up to a moment, and that moment. */
  #row = 0;
  #rowOf = -1;

  constructor(
    { symbol, rows }: { readonly symbol: string; readonly rows: MarketRows },
    now: { readonly moment: number },
    holdingOf: (klines: HeldColumns) => MarketNow['holding'],
  ) {
    const { columns, interval, rowAt } = rows;
    this.interval = interval;
    this.#rowAt = rowAt;
    this.#now = now;
    this.#cursor = new KlineCursor({ symbol, interval, columns, gaps: [], first: 0, end: columns.openTime.length });
    this.holding = holdingOf(new HeldColumns(columns, this));
  }

  get isThere(): boolean {
    return (this.#rowAt[this.#now.moment] as number) >= 0;
  }

  get kline(): MarketNow['kline'] {
    return this.isThere ? this.#here.kline : undefined;
  }

  get close(): number {
    return this.#here.close;
  }

  /** A missing kline leaves the last one before it. */
  get row(): number {
    const { moment } = this.#now;
    let last = moment;
    while (last > this.#rowOf && (this.#rowAt[last] as number) < 0) last--;
    if (last > this.#rowOf) this.#row = this.#rowAt[last] as number;
    this.#rowOf = moment;
    return this.#row;
  }

  closeOf(row: number): number {
    return this.#cursor.closeOf(row);
  }

  get #here(): KlineCursor {
    this.#cursor.row = this.row;
    return this.#cursor;
  }
}

/** The last price of a symbol at a moment, as the engine marks it: the last close, or the open of a kline that is still open. */
class PriceAt {
  readonly #series: RunSeries;
  #row: number;

  constructor(series: RunSeries) {
    this.#series = series;
    this.#row = series.first - 1;
  }

  /** Goes forward only. */
  at(time: number): number | undefined {
    const { columns, interval, first, end } = this.#series;
    const { openTime } = columns;
    while (this.#row + 1 < end && closeTime(interval, openTime[this.#row + 1] as number) <= time) this.#row++;
    const next = this.#row + 1;
    if (next < end && (openTime[next] as number) < time) return columns.open[next];
    return this.#row < first ? undefined : columns.close[this.#row];
  }
}

export class MarketsCursor {
  readonly hosted: NamedHosted;
  readonly markets: readonly Market[];
  /** Nothing needs to be planned until it emits something else or something happens to its orders. */
  quiet: boolean;
  /** The markets that have a signal, in the order in which they got their first. */
  readonly #signalled: Market[] = [];
  readonly #decider: MarketsDecider;
  readonly #columns: readonly Float64Array[];
  readonly #moments: Float64Array;
  readonly #prices: ReadonlyMap<string, PriceAt>;
  readonly #portfolio: Portfolio;
  readonly #schedule: Schedule | undefined;
  /** The prices of the moment that it is asked at; left out, those that the portfolio has. */
  readonly #lastPrice: ((symbol: string) => number | undefined) | undefined;
  /** The moment that comes next. */
  #next: number;
  /** The next moment at which it is asked. */
  #asked: number;
  /** The moment at which it was asked ahead and says something else, and what; and the moment that prices are of, UTC ms. */
  #answerAt = -1;
  #answer: MarketSignals | undefined;
  #time = Number.NEGATIVE_INFINITY;
  /** The moment at which it is asked. */
  readonly #at = { moment: 0 };

  /** One that is not asked ahead goes from moment to moment. */
  constructor(hosted: NamedHosted, series: readonly RunSeries[], portfolio: Portfolio, isAskedAhead = true) {
    this.hosted = hosted;
    this.#portfolio = portfolio;
    this.quiet = isAskedAhead;
    this.#lastPrice = isAskedAhead ? (symbol) => this.#priceOf(symbol) : undefined;
    const bound = hosted.markets ?? [];
    const joined = joinedOf(bound, series);
    // What closes behind the end of the run is none of its moments.
    const ends = Math.max(
      ...series.flatMap(({ columns, interval, first, end }) =>
        first < end ? [closeTime(interval, columns.openTime[end - 1] as number)] : [],
      ),
    );
    this.#moments = joined.openTime.subarray(0, rowAt(joined.openTime, ends + 1));
    this.markets = bound.map((market) => ({ ...market, leg: undefined, standing: undefined, mark: undefined }));
    const { strategy } = hosted;
    this.#schedule = hasList(strategy) ? scheduleOf(strategy.rebalance) : undefined;
    const now = bound.map(({ role, symbol }) => {
      const price = isAskedAhead ? { price: () => this.#priceOf(symbol) } : {};
      const own = { symbol, rows: joined.markets[role] as MarketRows };
      return new MarketAt(own, this.#at, (klines) => portfolio.holding(hosted.id, symbol, { ...price, klines }));
    });
    this.#decider = new MarketsDecider(hosted.strategy as SeveralMarkets, hosted.params, bound, now);
    this.#columns = this.#decider.indicators.map(({ indicator }) => wholeColumn(indicator, joined, hosted.interval));
    this.#prices = new Map(series.map((one) => [one.symbol, new PriceAt(one)]));
    // Klines before the first row of the run warm up.
    const symbols = new Set(bound.map(({ symbol }) => symbol));
    const traded = series.filter(({ symbol, first, end }) => symbols.has(symbol) && first < end);
    const begins = Math.min(...traded.map(({ columns, first }) => columns.openTime[first] as number));
    this.#next = 0;
    while (this.#next < this.#moments.length && (this.#moments[this.#next] as number) <= begins) this.#next++;
    this.#asked = this.#askedFrom(this.#next);
  }

  #priceOf(symbol: string): number | undefined {
    return this.#prices.get(symbol)?.at(this.#time);
  }

  /** Whether it has to be looked at by `at`, UTC ms: it is asked, or its orders have to be planned again. */
  isDue(at: number): boolean {
    return (this.#moments[this.quiet ? this.#asked : this.#next] ?? Number.POSITIVE_INFINITY) <= at;
  }

  /**
   * When it has to be looked at next, UTC ms. While nothing has to be planned, it is asked ahead at the moments up to `to`, until it says
   * something else: until then nothing may happen to its positions.
   */
  nextAt(to: number): number {
    if (!this.quiet) return this.nextMoment;
    const moments = this.#moments;
    while (this.#asked < moments.length && this.#answerAt !== this.#asked && (moments[this.#asked] as number) <= to) {
      const said = this.#ask(this.#asked);
      if (said !== undefined && this.#isNew(said)) {
        this.#answerAt = this.#asked;
        this.#answer = said;
      } else this.#asked = this.#askedFrom(this.#asked + 1);
    }
    return this.#moments[this.#asked] ?? Number.POSITIVE_INFINITY;
  }

  /** UTC ms; infinity after the last. */
  get nextMoment(): number {
    return this.#moments[this.#next] ?? Number.POSITIVE_INFINITY;
  }

  #isNew(said: MarketSignals): boolean {
    for (let at = 0; at < said.count; at++) {
      const index = said.index(at);
      const leg = this.markets[index]?.leg;
      if (leg === undefined || !sameSignal(said.signal(index) as Leg['signal'], leg.signal)) return true;
    }
    return false;
  }

  reads(symbol: string): boolean {
    return this.markets.some((one) => one.symbol === symbol);
  }

  /**
   * Of its signals at the moment `at`, new ones and those that stand, the legs about which something may be left to do; undefined where there is none.
   * Of several markets there are at least two: a decision on one has another place in its lane. `now`: when its klines are known, UTC ms.
   */
  decide(at: number, planner: Planner, now = at): Decision | undefined {
    const { id: strategy } = this.hosted;
    this.#takeSignals(at, now);
    const { memory } = this.#decider;
    const legs: Leg[] = [];
    let settled: Leg | undefined;
    for (const market of this.#signalled) {
      const leg = market.leg as Leg;
      // A signal that stands is said again now.
      const noted =
        memory === undefined && leg.at === now ? leg : { ...leg, at: now, ...(memory !== undefined && { memory }) };
      if (this.#isDone(market, noted, planner)) settled ??= noted;
      else legs.push(noted);
    }
    const [first, ...others] = legs;
    if (first === undefined) return undefined;
    if (others.length === 0 && settled !== undefined) others.push(settled);
    return { strategy, at: now, legs: [first, ...others] };
  }

  /** Takes the signals of the moment `at` as its last ones. */
  #takeSignals(at: number, now: number): void {
    const { id: strategy } = this.hosted;
    const said = this.#advance(at);
    if (said === undefined) return;
    for (let place = 0; place < said.count; place++) {
      const index = said.index(place);
      const market = this.markets[index] as Market;
      const { role, symbol } = market;
      if (market.leg === undefined) this.#signalled.push(market);
      market.leg = { strategy, role, symbol, at: now, signal: said.signal(index) as Leg['signal'] };
    }
  }

  /** Nothing is left to do about a leg, and no order of it works. */
  #isDone(market: Market, leg: Leg, planner: Planner): boolean {
    market.standing ??= planner.at(leg.strategy, leg.symbol);
    const { standing } = market;
    if (standing === undefined || standing.subAccount.orders.length > 0) return false;
    market.mark ??= this.#portfolio.lastMark(leg.symbol);
    return planner.repeats(standing, leg, market.mark?.price);
  }

  /** Nothing is left to do about any of its legs. */
  isSettled(planner: Planner): boolean {
    for (const market of this.#signalled) {
      market.standing ??= planner.at(this.hosted.id, market.symbol);
      market.mark ??= this.#portfolio.lastMark(market.symbol);
      const { standing, mark } = market;
      if (standing === undefined || !planner.isSettled(standing, mark?.price)) return false;
    }
    return true;
  }

  /** Goes to the moment `at`; its new signals there. The moments before it are passed over. */
  #advance(at: number): MarketSignals | undefined {
    while ((this.#moments[this.#next] ?? Number.POSITIVE_INFINITY) < at) this.#next++;
    const moment = this.#next;
    if (this.#moments[moment] !== at) return undefined;
    this.#next++;
    if (moment < this.#asked) return undefined;
    this.#asked = this.#askedFrom(this.#next);
    return moment === this.#answerAt ? this.#answer : this.#ask(moment);
  }

  #ask(moment: number): MarketSignals | undefined {
    const { latest } = this.#decider;
    for (let index = 0; index < this.#columns.length; index++)
      latest[index] = (this.#columns[index] as Float64Array)[moment] as number;
    this.#at.moment = moment;
    const { id } = this.hosted;
    const time = this.#moments[moment] as number;
    this.#time = time;
    try {
      return this.#decider.ask(time, this.#portfolio.poolEquity(id, this.#lastPrice));
    } catch (error) {
      throw withStrategy(error, { id, openTime: time });
    }
  }

  /** The first moment from one on at which it is asked: the first that is not before the next time of its schedule. */
  #askedFrom(moment: number): number {
    const now = this.#moments[moment];
    if (this.#schedule === undefined || now === undefined) return moment;
    return rowAt(this.#moments, dueAfter(this.#schedule, this.#moments[moment - 1], now));
  }
}
