/** Checks by their prices whether recorded trades and depth are from the same market as the klines. */
import { momentText } from '../../data/check/finding.ts';
import type { BookColumns, Tape } from '../../data/tape.ts';
import { closeTime, type Interval, openTimeOf } from '../../domain/interval.ts';
import { type Columns, lowerBound } from '../../domain/market.ts';

/** So far beyond the low or high of its kline no last price of one market lies, bad rows apart. */
const farShare = 0.02;

interface Klines {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
}

/**
 * A note for trades, and one for books, whose last price within a kline lies far from it in most of the klines that have one. What
 * fills by them then has nothing to do with the klines of the decisions, and nothing else shows it.
 */
export const levelNotes = (klines: Klines, { trades, books }: Tape): readonly string[] => [
  ...(trades ? levelNote(klines, 'trades', trades.time, (row) => trades.price[row] ?? Number.NaN) : []),
  ...(books ? levelNote(klines, 'books', books.time, (row) => middle(books, row)) : []),
];

/** `priceAt`: NaN where there is none, as of a book with one side. One price is asked for at a time: those of many books need not all be formed. */
function levelNote(
  { symbol, interval, columns: { openTime, high, low } }: Klines,
  what: 'trades' | 'books',
  time: Float64Array,
  priceAt: (row: number) => number,
): readonly string[] {
  let [compared, far, first] = [0, 0, ''];
  const end = time.at(-1) ?? Number.NEGATIVE_INFINITY;
  const begin = lowerBound(openTime, openTime.length, openTimeOf(interval, time[0] ?? 0));
  for (let row = begin; row < openTime.length && (openTime[row] as number) <= end; row++) {
    const open = openTime[row] as number;
    const at = lowerBound(time, time.length, closeTime(interval, open)) - 1;
    const price = at < 0 || (time[at] as number) < open ? Number.NaN : priceAt(at);
    if (Number.isNaN(price)) continue;
    compared++;
    const [top, bottom] = [high[row] as number, low[row] as number];
    if (price <= top * (1 + farShare) && price >= bottom * (1 - farShare)) continue;
    if (far++ === 0) first = `${price} in the kline of ${momentText(open)}, which goes from ${bottom} to ${top}`;
  }
  if (far * 2 <= compared) return [];
  return [
    `${symbol}: its ${what} do not match its klines: more than ${farShare * 100} % below the low or above the high in ${far} of ${compared} klines of ${interval} (first ${first}): orders would fill at prices that the strategy never saw. Use both from one market, or only klines (fidelity: klines)`,
  ];
}

function middle({ start, asks, price }: BookColumns, book: number): number {
  const [bid, ask, end] = [start[book] as number, asks[book] as number, start[book + 1] as number];
  return bid < ask && ask < end ? ((price[bid] as number) + (price[ask] as number)) / 2 : Number.NaN;
}
