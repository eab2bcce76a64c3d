/** What is held at the end, at a price of long ago or sold, and strategies that were out for long, in words. */
import { units, unitsNumber } from '../domain/money.ts';
import type { StayRow } from '../research/re-entry-lockout.ts';
import type { RestRow, StaleRow, Summary } from '../research/summary.ts';
import { grouped, momentText, moneyFigure, shareText } from './figures.ts';

const dayMs = 86_400_000;

/** How long before the end of a run, ms, something ended. */
export const beforeEnd = (ms: number): string => `${(ms / dayMs).toFixed(1)} days before the run's end`;

export const staleText = ({ strategy, symbol, quantity, price, since, until }: StaleRow): string =>
  `${strategy} holds ${quantity} of ${symbol} at ${price}, its last close, of ${momentText(since)} UTC: ${beforeEnd(until - since)}`;

export const stayText = ({ strategy, symbol, exits, share, from, longestMs }: StayRow): string =>
  `${strategy} was out of ${symbol} for ${shareText(share)} of the run after ${grouped(exits)} ${exits === 1 ? 'exit' : 'exits'} by a stop, a time or a take-profit, at most for ${(longestMs / dayMs).toFixed(1)} days from ${momentText(from)} UTC: after an exit, the strategy must change its target, such as to flat, before it can enter again`;

export const restText = ({ strategy, symbol, base, share }: RestRow): string =>
  `${strategy} ${base < 0 ? 'is short of' : 'holds'} ${Math.abs(base).toPrecision(3)} of ${symbol}, which fees or purchases for an amount left and is less than the exchange lets anyone order: ${shareText(share)} of the final equity, counted at each close`;

/** As a share of the final equity: what selling costs, where it is less, is not told of. */
const leastSale = 0.001;

/** What selling what is held at the end would leave, where that is another figure worth telling. */
export function soldIn({
  netLiquidation: soldEquity,
  finalEquity,
}: Pick<Summary, 'netLiquidation' | 'finalEquity'>): string | undefined {
  const final = unitsNumber(units(finalEquity, 'down'));
  const isTold = (sold: number): boolean => sold !== final && Math.abs(sold - final) >= leastSale * Math.abs(final);
  // Runs of before may have kept none as null.
  return typeof soldEquity === 'number' && isTold(soldEquity) ? moneyFigure(soldEquity) : undefined;
}
