/** Series that end before the run does: what is held of them then counts at a price of long ago. */
import { closeTime, intervalMs } from '../../domain/interval.ts';
import { lotsOf, priceFor, priceText, quantityText } from '../../domain/money.ts';
import { momentText } from '../../report/figures.ts';
import { beforeEnd } from '../../report/notes.ts';
import { dustOf, type FillTable, restsAt } from '../../research/fill-table.ts';
import type { RestRow, StaleRow } from '../../research/summary.ts';
import { type RunInput, type RunSeries, spanOf } from '../run.ts';

interface Early {
  readonly series: RunSeries;
  /** Its last close, UTC ms, and that of the whole run. */
  readonly closedAt: number;
  readonly end: number;
}

/** Those that end earlier than the run by more than the longest kline of it. */
function endedEarly(all: readonly RunSeries[]): readonly Early[] {
  const { end } = spanOf(all);
  const lastOpen = ({ columns, end: rows }: RunSeries): number => columns.openTime[rows - 1] as number;
  const longestMs = Math.max(...all.map((series) => intervalMs(series.interval, lastOpen(series))));
  return all
    .map((series) => ({ series, closedAt: closeTime(series.interval, lastOpen(series)), end }))
    .filter(({ closedAt }) => end - closedAt > longestMs);
}

/** What there is to know of them before it runs. */
export const endNotes = (all: readonly RunSeries[]): readonly string[] =>
  endedEarly(all).map(
    ({ series: { symbol }, closedAt, end }) =>
      `${symbol}: its klines end ${momentText(closedAt)} UTC, ${beforeEnd(end - closedAt)}: it is not traded afterwards, and positions keep the last close; import the rest, or set an earlier to`,
  );

interface Left {
  readonly base: number;
  /** The price of the last fill. */
  readonly last: number;
}

/** What each strategy held of a symbol after all fills, by place. */
function heldAfter(table: FillTable): readonly Left[] {
  const held = table.positions.map(() => ({ base: 0, last: 0 }));
  for (let fill = 0; fill < table.length; fill++) {
    const one = held[table.position[fill] as number] as { base: number; last: number };
    one.base += table.base[fill] as number;
    one.last = table.price[fill] as number;
  }
  return held;
}

/** What was still held of them at the end. */
export function staleRows({ series: all, instruments }: RunInput, table: FillTable): readonly StaleRow[] {
  const early = endedEarly(all);
  if (early.length === 0) return [];
  const held = heldAfter(table);
  return table.positions.flatMap(({ strategy, symbol }, position): readonly StaleRow[] => {
    const at = instruments.get(symbol);
    const { base: quantity, last } = held[position] as Left;
    const found = early.find(({ series }) => series.symbol === symbol);
    if (at === undefined || found === undefined || restsAt(at)(quantity, last)) return [];
    const { series, closedAt, end } = found;
    const close = series.columns.close[series.end - 1] as number;
    // Sums of fills may lie a little below the lot that they are.
    const text = quantityText(lotsOf(Math.abs(quantity) + dustOf(at) / 1000, at, 'down'), at);
    const price = priceText(priceFor('SELL', close, at), at);
    return [{ strategy, symbol, quantity: quantity < 0 ? `-${text}` : text, price, since: closedAt, until: end }];
  });
}

/** Less of the equity is not told of. */
const leastShare = 0.001;

/** What fees in base and purchases for an amount left, and nobody can order away, where it comes to a part of the equity; counted in one currency alone. */
export function restRows(
  { series: all, instruments, currencies }: RunInput,
  table: FillTable,
  finalEquity: number,
): readonly RestRow[] {
  if (currencies !== undefined) return [];
  const held = heldAfter(table);
  return table.positions.flatMap(({ strategy, symbol }, position): readonly RestRow[] => {
    const at = instruments.get(symbol);
    const { base, last } = held[position] as Left;
    const series = all.find((one) => one.symbol === symbol);
    if (at === undefined || series === undefined || !restsAt(at)(base, last)) return [];
    const share = (Math.abs(base) * (series.columns.close[series.end - 1] as number)) / finalEquity;
    return share >= leastShare ? [{ strategy, symbol, base, share }] : [];
  });
}
