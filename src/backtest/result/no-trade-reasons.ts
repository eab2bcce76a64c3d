/** Why a run has no fills, as far as signals, orders and indicators show. */
import type { Columns } from '../../domain/market.ts';
import type { Signal } from '../../domain/order.ts';
import { isDeciding } from '../../strategy/contract.ts';
import { wholeColumn } from '../../strategy/indicator.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import { namedIndicators } from '../../strategy/named-indicators.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { RunInput, RunResult, RunSeries } from '../run.ts';

/** A sentence for each strategy that emitted no signal, only flat ones, or LIMIT orders that never filled. */
export function noTradeReasons(
  { hosted, series }: Pick<RunInput, 'hosted' | 'series'>,
  { journal }: Pick<RunResult, 'journal'>,
): readonly string[] {
  const signals = journal().prepare('SELECT DISTINCT strategy, signal FROM signals').all() as {
    strategy: string;
    signal: string;
  }[];
  const limits = journal()
    .prepare("SELECT strategy, count(*) AS orders FROM orders WHERE type = 'LIMIT' GROUP BY strategy")
    .all() as { strategy: string; orders: number }[];
  return hosted.flatMap((one): readonly string[] => {
    const own = signals.filter(({ strategy }) => strategy === one.id);
    if (!own.every(({ signal }) => isFlat(JSON.parse(signal) as Signal))) {
      const orders = limits.find(({ strategy }) => strategy === one.id)?.orders;
      return orders === undefined ? [] : [unfilledText(one.id, orders)];
    }
    if (own.length > 0) return [`${one.id} emitted only flat targets`];
    const traded = series.find(({ symbol }) => symbol === one.symbol);
    const neverCalled = traded === undefined ? undefined : neverCalledText(one, traded);
    return [neverCalled === undefined ? `${one.id} emitted no signal` : `${one.id}: ${neverCalled}`];
  });
}

const unfilledText = (id: string, orders: number): string =>
  orders === 1 ? `the one LIMIT order of ${id} never filled` : `none of the ${orders} LIMIT orders of ${id} filled`;

const isFlat = (signal: Signal): boolean =>
  signal.kind === 'target'
    ? Object.values(signal.size).every((size: number) => size === 0)
    : signal.quotes.length === 0;

/** Why `decide` was called at no kline; undefined where it was called, and for streaming strategies. */
export function neverCalledText(
  { strategy, params, interval }: Pick<NamedHosted, 'strategy' | 'params' | 'interval'>,
  series: Pick<RunSeries, 'columns' | 'interval' | 'first' | 'end'>,
): string | undefined {
  if (!isDeciding(strategy)) return undefined;
  const indicators = namedIndicators(strategy.indicators(params));
  const { columns, from: begins, to } = closedIn(series, interval);
  const from = Math.max(begins, (strategy.warmup?.(params) ?? 0) - 1);
  const values = indicators.map(({ name, indicator }) => ({ name, column: wholeColumn(indicator, columns, interval) }));
  const isAny = (test: (row: number) => boolean): boolean => {
    for (let row = from; row < to; row++) if (test(row)) return true;
    return false;
  };
  if (isAny((row) => values.every(({ column }) => !Number.isNaN(column[row])))) return undefined;
  const empty = values.filter(({ column }) => !isAny((row) => !Number.isNaN(column[row]))).map(({ name }) => name);
  return empty.length === 0
    ? 'decide was never called: its indicators never all had a value at the same kline'
    : `decide was never called: its ${empty.length === 1 ? 'indicator' : 'indicators'} ${empty.join(' and ')} had no value at any kline of the run`;
}

/** The klines of a strategy's interval, and the rows of those that closed during the run. */
function closedIn(
  { columns, interval, first, end }: Pick<RunSeries, 'columns' | 'interval' | 'first' | 'end'>,
  of: NamedHosted['interval'],
): { readonly columns: Columns; readonly from: number; readonly to: number } {
  if (interval === of) return { columns, from: first, to: end };
  const { columns: larger, knownAt } = aggregate(interval, of, columns);
  const before = (row: number): number => knownAt.filter((known) => known < row).length;
  return { columns: larger, from: before(first), to: before(end) };
}
