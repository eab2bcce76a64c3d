/** Records a feed: every frame as it came, and notes with facts that frames do not contain. */
import type { Subscription } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import { lockFrames } from '../../data/frames/folder.ts';
import { FrameWriter } from '../../data/frames/writer.ts';
import type { Interval } from '../../domain/interval.ts';
import type { FeedGap, Kline } from '../../domain/market.ts';
import type { MarketFeed } from '../../venue/venue.ts';

/** The recorded channels of a symbol. */
export interface Recorded {
  readonly symbol: string;
  readonly trades: boolean;
  readonly depth: boolean;
  readonly klines: readonly Interval[];
}

/** What stands among the frames and is no frame. */
export type Note =
  /** At the head of each file; `begins`: the recording starts here, and earlier data are missing. */
  | { readonly source: string; readonly symbols: readonly Recorded[]; readonly begins: boolean }
  /** A connection was opened: what comes first may have come before. */
  | { readonly connected: true }
  | { readonly gap: FeedGap }
  /** Closed for certain, which a frame never says. */
  | { readonly kline: Kline };

export interface RecorderOptions {
  /** The catalogue. */
  readonly dir: string;
  readonly source: string;
  readonly symbols: readonly Recorded[];
  /** Bytes that recorded frames may take on the disk. */
  readonly maxBytes: number;
  /** Called once if the recording ends early. Trading goes on. */
  readonly ended: (why: string) => void;
  /** A file was closed: at the end of a day, at its full size. */
  readonly closed: () => void;
}

export type Recorder = ReturnType<typeof recorder>;

/** Takes the lock of the catalogue's frames; a `Refusal` when another process records into it. */
export function recorder({ dir, source, symbols, maxBytes, ended, closed }: RecorderOptions) {
  const unlock = lockFrames(dir);
  const listening: Subscription[] = [];
  let writer: FrameWriter | undefined;
  const textOf = (note: Note): Buffer => Buffer.from(JSON.stringify(note));
  const note = (value: Note): void => writer?.add('note', textOf(value));
  const opening = (begins: boolean): Buffer => textOf({ source, symbols, begins });
  return {
    /** For `ExchangeOptions.observeFrames`. */
    observeFrames: (bytes: Uint8Array | undefined): void => {
      if (bytes === undefined) note({ connected: true });
      else writer?.add('frame', bytes);
    },
    /** Subscribes to the channels and begins. */
    follow(feed: MarketFeed, clock: Clock): void {
      writer = new FrameWriter({ dir, maxBytes, now: () => clock.now(), opening, ended, closed });
      listening.push(feed.gaps.subscribe((gap) => note({ gap })));
      for (const { symbol, trades, depth, klines } of symbols) {
        if (trades) listening.push(feed.trades(symbol).subscribe());
        if (depth) listening.push(feed.depth(symbol).subscribe());
        for (const interval of klines)
          listening.push(feed.klines(symbol, interval).subscribe((kline) => note({ kline })));
      }
    },
    /** Why nothing is recorded any more. */
    get against(): string | undefined {
      return writer?.against;
    },
    async stop(): Promise<void> {
      for (const one of listening) one.unsubscribe();
      await writer?.close();
      writer = undefined;
      unlock();
    },
  };
}
