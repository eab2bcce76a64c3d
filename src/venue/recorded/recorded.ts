/** Recorded klines as a feed gives them. Nothing moves by itself: a backtest pushes row after row. */
import { Observable, Subject, type Subscriber } from 'rxjs';
import { closeTime, type Interval } from '../../domain/interval.ts';
import type { Columns, FeedGap, Kline } from '../../domain/market.ts';

interface Series {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  /** Holes in the series, in the order of time. */
  readonly gaps?: readonly FeedGap[];
  /** The first row that is pushed; those before it are history. */
  readonly first?: number;
}

/** One symbol and interval: a place in the recording, and who listens. */
export class RecordedSeries {
  readonly klines: Observable<Kline>;
  readonly gaps: Observable<FeedGap>;
  readonly #symbol: string;
  readonly #interval: Interval;
  readonly #columns: Columns;
  readonly #missing: readonly FeedGap[];
  /** Not a `Subject`, which makes an iterator for its observers at every kline: 100 bytes for each of millions. */
  #listeners: readonly Subscriber<Kline>[] = [];
  readonly #gaps = new Subject<FeedGap>();
  #row: number;
  #nextGap = 0;

  constructor({ symbol, interval, columns, gaps = [], first = 0 }: Series) {
    this.klines = new Observable((listener) => {
      this.#listeners = [...this.#listeners, listener];
      return () => {
        this.#listeners = this.#listeners.filter((other) => other !== listener);
      };
    });
    this.#symbol = symbol;
    this.#interval = interval;
    this.#columns = columns;
    this.#missing = gaps;
    this.gaps = this.#gaps;
    this.#row = first;
    const from = columns.openTime[first] ?? Number.POSITIVE_INFINITY;
    while ((gaps[this.#nextGap]?.to ?? Number.POSITIVE_INFINITY) < from) this.#nextGap++;
  }

  /** The row that is pushed next. */
  get row(): number {
    return this.#row;
  }

  /** The kline that is pushed next, already whole: the venue fills by it before anybody sees it. Undefined at the end. */
  next(): Kline | undefined {
    return this.#row < this.#columns.openTime.length ? this.#kline(this.#row) : undefined;
  }

  /** Pushes the kline that `next` gave, after the hole before it when there is one. */
  push(kline: Kline): void {
    for (let gap = this.#missing[this.#nextGap]; gap !== undefined && gap.to <= kline.openTime; ) {
      this.#gaps.next(gap);
      gap = this.#missing[++this.#nextGap];
    }
    this.#row++;
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index++) listeners[index]?.next(kline);
  }

  /** The last `count` klines that were pushed or lie before the first, oldest first. */
  before(count: number): readonly Kline[] {
    const klines: Kline[] = [];
    for (let row = Math.max(0, this.#row - count); row < this.#row; row++) klines.push(this.#kline(row));
    return klines;
  }

  #kline(row: number): Kline {
    const { openTime, open, high, low, close, volume } = this.#columns;
    const at = openTime[row] as number;
    return {
      symbol: this.#symbol,
      interval: this.#interval,
      openTime: at,
      open: open[row] as number,
      high: high[row] as number,
      low: low[row] as number,
      close: close[row] as number,
      volume: volume[row] as number,
      seenAt: closeTime(this.#interval, at),
    };
  }
}
