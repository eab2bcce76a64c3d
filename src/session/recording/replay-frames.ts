/** Replays recorded frames through the readers of the live feed, so that the catalogue has exactly what a strategy would have received. */
import type { Clock } from '../../clock/clock.ts';
import { decoded, type FrameRecord } from '../../data/frames/file.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Depth, Kline, Trade } from '../../domain/market.ts';
import { channelOf } from '../../venue/exchange/market/channels.ts';
import { depthStream } from '../../venue/exchange/market/depth-stream.ts';
import { decodeFrame } from '../../venue/exchange/market/frames.ts';
import type { Hole, Listener } from '../../venue/exchange/market/socket.ts';
import { tradeStream } from '../../venue/exchange/market/trade-stream.ts';
import type { Note, Recorded } from './recorder.ts';

/** A stretch without recording; `from` is left out at its beginning. */
export interface Unseen {
  readonly from?: number;
  readonly to: number;
}

/** What a file of frames holds of one series. */
export interface Found<T> {
  readonly rows: T[];
  readonly unseen: Unseen[];
}

/** By symbol; klines by symbol and interval. */
const nothingFound = () => ({
  trades: new Map<string, Found<Trade>>(),
  depth: new Map<string, Found<Depth>>(),
  klines: new Map<string, Found<Kline>>(),
});

export interface FileContent extends ReturnType<typeof nothingFound> {
  readonly source: string;
  readonly lostBytes: number;
  readonly damagedBytes: number;
  /** Its beginning is damaged, which alone would have said what was recorded. */
  readonly isUnknown: boolean;
}

interface Followed {
  readonly listener: Listener;
  /** The next row is the first of a recording. */
  isFirst: boolean;
}

/** Reads files in their order; what one ends with the next goes on with. */
export class Replay {
  /** How often each thing was left out, by what is wrong with it. */
  readonly leftOut = new Map<string, number>();
  #source = 'unknown';
  #symbols: readonly Recorded[] = [];
  #now = 0;
  readonly #channels = new Map<string, Followed>();
  #found = nothingFound();

  /** Undefined when the bytes are no file of frames. */
  read(bytes: Buffer): FileContent | undefined {
    const file = decoded(bytes);
    if (file === undefined) return undefined;
    this.#found = nothingFound();
    for (const [index, record] of file.records.entries()) {
      if (record.kind === 'lost') {
        this.#lost(file.records[index + 1]?.seenAt ?? this.#now);
        continue;
      }
      this.#now = record.seenAt;
      if (record.kind === 'note') this.#note(JSON.parse(Buffer.from(record.bytes).toString()) as Note);
      else this.#frame(record);
    }
    const { lostBytes, damagedBytes } = file;
    const isUnknown = damagedBytes > 0 && this.#symbols.length === 0;
    return { ...this.#found, source: this.#source, lostBytes, damagedBytes, isUnknown };
  }

  /** From here on what comes may have come before. */
  get #break(): Hole {
    return { from: this.#now, to: this.#now, cause: 'recorded' };
  }

  #note(note: Note): void {
    if ('symbols' in note) {
      this.#source = note.source;
      this.#symbols = note.symbols;
      if (note.begins) this.#channels.clear();
      for (const one of note.symbols) this.#follow(one, note.begins);
    } else if ('connected' in note) {
      for (const { listener } of this.#channels.values()) listener.hole(this.#break);
    } else if ('kline' in note) {
      const { symbol, interval } = note.kline;
      found(this.#found.klines, `${symbol} ${interval}`).rows.push(note.kline);
    } else if (!note.gap.healed) {
      const { symbol, channel, from, to } = note.gap;
      if (channel === 'trades' || channel === 'depth') this.#unseen(channel, symbol, { from, to });
    }
  }

  /** Damaged records are a stretch without recording, up to `to` (UTC ms). */
  #lost(to: number): void {
    const from = this.#now;
    for (const { listener } of this.#channels.values()) listener.hole(this.#break);
    for (const recorded of this.#symbols)
      for (const channel of ['trades', 'depth'] as const)
        if (recorded[channel]) this.#unseen(channel, recorded.symbol, { from, to });
  }

  #unseen(channel: 'trades' | 'depth', symbol: string, unseen: Unseen): void {
    found<Trade | Depth>(this.#found[channel], symbol).unseen.push(unseen);
  }

  #follow({ symbol, trades, depth }: Recorded, isFirst: boolean): void {
    const count = (kind: string): void => void this.leftOut.set(kind, (this.leftOut.get(kind) ?? 0) + 1);
    // The notes of the recording contain the holes.
    const gap = (): void => {};
    const name = { trades: channelOf('trades', symbol), depth: channelOf('depth', symbol) };
    if (trades && !this.#channels.has(name.trades)) {
      const print = (one: Trade): void => this.#take(name.trades, found(this.#found.trades, symbol), one);
      const listener = tradeStream({ symbol, count, now: () => this.#now, print, gap });
      this.#channels.set(name.trades, { isFirst, listener });
    }
    if (depth && !this.#channels.has(name.depth)) {
      const book = (one: Depth): void => this.#take(name.depth, found(this.#found.depth, symbol), one);
      const clock = standingClock(() => this.#now);
      this.#channels.set(name.depth, { isFirst, listener: depthStream({ symbol, clock, count, book, gap }) });
    }
  }

  #take<T extends { readonly time: number }>(channel: string, { rows, unseen }: Found<T>, row: T): void {
    const followed = this.#channels.get(channel);
    if (followed?.isFirst === true) {
      unseen.push({ to: row.time });
      followed.isFirst = false;
    }
    rows.push(row);
  }

  #frame({ bytes }: FrameRecord): void {
    const frame = decodeFrame(Buffer.from(bytes));
    if (frame.kind === 'push') this.#channels.get(frame.channel)?.listener.data(frame.tick, frame.ts);
    else if (frame.kind === 'history') {
      // The reply to a query after a break repeats known rows, and the next frames may repeat them again.
      const listener = this.#channels.get(frame.channel)?.listener;
      listener?.hole(this.#break);
      listener?.data({ data: frame.rows }, frame.ts);
      listener?.hole(this.#break);
    } else if (frame.kind === 'malformed') this.leftOut.set(frame.kind, (this.leftOut.get(frame.kind) ?? 0) + 1);
  }
}

const found = <T>(all: Map<string, Found<T>>, name: string): Found<T> =>
  getOrMake(all, name, () => ({ rows: [], unseen: [] }));

/** Shows the time of each frame. It cannot be waited for. */
const standingClock = (now: () => number): Clock => ({
  now,
  monotonic: now,
  machine: (ms) => ms,
  sleep: () => Promise.resolve(),
  at: () => () => {},
  track: (work) => work,
});
