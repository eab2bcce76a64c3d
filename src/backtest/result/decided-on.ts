/** The indicators of a run's strategies, calculated again for its report: the same columns as those that `decide` saw. */
import type { SeriesIndicator } from '../../report/input.ts';
import { isDeciding } from '../../strategy/contract.ts';
import { wholeColumn } from '../../strategy/indicator.ts';
import { namedIndicators } from '../../strategy/named-indicators.ts';
import type { RunInput } from '../run.ts';

/** Of the strategies that decide on the klines of one market, and of the `chosen` ones of these. */
export const indicatorsOf = (
  { hosted }: Pick<RunInput, 'hosted'>,
  { symbol, interval, columns }: RunInput['series'][number],
  isChosen: (strategy: string) => boolean = () => true,
): readonly SeriesIndicator[] =>
  hosted.flatMap((one) => {
    if (one.symbol !== symbol || one.interval !== interval || !isDeciding(one.strategy) || !isChosen(one.id)) return [];
    return namedIndicators(one.strategy.indicators(one.params)).map(({ name, group, indicator }) => ({
      ...{ strategy: one.id, name, group },
      values: () => wholeColumn(indicator, columns, interval),
    }));
  });
