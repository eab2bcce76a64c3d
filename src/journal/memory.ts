/**
 * A journal in this process and in memory, for backtests: nobody waits for it and nothing outlives it. Rows are made when somebody
 * asks for them, since most runs never do: until then an order is kept as itself, which takes no more room than its row.
 */
import type Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { FillKey } from './past-orders.ts';
import { memoryHost } from './writer-hosts.ts';

export interface MemoryJournal extends Journal {
  /** Everything as rows, by the one writer. */
  readonly db: Database.Database;
  /** Everything that is kept but fills, of an order its last version. */
  entries(): readonly Entry[];
}

/** Fills known as rows, at least: a venue lists its newest trades again, some fifty after the first look and a thousand at it. */
const mostFills = 10_000;

/** True for a fill once; of a trade with ourselves the second order is known by both ids. */
function newFills(): (key: FillKey) => boolean {
  let orderOf = new Map<string, string>();
  let before = orderOf;
  const order = (tradeId: string): string | undefined => orderOf.get(tradeId) ?? before.get(tradeId);
  return ({ tradeId, orderId }) => {
    const known = order(tradeId);
    const key = known === undefined ? tradeId : `${tradeId} ${orderId}`;
    if (known === orderId || order(key) !== undefined) return false;
    if (orderOf.size >= mostFills) {
      before = orderOf;
      orderOf = new Map();
    }
    orderOf.set(key, orderId);
    return true;
  };
}

/** What `keeps` says no to is dropped at once. */
export function memoryJournal(keeps: (entry: Entry) => boolean = () => true): MemoryJournal {
  const entries: Entry[] = [];
  const latest: (() => Entry)[] = [];
  const places = new Map<string, number>();
  let last = { key: '', place: -1 };
  const fillRows: (() => Entry)[] = [];
  const isNew = newFills();
  let host: ReturnType<typeof memoryHost> | undefined;
  /** Where the versions of an entry stand. Mostly it is the one that was asked for last. */
  function placeOf(key: string): number {
    if (key === last.key) return last.place;
    const place = places.get(key) ?? places.size;
    places.set(key, place);
    last = { key, place };
    return place;
  }
  const all = (): readonly Entry[] => [...entries, ...latest.map((make) => make()).filter(keeps)];
  function append(entry: Entry): void {
    if (keeps(entry)) entries.push(entry);
  }
  return {
    append,
    latest(key, entry) {
      latest[placeOf(key)] = entry;
    },
    insertFill(key, fill) {
      if (!isNew(key)) return false;
      fillRows.push(fill);
      return true;
    },
    // A venue of our own made the fills: it says the same each time, and nobody judges them.
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
