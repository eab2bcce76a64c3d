/** Why a strategy was never asked during a run. */
import type { Columns } from '../../domain/market.ts';
import { hasList, hasRoles, hasSeveralMarkets, isDeciding } from '../../strategy/contract.ts';
import { wholeColumn } from '../../strategy/indicator.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import type { MarketRows } from '../../strategy/markets/joined-klines.ts';
import { marketIndicators } from '../../strategy/markets/several-markets.ts';
import { namedIndicators } from '../../strategy/named-indicators.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { joinedOf } from '../engine/joined-series.ts';
import type { RunSeries } from '../run.ts';

type Asked = Pick<NamedHosted, 'symbol' | 'strategy' | 'params' | 'interval' | 'markets'>;
type Series = Pick<RunSeries, 'symbol' | 'columns' | 'interval' | 'first' | 'end'>;

/** A sentence on why `decide` or `choose` was called at no kline; undefined where it was called, and for streaming strategies. */
export function neverCalledText(hosted: Asked, all: readonly Series[]): string | undefined {
  if (hasSeveralMarkets(hosted.strategy)) return neverCalledOfSeveral(hosted, all);
  const series = all.find(({ symbol }) => symbol === hosted.symbol);
  const { strategy, params, interval } = hosted;
  if (series === undefined || !isDeciding(strategy)) return undefined;
  const indicators = namedIndicators(strategy.indicators(params));
  const { columns, from: begins, to } = closedIn(series, interval);
  const from = Math.max(begins, (strategy.warmup?.(params) ?? 0) - 1);
  const values = indicators.map(({ name, indicator }) => ({ name, column: wholeColumn(indicator, columns, interval) }));
  return whyNever(values, 'kline', (test) => {
    for (let row = from; row < to; row++) if (test(row)) return true;
    return false;
  });
}

interface NamedColumn {
  readonly name: string;
  readonly column: Float64Array;
}

/** `isAny` says whether something is true at any row at which it could have been called. */
function whyNever(
  values: readonly NamedColumn[],
  unit: 'kline' | 'moment',
  isAny: (test: (row: number) => boolean) => boolean,
): string | undefined {
  if (isAny((row) => values.every(({ column }) => !Number.isNaN(column[row])))) return undefined;
  const empty = values.filter(({ column }) => !isAny((row) => !Number.isNaN(column[row]))).map(({ name }) => name);
  return empty.length === 0
    ? `decide was never called: its indicators never all had a value at the same ${unit}`
    : `decide was never called: its ${empty.length === 1 ? 'indicator' : 'indicators'} ${empty.join(' and ')} had no value at any ${unit} of the run`;
}

function neverCalledOfSeveral({ strategy, params, markets = [] }: Asked, all: readonly Series[]): string | undefined {
  if (!hasSeveralMarkets(strategy) || (hasRoles(strategy) && strategy.allowMissing === true)) return undefined;
  const joined = joinedOf(markets, all);
  const roles = markets.map(({ role }) => role);
  const columns = marketIndicators(strategy, params, roles).map(({ name, indicator }) => ({
    ...{ name, market: indicator.market },
    column: wholeColumn(indicator, joined, markets[0]?.interval ?? '1min'),
  }));
  const begins = Math.min(
    ...all.map(({ columns: { openTime }, first }) => openTime[first] ?? Number.POSITIVE_INFINITY),
  );
  const isAny = (test: (row: number) => boolean): boolean => {
    for (let row = 0; row < joined.openTime.length; row++)
      if ((joined.openTime[row] as number) > begins && test(row)) return true;
    return false;
  };
  const isThere = (role: string, row: number): boolean =>
    ((joined.markets[role] as MarketRows).rowAt[row] as number) >= 0;
  if (hasList(strategy)) {
    const isWarm = (role: string, row: number): boolean =>
      isThere(role, row) && columns.every(({ market, column }) => market !== role || !Number.isNaN(column[row]));
    return isAny((row) => roles.some((role) => isWarm(role, row)))
      ? undefined
      : 'choose was never called: no market had a value of each indicator at any moment of the run';
  }
  return isAny((row) => roles.every((role) => isThere(role, row)))
    ? whyNever(columns, 'moment', (test) => isAny((row) => roles.every((role) => isThere(role, row)) && test(row)))
    : `decide was never called: its markets ${roles.join(' and ')} never all had a kline at the same moment`;
}

/** The klines of a strategy's interval, and the rows of those that closed during the run. */
function closedIn(
  { columns, interval, first, end }: Series,
  of: NamedHosted['interval'],
): { readonly columns: Columns; readonly from: number; readonly to: number } {
  if (interval === of) return { columns, from: first, to: end };
  const { columns: larger, knownAt } = aggregate(interval, of, columns);
  const before = (row: number): number => knownAt.filter((known) => known < row).length;
  return { columns: larger, from: before(first), to: before(end) };
}
