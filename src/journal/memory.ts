/**
 * A journal in memory, for backtests: it needs no waiting and does not outlive the process. Rows are made on demand, which most runs never
 * need; until then an order is kept as it is.
 */
import type Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { FillKey } from './past-orders.ts';
import { memoryHost } from './writer-hosts.ts';

export interface MemoryJournal extends Journal {
  /** Everything as rows. */
  readonly db: Database.Database;
  /** All kept entries but fills; of an order its last version. */
  entries(): readonly Entry[];
}

/** Number of fills that are surely known: a venue lists up to a thousand of its newest trades again. */
const maxFills = 10_000;

/** True for a fill the first time. The second order of a self-trade has a key of both ids. */
function newFills(): (key: FillKey) => boolean {
  let orderOf = new Map<string, string>();
  let before = orderOf;
  const order = (tradeId: string): string | undefined => orderOf.get(tradeId) ?? before.get(tradeId);
  return ({ tradeId, orderId }) => {
    const known = order(tradeId);
    const key = known === undefined ? tradeId : `${tradeId} ${orderId}`;
    if (known === orderId || order(key) !== undefined) return false;
    if (orderOf.size >= maxFills) {
      before = orderOf;
      orderOf = new Map();
    }
    orderOf.set(key, orderId);
    return true;
  };
}

/** `keeps`: whether an entry is kept at all. */
export function memoryJournal(keeps: (entry: Entry) => boolean = () => true): MemoryJournal {
  const entries: Entry[] = [];
  const latest: (() => Entry)[] = [];
  const indices = new Map<string, number>();
  let last = { key: '', index: -1 };
  const fillRows: (() => Entry)[] = [];
  const isNew = newFills();
  let host: ReturnType<typeof memoryHost> | undefined;
  /** The index of an entry's latest version; mostly it is the last key again. */
  function indexOf(key: string): number {
    if (key === last.key) return last.index;
    const index = indices.get(key) ?? indices.size;
    indices.set(key, index);
    last = { key, index };
    return index;
  }
  const all = (): readonly Entry[] => [...entries, ...latest.map((make) => make()).filter(keeps)];
  function append(entry: Entry): void {
    if (keeps(entry)) entries.push(entry);
  }
  return {
    append,
    latest(key, entry) {
      latest[indexOf(key)] = entry;
    },
    insertFill(key, fill) {
      if (!isNew(key)) return false;
      fillRows.push(fill);
      return true;
    },
    // A simulated venue never changes a fill.
    hasFill: () => false,
    isOther: () => false,
    durable: () => Promise.resolve(true),
    volatile: true,
    full: false,
    close: () => Promise.resolve(),
    entries: all,
    get db() {
      if (host === undefined) {
        host = memoryHost();
        host.write([...all(), ...fillRows.map((make) => make())]);
      }
      return host.db;
    },
  };
}
