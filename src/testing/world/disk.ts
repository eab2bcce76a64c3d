/**
 * The machine's disk: a real SQLite database in memory. What a process has committed outlives it; what the disk has synced
 * outlives a power cut, which reopens the database from those bytes.
 */
import Database from 'better-sqlite3';
import type { Entry } from '../../journal/entries.ts';
import type { WriteResult, WriterHost } from '../../journal/journal.ts';
import { migrate } from '../../journal/schema.ts';
import { writer } from '../../journal/writer.ts';
import type { Chance } from './chance.ts';
import { type Life, never, type Time } from './life.ts';

/** An empty journal, copied for each world: migrating anew would cost a millisecond. */
const emptyJournal: Buffer = (() => {
  const db = new Database(':memory:');
  migrate(db);
  const bytes = db.serialize();
  db.close();
  return bytes;
})();

/** A database that prepares each statement once: every process prepares the same ones, and there are several in a world. */
function opened(bytes: Buffer): Database.Database {
  const db = new Database(bytes);
  const prepare = db.prepare.bind(db);
  const known = new Map<string, Database.Statement>();
  return Object.assign(db, {
    prepare(sql: string): Database.Statement {
      const statement = known.get(sql) ?? prepare(sql);
      known.set(sql, statement);
      return statement;
    },
  });
}

export interface DiskOptions {
  readonly time: Time;
  readonly chance: Chance;
  readonly slow: boolean;
  /** Each so many-th commit is synced: 1 is `synchronous=FULL`. */
  readonly syncEvery: number;
  /** Told of each batch just after it was committed. */
  readonly committed: (entries: readonly Entry[], db: Database.Database) => void;
}

export class Disk {
  #db = opened(emptyJournal);
  readonly #options: DiskOptions;
  #synced: Buffer | undefined;
  #commits = 0;
  full = false;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  get db(): Database.Database {
    return this.#db;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Commits by the process that starts: how often it was opened. */
  nextEpoch(): number {
    const known = this.#db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string } | undefined;
    const epoch = Number(known?.value ?? '0') + 1;
    this.#db.prepare("INSERT OR REPLACE INTO meta VALUES ('epoch', ?)").run(String(epoch));
    this.#noteCommit();
    return epoch;
  }

  #noteCommit(): void {
    this.#commits++;
    const { syncEvery } = this.#options;
    if (syncEvery > 1 && this.#commits % syncEvery === 0) this.#synced = this.#db.serialize();
  }

  /** The power goes and comes back: the bytes that were synced are opened anew. */
  losePower(): void {
    // With every commit synced the bytes would be the same.
    if (this.#options.syncEvery === 1) return;
    this.#db.close();
    this.#db = opened(this.#synced ?? emptyJournal);
  }

  /** The writer of one process: a batch is committed some time after it was handed over, and the process is told. */
  host(life: Life, epoch: number): WriterHost {
    const write = writer(this.#db, epoch);
    return {
      volatile: false,
      write: (entries) => this.#write(entries, life, write),
      close: () => Promise.resolve(),
    };
  }

  #write(
    entries: readonly Entry[],
    life: Life,
    write: (entries: readonly Entry[]) => void,
  ): Promise<WriteResult> | WriteResult {
    if (!life.alive) return never();
    const { time, chance, slow } = this.#options;
    return new Promise((resolve) => {
      time.after(slow && chance.is(0.1) ? chance.between(20, 600) : chance.between(0.2, 6), () => {
        if (life.diesAt('beforeCommit')) return;
        if (this.full) {
          resolve('full');
          return;
        }
        write(entries);
        this.#noteCommit();
        this.#options.committed(entries, this.#db);
        if (!life.diesAt('afterCommit')) resolve('written');
      });
    });
  }

  close(): void {
    this.#db.close();
  }
}
