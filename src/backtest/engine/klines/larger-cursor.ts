/** Strategies before the columns of their klines, made larger where they use a larger interval. */

import type { Interval } from '../../../domain/interval.ts';
import type { Columns } from '../../../domain/market.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import { type Aggregated, aggregate } from '../../../strategy/larger-klines.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { RunSeries } from '../../run.ts';
import { HeldColumns } from './held-columns.ts';
import { KlineCursor } from './kline-cursor.ts';
import { type StrategyAnswers, StrategyCursor } from './strategy-cursor.ts';

/** Larger klines by those they were made from: the sets of a grid share them, and with them the columns of their indicators. */
const made = new WeakMap<Columns, Map<string, Aggregated>>();

function framesIn({ columns, interval }: RunSeries, larger: Interval): Aggregated {
  const ofColumns = made.get(columns) ?? new Map<string, Aggregated>();
  made.set(columns, ofColumns);
  const key = `${interval} ${larger}`;
  const there = ofColumns.get(key) ?? aggregate(interval, larger, columns);
  ofColumns.set(key, there);
  return there;
}

/** The cursor of a strategy that decides, over the klines of its series or over larger ones made of them. */
export function cursorOf(
  hosted: NamedHosted,
  series: RunSeries,
  cursor: KlineCursor,
  portfolio: Portfolio,
  answers?: StrategyAnswers,
): StrategyCursor {
  // The portfolio knows a price only where something is planned; the strategy sees each.
  const price = (): number => cursor.close;
  const { id, symbol } = hosted;
  if (hosted.interval === series.interval) {
    const holding = portfolio.holding(id, symbol, { price, klines: new HeldColumns(series.columns, cursor) });
    return new StrategyCursor(hosted, series, cursor, holding, { answers });
  }
  const { columns, knownAt } = framesIn(series, hosted.interval);
  const first = knownAt.findIndex((row) => row >= series.first);
  const own: RunSeries = {
    symbol: series.symbol,
    interval: hosted.interval,
    columns,
    gaps: [],
    first: first < 0 ? knownAt.length : first,
    end: knownAt.length,
  };
  const seenAt = (row: number): number => cursor.closeOf(knownAt[row] as number);
  const place = new KlineCursor(own, seenAt);
  const holding = portfolio.holding(id, symbol, { price, klines: new HeldColumns(columns, place) });
  return new StrategyCursor(hosted, own, place, holding, { larger: { cursor: place, knownAt, next: own.first } });
}
