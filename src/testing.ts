/**
 * What unit tests of a strategy import: `import { decide, klines } from 'sluice/testing'`. Klines are made by a sentence, and `decide` is called
 * over them with the values that its indicators really have. The same klines are `data` for `backtest`.
 */
import { closesSince, closeTime, type Interval, isInterval, unknownInterval } from './domain/interval.ts';
import type { Kline } from './domain/market.ts';
import type { Memory } from './domain/memory.ts';
import type { Signal } from './domain/order.ts';
import { didYouMean, Refusal } from './domain/refusal.ts';
import {
  type DecidingStrategy,
  type Holding,
  hasList,
  hasRoles,
  hasSeveralMarkets,
  isDeciding,
  type Legs,
  type ListStrategy,
  type MarketsStrategy,
  type MarketUse,
  type Strategy,
  type Weights,
} from './strategy/contract.ts';
import { decider } from './strategy/host.ts';
import { decideOnce } from './strategy/markets/decide-once.ts';
import { memoryOf, type StrategyMemory } from './strategy/memory.ts';
import type { Indicators } from './strategy/named-indicators.ts';
import { type Params, type ParamValues, readParams } from './strategy/params.ts';

export interface KlinesOptions {
  readonly interval: Interval;
  /** The price at which the first kline opens, in quote. */
  readonly from: number;
  /** How far a kline of `rise` and `fall` moves, in quote; a hundredth of `from` when left out. */
  readonly step?: number;
  /** When the first kline opens: `2024-01-01` (UTC) when left out. A time needs its zone, such as `2024-01-01T08:00Z`. */
  readonly start?: string | Date;
  /** `BTCUSDT` when left out. */
  readonly symbol?: string;
  /** Of each kline, in base; about 1,000 when left out. */
  readonly volume?: number;
  /** Decimals to which prices are rounded; 2 when left out. */
  readonly decimals?: number;
}

/** A series of klines that grows: each opens at the close of the one before. */
export interface Klines extends Iterable<Kline> {
  readonly length: number;
  /** The last close, or the opening price of a series without klines. */
  readonly price: number;
  /** So many klines, each a step above the one before; `to`: so that the last closes there. */
  rise(count: number, to?: number): Klines;
  /** So many klines, each a step below the one before; `to`: so that the last closes there. */
  fall(count: number, to?: number): Klines;
  /** So many klines at the same price. */
  flat(count: number): Klines;
  /** One kline with these prices; those left out follow from the others. */
  kline(prices: Partial<Pick<Kline, 'open' | 'high' | 'low' | 'close' | 'volume'>>): Klines;
  /** So many klines are missing. */
  gap(count: number): Klines;
}

/** An empty series. Every sentence leaves the series before it as it was. Throws a RangeError for what is no price, count or interval. */
export function klines(options: KlinesOptions): Klines {
  onlyKeys('klines()', options, ['interval', 'from', 'step', 'start', 'symbol', 'volume', 'decimals']);
  const { interval, from, step = from / 100, start = '2024-01-01' } = options;
  if (!isInterval(interval)) throw new RangeError(unknownInterval(interval));
  for (const [name, value] of Object.entries({ from, step }))
    if (!(value > 0)) throw new RangeError(`${name} must be a price above 0, not ${value}`);
  const openTime = new Date(start).getTime();
  if (Number.isNaN(openTime)) throw new RangeError(`start must be a date such as 2024-01-01, not ${String(start)}`);
  return new Series({ ...options, step }, [], openTime);
}

/** So small a change keeps equal klines from looking like a feed that stood still. */
const volumes = [1000, 1001, 1002, 1003, 1004, 1005, 1006];

class Series implements Klines {
  readonly #options: KlinesOptions & { readonly step: number };
  readonly #rows: readonly Kline[];
  /** When the next kline opens. */
  readonly #next: number;

  constructor(options: KlinesOptions & { readonly step: number }, rows: readonly Kline[], next: number) {
    this.#options = options;
    this.#rows = rows;
    this.#next = next;
  }

  [Symbol.iterator](): Iterator<Kline> {
    return this.#rows.values();
  }
  get length(): number {
    return this.#rows.length;
  }
  get price(): number {
    return this.#rows.at(-1)?.close ?? this.#options.from;
  }
  rise(count: number, to?: number): Klines {
    return this.#move(count, to ?? this.price + count * this.#options.step);
  }
  fall(count: number, to?: number): Klines {
    return this.#move(count, to ?? this.price - count * this.#options.step);
  }
  flat(count: number): Klines {
    return this.#move(count, this.price);
  }
  kline(prices: Parameters<Klines['kline']>[0]): Klines {
    onlyKeys('kline()', prices, ['open', 'high', 'low', 'close', 'volume']);
    return this.#with([prices]);
  }
  gap(count: number): Klines {
    let next = this.#next;
    for (let left = whole(count); left > 0; left--) next = closeTime(this.#options.interval, next);
    return new Series(this.#options, this.#rows, next);
  }

  /** In equal steps. */
  #move(count: number, to: number): Klines {
    const { price } = this;
    return this.#with(
      Array.from({ length: whole(count) }, (_, index) => ({ close: price + ((to - price) * (index + 1)) / count })),
    );
  }

