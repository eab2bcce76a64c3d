/** The indicators of a run's strategies, calculated again for its report: the same columns as those that strategies saw. */
import type { SeriesIndicator } from '../../report/input.ts';
import { hasSeveralMarkets, isDeciding } from '../../strategy/contract.ts';
import { wholeColumn } from '../../strategy/indicator.ts';
import type { MarketRows } from '../../strategy/markets/joined-klines.ts';
import { marketIndicators } from '../../strategy/markets/several-markets.ts';
import { namedIndicators } from '../../strategy/named-indicators.ts';
import { joinedOf } from '../engine/joined-series.ts';
import type { RunInput } from '../run.ts';

type Series = RunInput['series'][number];
type Hosted = RunInput['hosted'][number];

/** Of the `chosen` strategies. One of streams declares none. */
export const indicatorsOf = (
  { hosted, series }: Pick<RunInput, 'hosted' | 'series'>,
  shown: Series,
  isChosen: (strategy: string) => boolean = () => true,
): readonly SeriesIndicator[] =>
  hosted
    .filter(({ id }) => isChosen(id))
    .flatMap((one) => (hasSeveralMarkets(one.strategy) ? ofMarkets(one, series, shown) : ofOne(one, shown)));

function ofOne(
  { id, strategy, params, ...own }: Hosted,
  { symbol, interval, columns }: Series,
): readonly SeriesIndicator[] {
  if (own.symbol !== symbol || own.interval !== interval || !isDeciding(strategy)) return [];
  return namedIndicators(strategy.indicators(params)).map(({ name, group, indicator }) => ({
    ...{ strategy: id, name, group },
    values: () => wholeColumn(indicator, columns, interval),
  }));
}

/** Those of the market that is shown. What is made of several markets is shown in the first, as on the dashboard. */
function ofMarkets(
  { id, strategy, params, interval, markets = [] }: Hosted,
  all: readonly Series[],
  shown: Series,
): readonly SeriesIndicator[] {
  if (!hasSeveralMarkets(strategy)) return [];
  const indicators = marketIndicators(
    strategy,
    params,
    markets.map(({ role }) => role),
  );
  return markets.flatMap(({ role, symbol, interval: own }, index) => {
    if (symbol !== shown.symbol || own !== shown.interval) return [];
    const its = indicators.filter(({ indicator: { market } }) =>
      market === undefined ? index === 0 : market === role,
    );
    return its.map(({ name, group, indicator }) => ({
      ...{ strategy: id, name, group },
      values: () => {
        const joined = joinedOf(markets, all);
        return byRow(wholeColumn(indicator, joined, interval), joined.markets[role] as MarketRows);
      },
    }));
  });
}

/** The value at the moment at which each kline of a market closed, of values by moment. */
function byRow(values: Float64Array, { rowAt, isEach, columns }: MarketRows): Float64Array {
  if (isEach) return values;
  const out = new Float64Array(columns.openTime.length).fill(Number.NaN);
  let last = -1;
  for (const [moment, row] of rowAt.entries()) {
    if (row > last) out[row] = values[moment] as number;
    last = Math.max(last, row);
  }
  return out;
}
