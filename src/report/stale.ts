/** Positions that count at a price of long ago, in words. */
import type { StaleRow } from '../research/summary.ts';
import { momentText } from './figures.ts';

const dayMs = 86_400_000;

/** How long before the end of a run, ms, something ended. */
export const beforeEnd = (ms: number): string => `${(ms / dayMs).toFixed(1)} days before the run's end`;

export const staleText = ({ strategy, symbol, quantity, price, since, until }: StaleRow): string =>
  `${strategy} holds ${quantity} of ${symbol} at ${price}, its last close, of ${momentText(since)} UTC: ${beforeEnd(until - since)}`;
