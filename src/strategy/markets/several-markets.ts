/** Asks a strategy of several markets at one moment, in the same way live and over recorded klines. */
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import type { Memory } from '../../domain/memory.ts';
import type { Signal } from '../../domain/order.ts';
import {
  type Holding,
  hasRoles,
  type ListMarket,
  type MarketUse,
  type SeveralMarkets,
  type Weights,
} from '../contract.ts';
import { SignalError } from '../fault.ts';
import type { Indicator } from '../indicator.ts';
import { memoryOf, refuseUndeclared, type StrategyMemory } from '../memory.ts';
import { type Indicators, mapIndicators, type NamedIndicator, namedIndicators } from '../named-indicators.ts';
import type { Params, ParamValues } from '../params.ts';
import { refusePromise } from '../signals.ts';
import { type Getter, source, type Values, valuesOf } from '../values.ts';
import { of } from './joined-klines.ts';
import type { MarketNow } from './market-now.ts';
import { checkedLeg, MarketSignals } from './market-signals.ts';
import { WeightLegs } from './weight-legs.ts';

/** A market that a strategy is bound to. */
export interface BoundMarket {
  readonly role: string;
  readonly symbol: string;
  readonly interval: Interval;
  readonly use: MarketUse;
}

/** A market of a list as `choose` sees it: one object for all moments, whose kline is made only where it is looked at. */
class ListedMarket {
  readonly symbol: string;
  readonly values: Values;
  readonly #now: MarketNow;

  constructor(symbol: string, values: Values, now: MarketNow) {
    this.symbol = symbol;
    this.values = values;
    this.#now = now;
    Object.defineProperties(this, ownViews);
  }

  get kline(): Kline | undefined {
    return this.#now.kline;
  }

  get holding(): Holding {
    return this.#now.holding;
  }
}

const { kline, holding } = Object.getOwnPropertyDescriptors(ListedMarket.prototype);
/** Its own, so that a copy of a market has them. */
const ownViews = { kline: { ...kline, enumerable: true }, holding: { ...holding, enumerable: true } };

/** The roles of a strategy: the symbols of a list are their own. */
export const rolesOf = (strategy: SeveralMarkets): Readonly<Record<string, MarketUse>> | undefined =>
  hasRoles(strategy) ? (strategy.markets as Readonly<Record<string, MarketUse>>) : undefined;

/** Its indicators, each of a market, in an order that stays. */
export const marketIndicators = (
  strategy: SeveralMarkets,
  params: ParamValues<Params>,
  roles: readonly string[],
): readonly NamedIndicator[] =>
  hasRoles(strategy)
    ? namedIndicators(strategy.indicators(params) as Indicators)
    : roles.flatMap((role) =>
        namedIndicators(mapIndicators(strategy.indicators(params) as Indicators, (one: Indicator) => of(role, one))),
      );

export class MarketsDecider {
  readonly indicators: readonly NamedIndicator[];
  /** The values of its indicators at this moment, in their order: whoever asks writes them. */
  readonly latest: Float64Array;
  readonly #strategy: SeveralMarkets;
  readonly #params: ParamValues<Params>;
  readonly #markets: readonly BoundMarket[];
  /** How many of them are of one market of a list. */
  readonly #each: number;
  /** One object for all markets by role, one for each market of a list. */
  readonly #values: readonly Values[];
  readonly #listed: readonly ListedMarket[];
  readonly #now: readonly MarketNow[];
  /** The positions of traded markets by role. */
  readonly #holdings: Readonly<Record<string, Holding>>;
  readonly #memory: StrategyMemory | undefined;
  readonly #said: MarketSignals;
  readonly #legs: WeightLegs;
  /** The indexes of the markets that `choose` is given, and these: they seldom change. */
  #given = new Int32Array();
  #givenMarkets: readonly ListMarket<Indicators>[] = [];

  /**
   * `now` has the markets in their order, each one object for all moments. `memory`: of a strategy that declares one; its initial value if left
   * out.
   */
  constructor(
    strategy: SeveralMarkets,
    params: ParamValues<Params>,
    markets: readonly BoundMarket[],
    now: readonly MarketNow[],
    memory: StrategyMemory | undefined = memoryOf(strategy),
  ) {
    this.#memory = memory;
    this.#strategy = strategy;
    this.#params = params;
    this.#markets = markets;
    this.#now = now;
    this.#holdings = Object.freeze(holdingsOf(markets, now));
    this.#said = new MarketSignals(markets.length);
    this.#legs = new WeightLegs(markets, now);
    const roles = markets.map(({ role }) => role);
    this.indicators = marketIndicators(strategy, params, roles);
    this.latest = new Float64Array(this.indicators.length).fill(Number.NaN);
    const parts = hasRoles(strategy) ? 1 : roles.length;
    const each = this.indicators.length / Math.max(1, parts);
    this.#each = each;
    this.#values = Array.from({ length: parts }, (_, part) =>
      valuesOf(this.indicators.slice(part * each, (part + 1) * each), this.latest.subarray(part * each), getter),
    );
    this.#listed = hasRoles(strategy)
      ? []
      : markets.map(
          ({ symbol }, index) => new ListedMarket(symbol, this.#values[index] as Values, now[index] as MarketNow),
        );
  }

