/** Rows of recorded trades and books as what strategies and the fill engine take. */
import type { BookColumns, Tape, TradeColumns } from '../../../data/tape.ts';
import type { Depth, Level, Side, Trade } from '../../../domain/market.ts';
import type { BookSide } from '../../../fill/book-side.ts';

/** The taker's side of a recorded trade. */
export const sideOf = (side: number): Side => (side > 0 ? 'BUY' : 'SELL');

/** Whether trades or books say all about a kline: it lies within them and not within a hole of the trades. */
export function coverage(tape: Tape | undefined): (openTime: number, closesAt: number) => boolean {
  const times = [tape?.trades?.time, tape?.books?.time].flatMap((time) =>
    time !== undefined && time.length > 0 ? [time] : [],
  );
  const from = Math.min(...times.map((time) => time[0] as number));
  const to = Math.max(...times.map((time) => time.at(-1) as number));
  const gaps = tape?.gaps ?? [];
  return (openTime, closesAt) =>
    openTime >= from && closesAt <= to && !gaps.some((gap) => gap.from <= openTime && closesAt <= gap.to);
}

/** Writes levels into one side of the depth. */
export function write(side: BookSide, { price, quantity }: BookColumns, from: number, to: number): void {
  side.begin(to - from);
  for (let row = from; row < to; row++) {
    side.prices[row - from] = price[row] as number;
    side.quantities[row - from] = quantity[row] as number;
  }
  side.shown();
}

export function tradeAt(
  symbol: string,
  { time, price, quantity, side }: TradeColumns,
  row: number,
  seenAt: number,
): Trade {
  return {
    symbol,
    time: time[row] as number,
    price: price[row] as number,
    quantity: quantity[row] as number,
    side: sideOf(side[row] as number),
    seenAt,
  };
}

export function depthAt(symbol: string, columns: BookColumns, book: number, seenAt: number): Depth {
  const { time, start, asks, price, quantity } = columns;
  const levels = (from: number, to: number): readonly Level[] =>
    Array.from({ length: to - from }, (_, at) => [price[from + at] as number, quantity[from + at] as number] as const);
  const middle = asks[book] as number;
  return {
    symbol,
    time: time[book] as number,
    bids: levels(start[book] as number, middle),
    asks: levels(middle, start[book + 1] as number),
    seenAt,
  };
}
