/** A market that replays recorded minutes: prints made from each, a book made around the last print, and the rows before as history. */
import { seededRng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { ColumnValues } from '../../domain/market.ts';
import { priceNumber, quantityNumber, ticksOf } from '../../domain/money.ts';
import type { DisplayedBook } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';
import { withPrint } from './empty-market.ts';
import { madeBook, scramble } from './made-book.ts';
import { makePrints } from './made-prints.ts';
import type { Market, MinuteRow } from './market.ts';

interface KlinesMarketOptions {
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

export function klinesMarket({ instrument: at, klines, startIndex, anchor, now, seed }: KlinesMarketOptions): Market {
  const rows = replayedRows(klines, startIndex, anchor);
  /** The row under way, its prints, and how many of them have come. */
  let current = rows.indexAt(now);
  let minute = rows.row(current);
  let prints = madePrints();
  let printed = 0;
  let forming: MinuteRow | undefined;
  /** Of the last minute that had any: the made book's measure of size. */
  let { volume } = minute;
  const before = current > 0 ? rows.row(current - 1).close : minute.open;
  let last: Pick<Print, 'price' | 'side'> = { price: ticksOf(before, at, 'down'), side: 'BUY' };

  function madePrints(): readonly Print[] {
    return makePrints(minute, at, seededRng(scramble(current, seed)));
  }

  function print(): Print {
    const one = prints[printed++] as Print;
    last = one;
    forming = withPrint(forming, minute.openTime, priceNumber(one.price, at), quantityNumber(one.quantity, at));
    return one;
  }

  const book = (): DisplayedBook => madeBook(last, volume, scramble(current, seed), at);

  while ((prints[printed]?.time ?? Number.POSITIVE_INFINITY) <= now) print();
  return {
    symbol: at.symbol,
    recent: prints.slice(0, printed),
    get minutes() {
      return { count: current, forming, row: rows.row };
    },
    nextAt: () => prints[printed]?.time ?? rows.row(current + 1).openTime,
    next() {
      if (printed < prints.length) return { print: print(), book: book() };
      minute = rows.row(++current);
      prints = madePrints();
      printed = 0;
      forming = undefined;
      if (minute.volume > 0) volume = minute.volume;
      const rounds = (current - startIndex) / rows.round;
      return Number.isInteger(rounds) ? { book: book(), looped: rounds } : { book: book() };
    },
    book,
    /** The klines are the recorded ones, so that a run can be compared with a backtest; users' trades do not change them. */
    traded() {},
  };
}

/** Recorded one-minute klines as columns of one length, the oldest first; times are UTC ms of the open. */
export type MinuteColumns = ColumnValues;

const minuteMs = 60_000;

/** Recorded minutes as an endless series: the rows before the start once, then the rows from the start over and over. */
function replayedRows(klines: MinuteColumns, startIndex: number, anchor: number) {
  const rows = klines.openTime.length;
  if (!(startIndex >= 0 && startIndex < rows))
    throw new RangeError(`startIndex ${startIndex} is outside the ${rows} klines`);
  const round = rows - startIndex;
  const firstTime = klines.openTime[startIndex] as number;
  const roundMs = (klines.openTime[rows - 1] as number) + minuteMs - firstTime;

  /** Any row from 0 on; times are moved so that row `startIndex` opens at the anchor and later rounds follow on. */
  function row(index: number): MinuteRow {
    const rounds = index < startIndex ? 0 : Math.floor((index - startIndex) / round);
    const at = index - rounds * round;
    return {
      openTime: (klines.openTime[at] as number) - firstTime + anchor + rounds * roundMs,
      open: klines.open[at] as number,
      high: klines.high[at] as number,
      low: klines.low[at] as number,
      close: klines.close[at] as number,
      volume: klines.volume[at] as number,
    };
  }
  return {
    row,
    /** Rows in one round. */
    round,
    /** The row that is under way at a time, at or after the anchor. */
    indexAt(time: number): number {
      let index = startIndex + Math.max(0, Math.floor((time - anchor) / roundMs)) * round;
      while (row(index + 1).openTime <= time) index++;
      return index;
    },
  };
}
