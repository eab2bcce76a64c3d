/** Series that begin after the run, or end before it: their positions keep the last close. */
import { closeTime, intervalMs } from '../../domain/interval.ts';
import { lotsOf, priceFor, priceText, quantityText } from '../../domain/money.ts';
import { momentText } from '../../report/figures.ts';
import { beforeEnd, daysText } from '../../report/notes.ts';
import { dustOf, type FillTable, restsAt } from '../../research/fill-table.ts';
import type { RestRow, StaleRow } from '../../research/summary.ts';
import { type RunInput, type RunSeries, spanOf } from '../run.ts';

/** Series that end more than the longest kline before the run, with their last close and that of the run, UTC ms. */
function endedEarly(all: readonly RunSeries[]) {
  const { end } = spanOf(all);
  const lastOpen = ({ columns, end: rows }: RunSeries): number => columns.openTime[rows - 1] as number;
  const longestMs = Math.max(...all.map((series) => intervalMs(series.interval, lastOpen(series))));
  return all
    .map((series) => ({ series, closedAt: closeTime(series.interval, lastOpen(series)), end }))
    .filter(({ closedAt }) => end - closedAt > longestMs);
}

/** Warnings before the run about series that begin more than the longest kline after it. */
export function beginNotes(all: readonly RunSeries[]): readonly string[] {
  const { start } = spanOf(all);
  const opens = all.map(({ symbol, interval, columns, first }) => {
    const openedAt = columns.openTime[first] as number;
    return { symbol, openedAt, lengthMs: intervalMs(interval, openedAt) };
  });
  const longestMs = Math.max(...opens.map(({ lengthMs }) => lengthMs));
  return opens
    .filter(({ openedAt }) => openedAt - start > longestMs)
    .map(
      ({ symbol, openedAt }) =>
        `${symbol}: its klines begin ${momentText(openedAt)} UTC, ${daysText(openedAt - start)} after the run's start: it is not traded before; import the rest, or set a later from`,
    );
}

/** Warnings about series that end early. */
export const endNotes = (all: readonly RunSeries[]): readonly string[] =>
  endedEarly(all).map(
    ({ series: { symbol }, closedAt, end }) =>
      `${symbol}: its klines end ${momentText(closedAt)} UTC, ${beforeEnd(end - closedAt)}: it is not traded afterwards, and positions keep the last close; import the rest, or set an earlier to`,
  );

/** Each position after all fills, and the price of its last fill. */
function positionsAfter(table: FillTable) {
  const finals = table.positions.map((one) => ({ ...one, base: 0, last: 0 }));
  for (let fill = 0; fill < table.length; fill++) {
    const one = finals[table.position[fill] as number] as (typeof finals)[number];
    one.base += table.base[fill] as number;
    one.last = table.price[fill] as number;
  }
  return finals;
}

/** Their positions at the end. */
export function staleRows({ series: all, instruments }: RunInput, table: FillTable): readonly StaleRow[] {
  const early = endedEarly(all);
  if (early.length === 0) return [];
  return positionsAfter(table).flatMap(({ strategy, symbol, base: quantity, last }): readonly StaleRow[] => {
    const at = instruments.get(symbol);
    const found = early.find(({ series }) => series.symbol === symbol);
    if (at === undefined || found === undefined || restsAt(at)(quantity, last)) return [];
    const { series, closedAt, end } = found;
    const close = series.columns.close[series.end - 1] as number;
    // Sums of fills may lie slightly below a whole lot.
    const text = quantityText(lotsOf(Math.abs(quantity) + dustOf(at) / 1000, at, 'down'), at);
    const price = priceText(priceFor('SELL', close, at), at);
    return [{ strategy, symbol, quantity: quantity < 0 ? `-${text}` : text, price, since: closedAt, until: end }];
  });
}

/** A smaller share of the equity is not reported. */
const minShare = 0.001;

/** Positions below the exchange's minimum order, left by fees in base and purchases for an amount, where they matter; in one currency only. */
export function restRows(
  { series: all, instruments, currencies }: RunInput,
  table: FillTable,
  finalEquity: number,
): readonly RestRow[] {
  if (currencies !== undefined) return [];
  return positionsAfter(table).flatMap(({ strategy, symbol, base, last }): readonly RestRow[] => {
    const at = instruments.get(symbol);
    const series = all.find((one) => one.symbol === symbol);
    if (at === undefined || series === undefined || !restsAt(at)(base, last)) return [];
    const share = (Math.abs(base) * (series.columns.close[series.end - 1] as number)) / finalEquity;
    return share >= minShare ? [{ strategy, symbol, base, share }] : [];
  });
}
