/** What `backtest()` is given of markets: their symbols, intervals and klines. */
import type { Interval } from '../domain/interval.ts';
import { type Columns, columnsBy } from '../domain/market.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import { hasList, hasRoles, hasSeveralMarkets, type Strategy } from '../strategy/contract.ts';
import type { AnyBacktestOptions, BacktestOptions, KlineRow, Klines } from './options.ts';

/** What a configuration says of markets, and the klines that no file has. */
export interface CodeMarkets {
  /** Keys of the strategy. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Klines files by symbol. */
  readonly files: Readonly<Record<string, string>>;
  readonly klines: ReadonlyMap<string, Columns>;
  readonly symbols: readonly string[];
}

/** Klines, with their symbol and interval where they contain them. */
interface Read {
  readonly symbol: string | undefined;
  readonly interval: Interval | undefined;
  readonly file?: string;
  readonly columns?: Columns;
}

/** The markets of a strategy. Throws a `Refusal` for klines that are none, or of none of its markets. */
export function marketsGiven(options: AnyBacktestOptions): CodeMarkets {
  const strategy = options.strategy as Strategy;
  if (hasSeveralMarkets(strategy) && (options as BacktestOptions).instrument !== undefined)
    throw new Refusal(`instrument: ${strategy.name} has several markets: say instruments: { SYMBOL: … }`);
  if (hasRoles(strategy)) return rolesGiven(options, strategy.name, Object.keys(strategy.markets as object));
  if (hasList(strategy)) return listGiven(options, strategy.name);
  const { data, symbol: named, interval: own, markets, symbols } = options as BacktestOptions & Several;
  if (typeof data === 'object' && data !== null && !(Symbol.iterator in data) && !names.some((one) => one in data))
    throw new Refusal(`data: ${strategy.name} has one market: give its klines alone`);
  const read = data === undefined ? none : klinesIn(data as Klines, 'data');
  const symbol = named ?? read.symbol;
  const interval = own ?? read.interval;
  return { own: { symbol, interval, markets, symbols }, ...sourcesOf([[symbol, read]]) };
}

type Several = { readonly markets?: unknown; readonly symbols?: unknown };
const none: Read = { symbol: undefined, interval: undefined };

/** A market by its role, as options have it. */
type Bound = Readonly<Record<string, { readonly symbol?: string; readonly interval?: Interval } | undefined>>;

function rolesGiven(options: AnyBacktestOptions, name: string, roles: readonly string[]): CodeMarkets {
  const { symbol, symbols, interval } = options as BacktestOptions & Several;
  const { markets } = options as { readonly markets?: Bound };
  const read = byName(
    options.data,
    `${name} has several markets: give klines by role, data: { ${roles.join(': …, ')}: … }`,
  );
  const unknown = [...read.keys()].find((role) => !roles.includes(role));
  if (unknown !== undefined)
    throw new Refusal(
      `data.${unknown}: is not a market of ${name}${didYouMean(unknown, roles)}; it has ${roles.join(', ')}`,
    );
  const bound: Record<string, object | undefined> = { ...markets };
  const sources: [string | undefined, Read][] = [];
  for (const [role, klines] of read) {
    const own = {
      symbol: klines.symbol,
      interval: interval === undefined ? klines.interval : undefined,
      ...markets?.[role],
    };
    const other = sources.findIndex(([known]) => known !== undefined && known === own.symbol);
    if (other >= 0)
      throw new Refusal(
        `data.${role}: its klines are of ${own.symbol}, as those of ${[...read.keys()][other]} are: give them another symbol, such as klines({ symbol: 'ETHUSDT', … }); a role that reads the market of another has none of its own`,
      );
    sources.push([own.symbol, klines]);
    bound[role] = defined(own);
  }
  const first = [...read.values()][0]?.interval;
  return {
    own: { symbol, symbols, markets: symbol === undefined ? bound : markets, interval: interval ?? first },
    ...sourcesOf(sources),
  };
}

function listGiven(options: AnyBacktestOptions, name: string): CodeMarkets {
  const { symbol, markets, symbols, interval } = options as BacktestOptions & Several;
  const read = byName(
    options.data,
    `${name} chooses among symbols: give klines by symbol, data: { BTCUSDT: …, ETHUSDT: … }`,
  );
  const isAlone = symbol === undefined && markets === undefined;
  const listed = (symbols ?? (isAlone && read.size > 0 ? [...read.keys()] : undefined)) as
    | readonly string[]
    | undefined;
  if (listed === undefined && isAlone)
    throw new Refusal(
      `symbols: is missing: ${name} chooses among a list: say symbols: ['BTCUSDT', 'ETHUSDT'], or give data`,
    );
  const unknown = Array.isArray(listed) ? [...read.keys()].find((one) => !listed.includes(one)) : undefined;
  if (unknown !== undefined)
    throw new Refusal(`data.${unknown}: is not in symbols${didYouMean(unknown, listed ?? [])}`);
  const first = [...read.values()][0]?.interval;
  return { own: { symbol, markets, symbols: listed, interval: interval ?? first }, ...sourcesOf([...read]) };
}

/** Klines by role or symbol; `otherwise`: what to do where they are those of one market. */
function byName(data: unknown, otherwise: string): ReadonlyMap<string, Read> {
  if (data === undefined) return new Map();
  if (typeof data !== 'object' || data === null || Symbol.iterator in data || 'openTime' in data)
    throw new Refusal(`data: ${otherwise}`);
  return new Map(Object.entries(data).map(([name, klines]) => [name, klinesIn(klines as Klines, `data.${name}`)]));
}

function sourcesOf(read: readonly (readonly [string | undefined, Read])[]): Omit<CodeMarkets, 'own'> {
  const known = read.flatMap(([symbol, one]) => (symbol === undefined ? [] : [[symbol, one] as const]));
  return {
    files: Object.fromEntries(known.flatMap(([symbol, { file }]) => (file === undefined ? [] : [[symbol, file]]))),
    klines: new Map(known.flatMap(([symbol, { columns }]) => (columns === undefined ? [] : [[symbol, columns]]))),
    symbols: known.map(([symbol]) => symbol),
  };
}

const defined = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

function klinesIn(data: Klines, name: string): Read {
  if (typeof data === 'string') return { ...none, file: data };
  if (typeof data !== 'object' || data === null)
    throw new Refusal(`${name} is ${String(data)}: give the path of a file, klines, or columns of klines`);
  if (!(Symbol.iterator in data)) return { ...none, columns: columnsIn(name, (column) => data[column]) };
  const rows: readonly KlineRow[] = [...data];
  const [first] = rows;
  return {
    symbol: first?.symbol,
    interval: first?.interval,
    columns: columnsIn(name, (column) => rows.map((row) => row[column])),
  };
}

const names = ['openTime', 'open', 'high', 'low', 'close', 'volume'] as const satisfies readonly (keyof Columns)[];

/** Throws a `Refusal` where a column is missing; `data` is how the message calls them. */
const columnsIn = (data: string, valuesOf: (column: keyof Columns) => ArrayLike<number> | undefined): Columns =>
  columnsBy((name) => {
    const values = valuesOf(name);
    if (values === undefined) throw new Refusal(`${data} has no ${name}: pass klines, or columns of klines`);
    return values instanceof Float64Array ? values : Float64Array.from(values);
  });
