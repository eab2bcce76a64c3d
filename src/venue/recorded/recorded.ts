/** A market feed over recorded klines. Nothing moves by itself: a backtest pushes row after row. */
import { NEVER, Observable, Subject, type Subscriber } from 'rxjs';
import { closeTime, type Interval } from '../../domain/interval.ts';
import type { Columns, FeedGap, Kline } from '../../domain/market.ts';
import { type MarketFeed, ok } from '../venue.ts';

export interface Series {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  /** Holes in the series, in the order of time. */
  readonly gaps?: readonly FeedGap[];
  /** The first row that is pushed; those before it are history. */
  readonly first?: number;
}

export class RecordedFeed implements MarketFeed {
  readonly gaps: Observable<FeedGap>;
  readonly #gaps = new Subject<FeedGap>();
  readonly #series = new Map<string, RecordedSeries>();

  constructor(series: readonly Series[]) {
    this.gaps = this.#gaps;
    for (const one of series) this.#series.set(keyOf(one.symbol, one.interval), new RecordedSeries(one, this.#gaps));
  }

  /** The series that a backtest goes through; there is one for each that was given. */
  series(symbol: string, interval: Interval): RecordedSeries {
    const found = this.#series.get(keyOf(symbol, interval));
    if (found === undefined) throw new Error(`no recorded klines of ${symbol} ${interval}`);
    return found;
  }

  klines(symbol: string, interval: Interval): Observable<Kline> {
    return this.series(symbol, interval).klines;
  }

  trades(): Observable<never> {
    return NEVER;
  }

  depth(): Observable<never> {
    return NEVER;
  }

  ticker(): Observable<never> {
    return NEVER;
  }

  history(symbol: string, interval: Interval, count: number): ReturnType<MarketFeed['history']> {
    return Promise.resolve(ok(this.series(symbol, interval).before(count)));
  }

  /** Ends every stream of klines. */
  end(): void {
    for (const series of this.#series.values()) series.end();
    this.#gaps.complete();
  }
}

/** One symbol and interval: a place in the recording, and who listens. */
export class RecordedSeries {
  readonly klines: Observable<Kline>;
  readonly #symbol: string;
  readonly #interval: Interval;
  readonly #columns: Columns;
  readonly #missing: readonly FeedGap[];
  /** Not a `Subject`, which makes an iterator for its observers at every kline: 100 bytes for each of millions. */
  #listeners: readonly Subscriber<Kline>[] = [];
  readonly #gaps: Subject<FeedGap>;
  #row: number;
  #nextGap = 0;

  constructor({ symbol, interval, columns, gaps = [], first = 0 }: Series, out: Subject<FeedGap>) {
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
    this.#gaps = out;
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

  end(): void {
    for (const listener of this.#listeners) listener.complete();
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

const keyOf = (symbol: string, interval: Interval): string => `${symbol} ${interval}`;
