/** The markets of a simulated venue, beside orders: intervals, usual volumes, finer klines. */

import { closeTime } from '../../domain/interval.ts';
import { rowAt } from '../../domain/market.ts';
import type { FillKline } from '../../fill/kline-fills.ts';
import { liquidityOf } from '../../fill/liquidity.ts';
import type { PaperOnKlinesOptions } from '../../venue/paper/on-klines.ts';
import type { RunInput, RunSeries } from '../run.ts';

export function marketsOf({
  series,
  rules,
}: Pick<RunInput, 'series' | 'rules'>): Pick<PaperOnKlinesOptions, 'intervals' | 'liquidity' | 'finer'> {
  const finer = series.flatMap((one) =>
    one.finer === undefined ? [] : [[one.symbol, within(one, one.finer)] as const],
  );
  return {
    intervals: new Map(series.map(({ symbol, interval }) => [symbol, interval])),
    ...(rules.impact?.kind === 'squareRoot' && {
      liquidity: new Map(series.map(({ symbol, interval, columns }) => [symbol, liquidityOf(columns, interval)])),
    }),
    ...(finer.length > 0 && { finer: new Map(finer) }),
  };
}

/** The finer klines that lie within the one that opens at a time. */
const within =
  ({ interval }: RunSeries, columns: NonNullable<RunSeries['finer']>) =>
  (openTime: number): readonly FillKline[] => {
    const [from, to] = [rowAt(columns.openTime, openTime), rowAt(columns.openTime, closeTime(interval, openTime))];
    return Array.from({ length: to - from }, (_, at) => ({
      openTime: columns.openTime[from + at] as number,
      open: columns.open[from + at] as number,
      high: columns.high[from + at] as number,
      low: columns.low[from + at] as number,
      close: columns.close[from + at] as number,
      volume: columns.volume[from + at] as number,
    }));
  };