  #with(added: readonly Parameters<Klines['kline']>[0][]): Klines {
    const { interval, symbol = 'BTCUSDT', decimals = 2, volume } = this.#options;
    const rows = [...this.#rows];
    let [openTime, before] = [this.#next, this.price];
    for (const given of added) {
      const open = rounded(given.open ?? before, decimals);
      const close = rounded(given.close ?? open, decimals);
      const high = rounded(given.high ?? Math.max(open, close), decimals);
      const low = rounded(given.low ?? Math.min(open, close), decimals);
      if (!(low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close)))
        throw new RangeError(`no market makes the kline open ${open}, high ${high}, low ${low}, close ${close}`);
      const seenAt = closeTime(interval, openTime);
      const traded = given.volume ?? volume ?? (volumes[rows.length % volumes.length] as number);
      rows.push({ symbol, interval, openTime, open, high, low, close, volume: traded, seenAt });
      [openTime, before] = [seenAt, close];
    }
    return new Series(this.#options, rows, openTime);
  }
}

const rounded = (price: number, decimals: number): number => Math.round(price * 10 ** decimals) / 10 ** decimals;

function whole(count: number): number {
  if (!Number.isInteger(count) || count < 0)
    throw new RangeError(`a count of klines must be a whole number, not ${count}`);
  return count;
}

/** Tests are often not type-checked: what is misspelt would test something else. */
function onlyKeys(whose: string, given: object | undefined, known: readonly string[]): void {
  const unknown = Object.keys(given ?? {}).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new RangeError(`${whose} has no ${unknown}${didYouMean(unknown, known)}; it has ${known.join(', ')}`);
}

export interface DecideOptions<P extends Params> {
  /** Values of its parameters; their defaults where they are left out. */
  readonly params?: Partial<ParamValues<P>>;
  /** What it holds, as `holding` takes it. */
  readonly holding?: Partial<Holding>;
}

/** For a strategy of several markets. */
export interface DecideMarketsOptions<P extends Params> extends Pick<DecideOptions<P>, 'params'> {
  /** What it holds by role, or by symbol for a strategy that chooses: nothing where it is left out. */
  readonly holdings?: Readonly<Record<string, Partial<Holding>>>;
  /** Of all its markets together, in quote; 10,000 when left out. */
  readonly equity?: number;
}

/** For a strategy with a memory. */
interface WithMemory<S> {
  /** Keys of it; those that are left out have their initial value. */
  readonly memory?: Partial<S>;
}

/** The options of a strategy, and its answer with what it remembers from then on. */
type Remembering<Options, S, Beside extends string, T> = [
  options: Options & WithMemory<S>,
  answer: { readonly memory: S } & { readonly [Key in Beside]: T | undefined },
];

/**
 * What the strategy says at the last of these klines: its indicators have seen all of them, and `decide` is called once. Undefined where it
 * says nothing, or is not warm yet. Throws for parameters that are refused, and what the strategy throws.
 *
 * A strategy of several markets takes klines by role, and one that chooses takes them by symbol. `choose` is called at the last close of any
 * of them, whatever `rebalance` says.
 *
 * For a strategy with a memory it gives that, too: `{ signal, memory }`, `{ legs, memory }` or `{ weights, memory }`.
 */
export function decide<P extends Params>(
  strategy: DecidingStrategy<P, Indicators>,
  klines: Iterable<Kline>,
  options?: DecideOptions<P>,
): Signal | undefined;
export function decide<P extends Params, M extends Readonly<Record<string, MarketUse>>>(
  strategy: MarketsStrategy<P, M, Indicators>,
  klines: { readonly [Role in keyof M]: Iterable<Kline> },
  options?: DecideMarketsOptions<P>,
): Legs<M> | undefined;
export function decide<P extends Params>(
  strategy: ListStrategy<P, Indicators>,
  klines: Readonly<Record<string, Iterable<Kline>>>,
  options?: DecideMarketsOptions<P>,
): Weights | undefined;
export function decide<P extends Params, S extends Memory>(
  strategy: DecidingStrategy<P, Indicators, S>,
  klines: Iterable<Kline>,
  options?: Remembering<DecideOptions<P>, S, 'signal', Signal>[0],
): Remembering<unknown, S, 'signal', Signal>[1];
export function decide<P extends Params, M extends Readonly<Record<string, MarketUse>>, S extends Memory>(
  strategy: MarketsStrategy<P, M, Indicators, S>,
  klines: { readonly [Role in keyof M]: Iterable<Kline> },
  options?: Remembering<DecideMarketsOptions<P>, S, 'legs', Legs<M>>[0],
): Remembering<unknown, S, 'legs', Legs<M>>[1];
export function decide<P extends Params, S extends Memory>(
  strategy: ListStrategy<P, Indicators, S>,
  klines: Readonly<Record<string, Iterable<Kline>>>,
  options?: Remembering<DecideMarketsOptions<P>, S, 'weights', Weights>[0],
): Remembering<unknown, S, 'weights', Weights>[1];
export function decide<P extends Params>(
  strategy: Strategy,
  klines: Iterable<Kline> | Readonly<Record<string, Iterable<Kline>>>,
  options: DecideOptions<P> & DecideMarketsOptions<P> & WithMemory<Memory> = {},
): unknown {
  const { memory: declared } = strategy as { readonly memory?: Memory };
  const own = hasSeveralMarkets(strategy) ? ['params', 'holdings', 'equity'] : ['params', 'holding'];
  onlyKeys('decide()', options, declared === undefined ? own : [...own, 'memory']);
  if (declared === undefined) return said(strategy, klines, options, undefined);
  onlyKeys('memory of decide()', options.memory, Object.keys(declared));
  const memory = memoryOf(strategy, { ...declared, ...options.memory } as Memory);
  const beside = hasList(strategy) ? 'weights' : hasRoles(strategy) ? 'legs' : 'signal';
  return { [beside]: said(strategy, klines, options, memory), memory: memory?.value };
}

/** What it says beside its memory. */
function said<P extends Params>(
  strategy: Strategy,
  klines: Iterable<Kline> | Readonly<Record<string, Iterable<Kline>>>,
  options: DecideOptions<P> & DecideMarketsOptions<P>,
  memory: StrategyMemory | undefined,
): unknown {
  const params = paramsOf(strategy, options.params);
  if (hasSeveralMarkets(strategy)) {
    const { holdings = {}, equity = 10_000 } = options;
    const byRole = Object.fromEntries(
      Object.entries(klines).map(([role, rows]) => [role, [...(rows as Iterable<Kline>)]] as const),
    );
    const traded = Object.keys(byRole).filter((role) => !hasRoles(strategy) || strategy.markets[role] === 'traded');
    onlyKeys('holdings of decide()', holdings, traded);
    const holdingOf = (role: string): Holding => holding({ equity, ...holdings[role] }, byRole[role]);
    return decideOnce({ strategy, params, klines: byRole, holdingOf, equity, memory });
  }
  if (!isDeciding(strategy))
    throw new RangeError(`decide() asks strategies that have decide(), and ${strategy.name} has streams`);
  const rows = [...(klines as Iterable<Kline>)];
  const last = rows.pop();
  if (last === undefined) throw new RangeError('decide() needs klines: there are none');
  const step = decider(strategy, params, last.interval, holding(options.holding, [...rows, last]), memory);
  for (const row of rows) step(row, false);
  return step(last, true);
}

/**
 * A holding to test with: nothing, and an equity of 10,000, unless `given` says otherwise. What it leaves out of a position follows from its
 * `quantity`, `entryPrice` and `entryTime` at the last of these klines.
 */
export function holding(given: Partial<Holding> = {}, klines: Iterable<Kline> = []): Holding {
  const { quantity = 0, entryPrice = Number.NaN, entryTime = Number.NaN } = given;
  const none = { equity: 10_000, klinesHeld: 0, best: Number.NaN, worst: Number.NaN, profit: 0, realisedNet: 0 };
  const own = { quantity, entryPrice, entryTime, ...none, lastExit: undefined };
  onlyKeys('a holding', given, Object.keys(own));
  if (quantity === 0) return { ...own, ...given };
  let [top, bottom, profit, klinesHeld] = [entryPrice, entryPrice, 0, 0];
  for (const { interval, openTime, high, low, close } of klines) {
    const closedAt = closeTime(interval, openTime);
    profit = quantity * (close - entryPrice);
    if (!(closedAt > entryTime)) continue;
    top = Math.max(top, high);
    bottom = Math.min(bottom, low);
    klinesHeld = closesSince(interval, entryTime, closedAt);
  }
  const [best, worst] = quantity > 0 ? [top, bottom] : [bottom, top];
  return { ...own, klinesHeld, best, worst, profit: Number.isNaN(profit) ? 0 : profit, ...given };
}

/** Throws a `Refusal` that names what a run would refuse. */
function paramsOf<P extends Params>(
  strategy: Pick<Strategy, 'name' | 'check'> & { readonly params: P },
  given: Partial<ParamValues<P>> = {},
): ParamValues<P> {
  const { values, problems } = readParams(strategy.params, given);
  const [first] = problems;
  const fault = first === undefined ? strategy.check?.(values) : `${first.name}: ${first.problem}`;
  if (fault !== undefined) throw new Refusal(`strategy ${strategy.name}: params: ${fault}`);
  return values;
}
