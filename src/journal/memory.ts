/**
 * A journal in this process and in memory, for backtests: nobody waits for it and nothing outlives it. Rows are made when somebody
 * asks for them, since most runs never do: until then an order is kept as itself, which takes no more room than its row.
 */
import type Database from 'better-sqlite3';
import type { Entry } from './entries.ts';
import { memoryHost } from './hosts.ts';
import type { Journal } from './journal.ts';
import type { FillKey } from './past.ts';

export interface MemoryJournal extends Journal {
  /** Everything as rows, by the one writer. */
  readonly db: Database.Database;
  /** Everything that is kept, of an order its last version. */
  entries(): readonly Entry[];
}

/** What `keeps` says no to is dropped at once. */
export function memoryJournal(keeps: (entry: Entry) => boolean = () => true): MemoryJournal {
  const entries: Entry[] = [];
  const latest = new Map<string, () => Entry>();
  /** Trades that have a row, and of which order; of a trade with ourselves the other order is kept beside them. */
  const fills = new Map<string, string>();
  const others = new Set<string>();
  let host: ReturnType<typeof memoryHost> | undefined;
  const all = (): readonly Entry[] => [...entries, ...[...latest.values()].map((make) => make()).filter(keeps)];
  function append(entry: Entry): void {
    if (keeps(entry)) entries.push(entry);
  }
  function isNew({ tradeId, orderId }: FillKey): boolean {
    const known = fills.get(tradeId);
    if (known === orderId) return false;
    const other = known === undefined ? undefined : `${tradeId} ${orderId}`;
    if (other === undefined) fills.set(tradeId, orderId);
    else if (others.has(other)) return false;
    else others.add(other);
    return true;
  }
  return {
    append,
    latest: (key, entry) => void latest.set(key, entry),
    insertFill(fill) {
      if (!isNew(fill)) return false;
      append(fill);
      return true;
    },
    // A venue of our own made the fills: it says the same each time.
    isOther: () => false,
    durable: () => Promise.resolve(true),
    volatile: true,
    full: false,
    close: () => Promise.resolve(),
    entries: all,
    get db() {
      if (host === undefined) {
        host = memoryHost();
        void host.write(all());
      }
      return host.db;
    },
  };
}
