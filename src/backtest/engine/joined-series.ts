/** The series of a run side by side, as a strategy of several markets sees them. */
import { closeTime } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import type { HostedMarket } from '../../strategy/host.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import { type JoinedColumns, joinKlines } from '../../strategy/markets/joined-klines.ts';
import type { RunSeries } from '../run.ts';

type Sources = Pick<RunSeries, 'symbol' | 'interval' | 'columns'>;

/** Joined klines, and the columns that they are made of. */
interface Joined {
  readonly columns: readonly Columns[];
  readonly joined: JoinedColumns;
}

/** Joined klines by the columns of their first market: the sets of a grid share them. */
const made = new WeakMap<Columns, Map<string, Joined>>();

/** The klines of a strategy's markets side by side; those of larger intervals are made of the series. */
export function joinedOf(markets: readonly HostedMarket[], series: readonly Sources[]): JoinedColumns {
  const sources = markets.map(({ symbol }) => series.find((one) => one.symbol === symbol) as Sources);
  const columns = sources.map((one) => one.columns);
  const [first] = columns as [Columns];
  const known = made.get(first) ?? new Map<string, Joined>();
  made.set(first, known);
  const key = markets.map(({ role, symbol, interval }) => `${role} ${symbol} ${interval}`).join(', ');
  const there = known.get(key);
  if (there?.columns.every((one, index) => one === columns[index]) === true) return there.joined;
  const joined = joinKlines(
    Object.fromEntries(
      markets.map(({ role, interval }, index) => {
        const { columns: own, interval: given } = sources[index] as Sources;
        if (given === interval || own.openTime.length === 0) return [role, { columns: own, interval }];
        const { columns: larger, knownAt } = aggregate(given, interval, own);
        // After a gap a larger kline is known with the next of the smaller ones.
        const times = Float64Array.from(knownAt, (row) => closeTime(given, own.openTime[row] as number));
        return [role, { columns: larger, interval, knownAt: times }];
      }),
    ),
  );
  known.set(key, { columns, joined });
  return joined;
}
