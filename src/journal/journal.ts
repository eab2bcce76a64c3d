/**
 * The journal: what was wanted, refused, sent, answered and filled. `append` is synchronous and cheap; `durable` comes before
 * a create leaves. Which fills are rows already is known in memory, so that a fill counts once.
 */
import type { Clock } from '../clock/clock.ts';
import type { CursorEntry, Entry, FillEntry, OrderEntryRow } from './entries.ts';
import type { FillKey, Past } from './past-orders.ts';

/** Where batches go: a worker with a file, or a database of a simulated process. */
export interface WriterHost {
  /** Writes a batch in one durable transaction. */
  write(entries: readonly Entry[]): Promise<WriteResult> | WriteResult;
  close(): Promise<void>;
}
export type WriteResult = 'written' | 'full';

export interface Journal {
  append(entry: Entry): void;
  /** An entry of which only the last version counts, as it will stand when the batch is written: it is worked out once for each batch. */
  latest(key: string, entry: () => OrderEntryRow | CursorEntry): void;
  /** Appends a fill unless its (trade id, order id) is a row already; true when it was new. */
  insertFill(key: FillKey, fill: () => FillEntry): boolean;
  /** True when the fill of this key is a row already. */
  hasFill(key: FillKey): boolean;
  /** True when the fill of this key is a row already, with other content: the row stays, and somebody must be told. */
  isOther(key: FillKey, fill: () => FillEntry): boolean;
  /** Resolves true when everything appended so far is on disk, false when the disk is full (nothing is lost: it is tried again). */
  durable(): Promise<boolean>;
  /** True where nothing outlives the process, so that nobody will ever read evidence. */
  readonly volatile: boolean;
  /** True while the disk is full: no order may be created. */
  readonly full: boolean;
  /** Writes what is left and closes. */
  close(): Promise<void>;
}

/** How long entries that nobody waits for may wait for company, real ms. */
const groupMs = 50;
/** How long after a full disk the next attempt comes, real ms. */
const retryMs = 1_000;
/** Entries kept in memory while the disk is full; past it the program must not go on as if it knew what it did. */
const mostWaiting = 200_000;

/** Entries that nobody has written yet. */
function queue() {
  let entries: Entry[] = [];
  let latest = new Map<string, () => Entry>();
  return {
    push(entry: Entry): void {
      entries.push(entry);
    },
    latest(key: string, entry: () => Entry): void {
      latest.set(key, entry);
    },
    get size(): number {
      return entries.length + latest.size;
    },
    take(): Entry[] {
      const batch = entries;
      for (const make of latest.values()) batch.push(make());
      entries = [];
      latest = new Map();
      return batch;
    },
    /** Keeps a batch that found no room. */
    putBack(batch: readonly Entry[]): void {
      entries = [...batch, ...entries];
      if (entries.length + latest.size > mostWaiting)
        throw new Error(`the disk has been full for ${entries.length + latest.size} journal entries; stopping`);
    },
  };
}

/** `written`: the rows of fills that were there before, or have been written since. */
export function journal(host: WriterHost, clock: Clock, written: Past['fill'] = () => undefined): Journal {
  const fills = fillMemory(written);
  const waiting = queue();
  let writing: Promise<boolean> | undefined;
  let cancelTimer: (() => void) | undefined;
  let [full, closed] = [false, false];

  function later(ms: number): void {
    cancelTimer ??= clock.at(clock.now() + clock.machine(ms), () => {
      cancelTimer = undefined;
      void flush();
    });
  }

  /** One batch at a time, in order; a batch that did not fit stays at the head of the queue. */
  async function flush(): Promise<boolean> {
    while (writing !== undefined) await writing;
    if (waiting.size === 0) return true;
    writing = writeBatch();
    return writing;
  }

  async function writeBatch(): Promise<boolean> {
    const batch = waiting.take();
    const result = await host.write(batch);
    writing = undefined;
    full = result === 'full';
    if (full) waiting.putBack(batch);
    else fills.trim(waiting.size);
    if (full && !closed) later(retryMs);
    return !full;
  }

  function append(entry: Entry): void {
    waiting.push(entry);
    later(groupMs);
  }

  return {
    append,
    latest(key, entry) {
      waiting.latest(key, entry);
      later(groupMs);
    },
    insertFill(key, make) {
      const fill = fills.ifNew(key, make);
      if (fill !== undefined) append(fill);
      return fill !== undefined;
    },
    hasFill: (key) => fills.has(key),
    isOther: (key, fill) => fills.isOther(key, fill),
    durable: flush,
    volatile: false,
    get full() {
      return full;
    },
    async close() {
      closed = true;
      cancelTimer?.();
      await flush();
      await host.close();
    },
  };
}

/** Fills kept in memory beside those that are not written yet: looks read the newest trades again. */
const mostFills = 10_000;

/** Which fills are rows already, and what they say: as a number, of which two differ where the rows do. Older ones are looked up. */
function fillMemory(written: Past['fill']) {
  const rows = new Map<string, number>();
  /** The last key that was looked up and is no row: whoever asks whether a fill is another one asks next whether it is new. */
  let absent: string | undefined;
  const keyOf = ({ tradeId, orderId }: FillKey): string => `${tradeId}|${orderId}`;
  function known(key: FillKey): number | undefined {
    const name = keyOf(key);
    const content = rows.get(name);
    if (content !== undefined) return content;
    const row = name === absent ? undefined : written(key);
    if (row === undefined) {
      absent = name;
      return undefined;
    }
    rows.set(name, fingerprint(row));
    return fingerprint(row);
  }
  return {
    /** The row of a fill that is none yet; from then on it counts as one. */
    ifNew(key: FillKey, make: () => FillEntry): FillEntry | undefined {
      if (known(key) !== undefined) return undefined;
      const fill = make();
      rows.set(keyOf(key), fingerprint(fill));
      absent = undefined;
      return fill;
    },
    has: (key: FillKey): boolean => known(key) !== undefined,
    isOther(key: FillKey, fill: () => FillEntry): boolean {
      const content = known(key);
      return content !== undefined && content !== fingerprint(fill());
    },
    /** Forgets the oldest of what can be looked up; `waiting`: entries that nobody has written yet, the newest of all. */
    trim(waiting: number): void {
      for (const name of rows.keys()) {
        if (rows.size <= mostFills + waiting) return;
        rows.delete(name);
      }
    },
  };
}

/** FNV-1a of what a trade is about, 32 bits: one change in four billion would be passed over, and the ledger would show it. */
function fingerprint({ side, price, quantity, fee, feeAsset }: FillEntry): number {
  const text = `${side} ${price} ${quantity} ${fee} ${feeAsset}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}
