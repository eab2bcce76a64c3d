/** A market that replays recorded minutes: prints made from each, a book made around the last print, and the rows before as history. */
import { seededRng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { priceNumber, quantityNumber, ticksOf } from '../../domain/money.ts';
import type { DisplayedBook } from '../core/displayed.ts';
import type { Print } from '../core/order.ts';
import { madeBook, scramble } from './made-book.ts';
import { makePrints } from './made-prints.ts';
import type { Market, MarketEvent, MinuteRow } from './market.ts';
import { withPrint } from './printed-minutes.ts';

/** Recorded one-minute klines as columns of one length, the oldest first; times are UTC ms of the open. */
export interface MinuteColumns {
  readonly openTime: ArrayLike<number>;
  readonly open: ArrayLike<number>;
  readonly high: ArrayLike<number>;
  readonly low: ArrayLike<number>;
  readonly close: ArrayLike<number>;
  readonly volume: ArrayLike<number>;
}

export interface KlinesMarketOptions {
  readonly instrument: Instrument;
  readonly klines: MinuteColumns;
  /** The row that is replayed first; those before it are history. */
  readonly startIndex: number;
  /** Exchange time at which that row opens, a whole minute. */
  readonly anchor: number;
  /** Exchange time to begin at, at or after the anchor: a restart begins where the market stood. */
  readonly now: number;
  readonly seed: number;
}

const minuteMs = 60_000;

export function klinesMarket({ instrument, klines, startIndex, anchor, now, seed }: KlinesMarketOptions): Market {
  const rows = klines.openTime.length;
  if (!(startIndex >= 0 && startIndex < rows))
    throw new RangeError(`${instrument.symbol}: startIndex ${startIndex} is outside the ${rows} klines`);
  const replayed = rows - startIndex;
  const firstTime = klines.openTime[startIndex] as number;
  const cycleMs = (klines.openTime[rows - 1] as number) + minuteMs - firstTime;

  /** Row `index` of the endless series: history, then the replay over and over, with time going on. */
  const row = (index: number): MinuteRow => {
    const cycle = index < startIndex ? 0 : Math.floor((index - startIndex) / replayed);
    const at = index < startIndex ? index : startIndex + ((index - startIndex) % replayed);
    return {
      openTime: (klines.openTime[at] as number) - firstTime + anchor + cycle * cycleMs,
      open: klines.open[at] as number,
      high: klines.high[at] as number,
      low: klines.low[at] as number,
      close: klines.close[at] as number,
      volume: klines.volume[at] as number,
    };
  };
  const startOf = (time: number): number => {
    let index = startIndex + Math.max(0, Math.floor((time - anchor) / cycleMs)) * replayed;
    while (row(index + 1).openTime <= time) index++;
    return index;
  };

  let current = startOf(now);
  let minute = row(current);
  let prints: readonly Print[] = [];
  let position = 0;
  let forming: MinuteRow | undefined;
  let volume = 0;
  const before = current > 0 ? row(current - 1) : undefined;
  let last: Pick<Print, 'price' | 'side'> = {
    price: ticksOf(before?.close ?? minute.open, instrument, 'down'),
    side: 'BUY',
  };
  begin();
  while (position < prints.length && (prints[position] as Print).time <= now) print();

  function begin(): void {
    minute = row(current);
    prints = makePrints(minute, instrument, seededRng(scramble(current, seed)));
    position = 0;
    forming = undefined;
    if (minute.volume > 0) volume = minute.volume;
  }

  function print(): Print {
    const made = prints[position++] as Print;
    last = made;
    forming = withPrint(
      forming,
      minute.openTime,
      priceNumber(made.price, instrument),
      quantityNumber(made.quantity, instrument),
    );
    return made;
  }

  const book = (): DisplayedBook => madeBook(last, volume, scramble(current, seed), instrument);

  function next(): MarketEvent {
    if (position < prints.length) {
      const made = print();
      return { print: made, book: book() };
    }
    current++;
    begin();
    const replayedRows = current - startIndex;
    return replayedRows % replayed === 0 ? { book: book(), looped: replayedRows / replayed } : { book: book() };
  }

  return {
    symbol: instrument.symbol,
    recent: prints.slice(0, position),
    minutes: {
      get count() {
        return current;
      },
      row,
      get forming() {
        return forming;
      },
    },
    nextAt: () => (position < prints.length ? (prints[position] as Print).time : row(current + 1).openTime),
    next,
    book,
    traded: () => undefined,
  };
}
