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
import type { Market, MarketEvent, MinuteRow, Minutes } from './market.ts';

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

export class KlinesMarket implements Market {
  readonly symbol: string;
  readonly recent: readonly Print[];
  readonly #at: Instrument;
  readonly #rows: ReplayedRows;
  readonly #startIndex: number;
  readonly #seed: number;
  /** The row under way, its prints, and how many of them have come. */
  #current: number;
  #minute: MinuteRow;
  #prints: readonly Print[];
  #printed = 0;
  #forming: MinuteRow | undefined;
  #last: Pick<Print, 'price' | 'side'>;
  /** Of the last minute that had any: the made book's measure of size. */
  #volume: number;

  constructor({ instrument, klines, startIndex, anchor, now, seed }: KlinesMarketOptions) {
    this.symbol = instrument.symbol;
    this.#at = instrument;
    this.#rows = replayedRows(klines, startIndex, anchor);
    this.#startIndex = startIndex;
    this.#seed = seed;
    this.#current = this.#rows.indexAt(now);
    this.#minute = this.#rows.row(this.#current);
    this.#prints = this.#madePrints();
    this.#volume = this.#minute.volume;
    const before = this.#current > 0 ? this.#rows.row(this.#current - 1).close : this.#minute.open;
    this.#last = { price: ticksOf(before, instrument, 'down'), side: 'BUY' };
    while ((this.#prints[this.#printed]?.time ?? Number.POSITIVE_INFINITY) <= now) this.#print();
    this.recent = this.#prints.slice(0, this.#printed);
  }

  get minutes(): Minutes {
    return { count: this.#current, forming: this.#forming, row: (index) => this.#rows.row(index) };
  }

  nextAt(): number {
    return this.#prints[this.#printed]?.time ?? this.#rows.row(this.#current + 1).openTime;
  }

  next(): MarketEvent {
    if (this.#printed < this.#prints.length) return { print: this.#print(), book: this.book() };
    this.#current++;
    this.#minute = this.#rows.row(this.#current);
    this.#prints = this.#madePrints();
    this.#printed = 0;
    this.#forming = undefined;
    if (this.#minute.volume > 0) this.#volume = this.#minute.volume;
    const replayed = this.#current - this.#startIndex;
    const again = replayed % this.#rows.round === 0;
    return again ? { book: this.book(), looped: replayed / this.#rows.round } : { book: this.book() };
  }

  book(): DisplayedBook {
    return madeBook(this.#last, this.#volume, scramble(this.#current, this.#seed), this.#at);
  }

  /** The klines are the recorded ones, so that a run can be compared with a backtest; users' trades do not change them. */
  traded(): void {}

  #madePrints(): Print[] {
    return makePrints(this.#minute, this.#at, seededRng(scramble(this.#current, this.#seed)));
  }

  #print(): Print {
    const print = this.#prints[this.#printed++] as Print;
    this.#last = print;
    const price = priceNumber(print.price, this.#at);
    const volume = quantityNumber(print.quantity, this.#at);
    this.#forming = withPrint(this.#forming, this.#minute.openTime, price, volume);
    return print;
  }
}

/** Recorded one-minute klines as columns of one length, the oldest first; times are UTC ms of the open. */
export type MinuteColumns = ColumnValues;

type ReplayedRows = ReturnType<typeof replayedRows>;

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
