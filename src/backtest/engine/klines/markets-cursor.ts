/** A strategy of several markets, over their series side by side. */
import { rowAt } from '../../../data/klines.ts';
import { closeTime } from '../../../domain/interval.ts';
import { type Decision, type Leg, type Signal, sameSignal } from '../../../domain/order.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import { isUniverse, type SeveralMarkets } from '../../../strategy/contract.ts';
import { withStrategy } from '../../../strategy/fault.ts';
import type { HostedMarket } from '../../../strategy/host.ts';
import { wholeColumn } from '../../../strategy/indicator.ts';
import type { MarketRows } from '../../../strategy/joined-klines.ts';
import { dueAfter, type Schedule, scheduleOf } from '../../../strategy/schedule.ts';
import { type MarketNow, MarketsDecider } from '../../../strategy/several-markets.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { RunSeries } from '../../run.ts';
import { joinedOf } from '../joined-series.ts';
import { HeldColumns } from './held-columns.ts';
import { KlineCursor } from './kline-cursor.ts';

interface Market extends HostedMarket {
  readonly rows: MarketRows;
  readonly cursor: KlineCursor;
}

/** A market at the moment that the cursor is at; its kline is made only where it is looked at. */
class MarketAt implements MarketNow {
  readonly holding: MarketNow['holding'];
  isThere = false;
  readonly #cursor: KlineCursor;

  constructor(cursor: KlineCursor, holding: MarketNow['holding']) {
    this.#cursor = cursor;
    this.holding = holding;
  }

  get kline(): MarketNow['kline'] {
    return this.isThere ? this.#cursor.kline : undefined;
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
  /** The last signals, by role. */
  readonly legs = new Map<string, Leg>();
  /** Nothing needs to be planned until it emits something else or something happens to its orders. */
  quiet = true;
  readonly #decider: MarketsDecider;
  readonly #columns: readonly Float64Array[];
  readonly #moments: Float64Array;
  readonly #now: readonly MarketAt[];
  readonly #prices: ReadonlyMap<string, PriceAt>;
  readonly #portfolio: Portfolio;
  readonly #schedule: Schedule | undefined;
  readonly #lastPrice = (symbol: string): number | undefined => this.#priceOf(symbol);
  /** The moment that comes next. */
  #next: number;
  /** The next moment at which it is asked. */
  #asked: number;
  /** The moment at which it was asked ahead and says something else, and what; and the moment that prices are of, UTC ms. */
  #answerAt = -1;
  #answer: ReadonlyMap<string, Signal> | undefined;
  #time = Number.NEGATIVE_INFINITY;

  constructor(hosted: NamedHosted, series: readonly RunSeries[], portfolio: Portfolio) {
    this.hosted = hosted;
    this.#portfolio = portfolio;
    const bound = hosted.markets ?? [];
    const joined = joinedOf(bound, series);
    // What closes behind the end of the run is none of its moments.
    const ends = Math.max(
      ...series.flatMap(({ columns, interval, first, end }) =>
        first < end ? [closeTime(interval, columns.openTime[end - 1] as number)] : [],
      ),
    );
    this.#moments = joined.openTime.subarray(0, rowAt(joined.openTime, ends + 1));
    this.markets = bound.map((market) => {
      const rows = joined.markets[market.role] as MarketRows;
      const own = { symbol: market.symbol, interval: rows.interval, columns: rows.columns };
      return {
        ...market,
        rows,
        cursor: new KlineCursor({ ...own, gaps: [], first: 0, end: own.columns.openTime.length }),
      };
    });
    const { strategy } = hosted;
    this.#schedule = isUniverse(strategy) ? scheduleOf(strategy.rebalance) : undefined;
    this.#decider = new MarketsDecider(hosted.strategy as SeveralMarkets, hosted.params, bound);
    this.#columns = this.#decider.indicators.map(({ indicator }) => wholeColumn(indicator, joined, hosted.interval));
    this.#now = this.markets.map(({ symbol, rows, cursor }) => {
      const klines = new HeldColumns(rows.columns, cursor);
      return new MarketAt(cursor, portfolio.holding(hosted.id, symbol, { price: () => this.#priceOf(symbol), klines }));
    });
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
    if (!this.quiet) return this.#moments[this.#next] ?? Number.POSITIVE_INFINITY;
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

  #isNew(said: ReadonlyMap<string, Signal>): boolean {
    for (const [role, signal] of said) {
      const leg = this.legs.get(role);
      if (leg === undefined || !sameSignal(signal, leg.signal)) return true;
    }
    return false;
  }

  reads(symbol: string): boolean {
    return this.markets.some((one) => one.symbol === symbol);
  }

  /** Its signals at the moment `at`, new ones and those that stand; undefined before its first. */
  decide(at: number): Decision | undefined {
    const { id: strategy } = this.hosted;
    for (const [role, signal] of this.#advance(at) ?? []) {
      const { symbol } = this.markets.find((one) => one.role === role) as Market;
      this.legs.set(role, { strategy, role, symbol, at, signal });
    }
    const { memory } = this.#decider;
    const legs = [...this.legs.values()].map((leg) => (memory === undefined ? leg : { ...leg, memory }));
    const [first, ...others] = legs;
    return first === undefined ? undefined : { strategy, at, legs: [first, ...others] };
  }

  /** Goes to the moment `at`; its new signals there. The moments before it are passed over. */
  #advance(at: number): ReadonlyMap<string, Signal> | undefined {
    while ((this.#moments[this.#next] ?? Number.POSITIVE_INFINITY) < at) this.#next++;
    const moment = this.#next;
    if (this.#moments[moment] !== at) return undefined;
    this.#next++;
    if (moment < this.#asked) return undefined;
    this.#asked = this.#askedFrom(this.#next);
    return moment === this.#answerAt ? this.#answer : this.#ask(moment);
  }

  #ask(moment: number): ReadonlyMap<string, Signal> | undefined {
    const { latest } = this.#decider;
    for (let index = 0; index < this.#columns.length; index++)
      latest[index] = (this.#columns[index] as Float64Array)[moment] as number;
    for (let index = 0; index < this.markets.length; index++) {
      const { rows, cursor } = this.markets[index] as Market;
      const row = rows.rowAt[moment] as number;
      // A missing kline leaves the one before the last that was seen.
      if (row >= 0) cursor.row = row;
      (this.#now[index] as MarketAt).isThere = row >= 0;
    }
    const { id } = this.hosted;
    const time = this.#moments[moment] as number;
    this.#time = time;
    try {
      return this.#decider.ask(time, this.#now, this.#portfolio.poolEquity(id, this.#lastPrice));
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