  /**
   * Its signals at a moment (UTC ms), until it is asked again; undefined where it says nothing new or may not decide yet. Throws
   * a `SignalError` for what cannot be carried out.
   */
  ask(time: number, equity: number): MarketSignals | undefined {
    return hasRoles(this.#strategy) ? this.#decide(time, equity) : this.#choose(time, equity);
  }

  /** What it remembers by now; undefined where it declares no memory. */
  get memory(): Memory | undefined {
    return this.#memory?.value;
  }

  #decide(time: number, equity: number): MarketSignals | undefined {
    const strategy = this.#strategy;
    const now = this.#now;
    if (!hasRoles(strategy)) return undefined;
    if (strategy.allowMissing !== true && !(now.every(isThere) && this.#isWarm(0, this.latest.length)))
      return undefined;
    const klines: Record<string, Kline | undefined> = {};
    for (let index = 0; index < now.length; index++)
      klines[(this.#markets[index] as BoundMarket).role] = (now[index] as MarketNow).kline;
    const holdings = this.#holdings;
    const moment = this.#remembering({ time, klines, holdings, equity, params: this.#params });
    const legs = this.#take(strategy.decide(this.#values[0] as never, moment));
    if (legs === undefined || legs === null) return undefined;
    if (typeof legs !== 'object' || 'kind' in legs || Array.isArray(legs))
      throw new SignalError(
        `a strategy of several markets returns its signals by role: { ${this.#traded().join(': …, ')}: … }`,
      );
    const said = this.#said.begin();
    for (const [role, signal] of Object.entries(legs as Readonly<Record<string, Signal | undefined>>)) {
      if (signal === undefined) continue;
      const index = this.#markets.findIndex((one) => one.role === role);
      const market = this.#markets[index];
      if (market?.use !== 'traded')
        throw new SignalError(
          `a signal for ${role}, ${market === undefined ? 'which is none of its markets' : 'which it uses for data alone'}; it trades ${this.#traded().join(', ')}`,
        );
      said.set(index, checkedLeg(role, signal, market.interval));
    }
    return said;
  }

  #choose(time: number, equity: number): MarketSignals | undefined {
    const strategy = this.#strategy;
    if (hasRoles(strategy)) return undefined;
    this.#give();
    if (this.#given.length === 0) return undefined;
    const markets = this.#givenMarkets.slice();
    const moment = this.#remembering({ time, equity, params: this.#params });
    const chosen = this.#take(strategy.choose(markets, moment));
    if (chosen === undefined || chosen === null) return undefined;
    return this.#legs.of(chosen as Weights, this.#given, equity);
  }

  /** Gives `choose` the markets that have a kline now and are warm. */
  #give(): void {
    const given = this.#given;
    let count = 0;
    let isSame = true;
    for (let index = 0; index < this.#listed.length; index++) {
      if (!this.#isGiven(index)) continue;
      if (given[count] !== index) isSame = false;
      count++;
    }
    if (isSame && count === given.length) return;
    this.#given = Int32Array.from(this.#listed.keys()).filter((index) => this.#isGiven(index));
    this.#givenMarkets = Array.from(this.#given, (index) => this.#listed[index] as ListMarket<Indicators>);
  }

  #isGiven(index: number): boolean {
    const from = index * this.#each;
    return isThere(this.#now[index] as MarketNow) && this.#isWarm(from, from + this.#each);
  }

  /** Whether each indicator of a range has a value. */
  #isWarm(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (Number.isNaN(this.latest[at])) return false;
    return true;
  }

  #remembering<T extends object>(moment: T): T {
    return this.#memory === undefined ? moment : { ...moment, memory: this.#memory.value };
  }

  #take(returned: unknown): unknown {
    // A market may have that name.
    if (this.#memory === undefined && !this.#markets.some(({ role }) => role === 'memory')) refuseUndeclared(returned);
    const taken = this.#memory === undefined ? returned : this.#memory.take(returned);
    refusePromise(taken);
    return taken;
  }

  #traded(): readonly string[] {
    return this.#markets.filter(({ use }) => use === 'traded').map(({ role }) => role);
  }
}

const holdingsOf = (markets: readonly BoundMarket[], now: readonly MarketNow[]): Readonly<Record<string, Holding>> =>
  Object.fromEntries(
    markets.flatMap(({ role, use }, index) =>
      use === 'traded' ? [[role, (now[index] as MarketNow).holding] as const] : [],
    ),
  );

const isThere = (market: MarketNow): boolean => market.isThere ?? market.kline !== undefined;

const getters: Getter<Float64Array>[] = [];
const getter = (index: number): Getter<Float64Array> =>
  (getters[index] ??= function () {
    return this[source][index] as number;
  });
