/** The indicators of a checked strategy: as columns over its klines, and kline by kline. */
import { closeTime } from '../../domain/interval.ts';
import { isStreaming, type SeveralMarkets } from '../../strategy/contract.ts';
import type { HostedMarket } from '../../strategy/host.ts';
import { wholeColumn } from '../../strategy/indicator.ts';
import { pricesAt } from '../../strategy/larger-klines.ts';
import { type JoinedPrices, joinedPrices, type MarketRows } from '../../strategy/markets/joined-klines.ts';
import { marketIndicators, rolesOf } from '../../strategy/markets/several-markets.ts';
import { type NamedIndicator, namedIndicators } from '../../strategy/named-indicators.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { joinedOf } from '../engine/joined-series.ts';
import type { RunInput } from '../run.ts';
import type { CheckedKlines } from './columns.ts';

/** An indicator over the rows of a check. */
export interface RowIndicator {
  readonly name: string;
  /** Its values by row. */
  readonly column: () => Float64Array;
  /** A function that is called with each row in turn and returns the value there. */
  readonly stream: () => (row: number) => number;
}

/** All indicators; those of a list of symbols are named `rise of BTCUSDT`. */
export function namedIn({ strategy, params, markets }: NamedHosted): readonly NamedIndicator[] {
  if (isStreaming(strategy)) return [];
  if (markets === undefined) return namedIndicators(strategy.indicators(params));
  const several = strategy as SeveralMarkets;
  const roles = markets.map(({ role }) => role);
  return marketIndicators(several, params, roles).map((one) =>
    rolesOf(several) === undefined ? { ...one, name: `${one.name} of ${one.indicator.market}` } : one,
  );
}

export function indicatorsOver({ hosted: [hosted] }: RunInput, klines: CheckedKlines): readonly RowIndicator[] {
  if (hosted === undefined) return [];
  const [series] = klines.series;
  if (hosted.markets !== undefined) return overMarkets(namedIn(hosted), hosted.markets, klines);
  return namedIn(hosted).map(({ name, indicator }) => ({
    name,
    column: () => wholeColumn(indicator, series?.columns ?? noColumns, klines.interval),
    stream() {
      const next = indicator.stream(klines.interval);
      return (row) => next(pricesAt(series?.columns ?? noColumns, row));
    },
  }));
}

function overMarkets(
  named: readonly NamedIndicator[],
  markets: readonly HostedMarket[],
  klines: CheckedKlines,
): readonly RowIndicator[] {
  const joined = joinedOf(markets, klines.series);
  const closing = ({ columns, interval, rowAt }: MarketRows, row: number): JoinedPrices['markets'][string] => {
    const own = rowAt[row] as number;
    return own >= 0 && closeTime(interval, columns.openTime[own] as number) === joined.openTime[row]
      ? { kline: pricesAt(columns, own), interval }
      : undefined;
  };
  return named.map(({ name, indicator }) => ({
    name,
    column: () => wholeColumn(indicator, joined, klines.interval),
    stream() {
      const next = indicator.stream(klines.interval);
      return (row) => {
        const all = Object.entries(joined.markets).map(([role, rows]) => [role, closing(rows, row)] as const);
        return next(joinedPrices(joined.openTime[row] as number, Object.fromEntries(all)));
      };
    },
  }));
}

const none = new Float64Array();
const noColumns = { openTime: none, open: none, high: none, low: none, close: none, volume: none };
