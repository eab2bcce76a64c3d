/**
 * The journal: signals, denials, orders, answers and fills. `append` is synchronous and cheap; `durable` comes before a create leaves.
 * It knows which fills are rows already, so that a fill counts once.
 */
import type { Clock } from '../clock/clock.ts';
import { redactWords } from '../domain/redaction.ts';
import type { CursorEntry, Entry, FillEntry, OrderEntryRow } from './entries.ts';
import type { FillKey, Past } from './past-orders.ts';

/** Writes batches: a worker with a file, or the database of a simulated process. */
export interface WriterHost {
  /** Writes a batch in one durable transaction. */
  write(entries: readonly Entry[]): Promise<WriteResult> | WriteResult;
  close(): Promise<void>;
}
export type WriteResult = 'written' | 'full';

export interface Journal {
  append(entry: Entry): void;
  /** An entry of which only the last version counts. `entry` is called once for each batch, when it is written. */
  latest(key: string, entry: () => OrderEntryRow | CursorEntry): void;
  /** Appends a fill unless it is a row already; true if it was new. */
  insertFill(key: FillKey, fill: () => FillEntry): boolean;
  /** True if the fill is a row already. */
  hasFill(key: FillKey): boolean;
  /** True if the fill is a row already with other content. The row stays; the caller reports it. */
  isOther(key: FillKey, fill: () => FillEntry): boolean;
  /** Resolves true once everything appended so far is on disk, false if the disk is full (it is tried again; nothing is lost). */
  durable(): Promise<boolean>;
  /** True for a journal in memory: evidence in it would never be read. */
  readonly volatile: boolean;
  /** True while the disk is full: no order may be sent. */
  readonly full: boolean;
  /** Writes the remaining entries and closes. */
  close(): Promise<void>;
}

/** How long entries without `durable` are collected into a batch, real ms. */
const groupMs = 50;
/** Between attempts while the disk is full, real ms. */
const retryMs = 1_000;
/** Entries kept in memory while the disk is full. With more the program stops. */
const maxWaiting = 200_000;

/** Entries that are not written yet. */
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
    /** Puts a batch back that the full disk did not take. */
    putBack(batch: readonly Entry[]): void {
      entries = [...batch, ...entries];
      if (entries.length + latest.size > maxWaiting)
        throw new Error(`the disk has been full for ${entries.length + latest.size} journal entries; stopping`);
    },
  };
}

/** `written` reads the rows of fills that are written. `observe` gets each appended entry, fills too. */
export function journal(
  host: WriterHost,
  clock: Clock,
  written: Past['fill'] = () => undefined,
  observe: (entry: Entry) => void = () => {},
): Journal {
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

  /** Writes one batch at a time, in order. */
  async function flush(): Promise<boolean> {
    while (writing !== undefined) await writing;
    if (waiting.size === 0) return true;
    writing = writeBatch();
    return writing;
  }

  async function writeBatch(): Promise<boolean> {
    const batch = waiting.take();
    full = (await host.write(batch)) === 'full';
    writing = undefined;
    if (full) waiting.putBack(batch);
    else fills.trim(waiting.size);
    if (full && !closed) later(retryMs);
    return !full;
  }

  function append(given: Entry): void {
    const entry = redactWords(given);
    waiting.push(entry);
    later(groupMs);
    observe(entry);
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

/** Fills kept in memory beside those that are not written yet: sweeps read the newest trades again. */
const maxFills = 10_000;

/** The fills that are rows already, with a fingerprint of their content. Older ones are read from the journal. */
function fillMemory(written: Past['fill']) {
  const rows = new Map<string, number>();
  /** The last key that was not found: `isOther` and `insertFill` ask for the same key in turn. */
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
    /** The fill if it is new; from then on it counts as a row. */
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
    /** Drops the oldest written fills; `waiting`: number of entries that are not written yet. */
    trim(waiting: number): void {
      for (const name of rows.keys()) {
        if (rows.size <= maxFills + waiting) return;
        rows.delete(name);
      }
    },
  };
}

/** FNV-1a of a trade's content, 32 bits. One change in four billion is missed, and the ledger would show it. */
function fingerprint({ side, price, quantity, fee, feeAsset }: FillEntry): number {
  const text = `${side} ${price} ${quantity} ${fee} ${feeAsset}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}
