/**
 * The machine's disk: a real SQLite database in memory. What a process has committed outlives it; what the disk has synced
 * outlives a power cut, which reopens the database from those bytes.
 */
import Database from 'better-sqlite3';
import type { Entry } from '../../src/journal/entries.ts';
import type { WriteResult, WriterHost } from '../../src/journal/journal.ts';
import { type Write, writeOrFull, writer } from '../../src/journal/writer.ts';
import type { Chance } from './chance.ts';
import { cleared, giveBack, opened } from './database.ts';
import { type Life, never, type Time } from './life.ts';
import { type DiskError, diskErrors } from './plan.ts';

/** Told that the writer of a process broke; what a mutant makes of it is answered in its place. */
export type Broke = (error: unknown) => WriteResult | undefined;

/** How long a commit takes at most, ms. */
export const slowestCommitMs = 600;

/** SQLite's own bound. */
const maxPages = 1_073_741_823;

export interface DiskOptions {
  readonly time: Time;
  readonly chance: Chance;
  readonly slow: boolean;
  /** Each so many-th commit is synced: 1 is `synchronous=FULL`. */
  readonly syncEvery: number;
  /** The number of its pages will matter. */
  readonly bounded: boolean;
  /** Told of each batch just after it was committed. */
  readonly committed: (entries: readonly Entry[], db: Database.Database) => void;
  /** Told where a process writes on after an I/O error: nobody knows then what is on the disk. */
  readonly wroteOn: () => void;
}

export class Disk {
  #db: Database.Database;
  /** False once the power was lost: what was reopened is nobody else's. */
  #isShared: boolean;
  readonly #options: DiskOptions;
  #synced: Buffer | undefined;
  #commits = 0;
  full = false;
  /** How the next commit fails. */
  failsNext: DiskError | undefined;
  #noPages = false;

  constructor(options: DiskOptions) {
    this.#options = options;
    this.#isShared = !options.bounded;
    this.#db = options.bounded ? opened() : cleared();
  }

  get db(): Database.Database {
    return this.#db;
  }

  get commits(): number {
    return this.#commits;
  }

  /** The database cannot grow by a page. */
  set noPages(on: boolean) {
    this.#noPages = on;
    this.#bound();
  }

  #bound(): void {
    const most = this.#noPages ? this.#db.pragma('page_count', { simple: true }) : maxPages;
    this.#db.pragma(`max_page_count = ${String(most)}`);
  }

  /** Commits by the process that starts: how often it was opened. Throws where the disk fails. */
  nextEpoch(): number {
    let epoch = 0;
    this.#failing(() => {
      epoch = this.#raiseEpoch();
    });
    return epoch;
  }

  /** Does what commits, with the error that waits for it. */
  #failing(commit: () => void): void {
    const how = this.failsNext;
    this.failsNext = undefined;
    if (how !== 'write') commit();
    if (how !== undefined) throw new Database.SqliteError('disk I/O error', diskErrors[how]);
  }

  #raiseEpoch(): number {
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
    this.#isShared = false;
    this.#db = opened(this.#synced);
    this.#bound();
  }

  /**
   * The writer of one process: a batch is committed some time after it was handed over, and the process is told. Where the writer breaks
   * `broke` is told, as the thread of a real one does, and the batch is never answered.
   */
  host(life: Life, epoch: number, broke: Broke): WriterHost {
    const write = writer(this.#db, epoch);
    let isBroken = false;
    const told: Broke = (error) => {
      isBroken = true;
      return broke(error);
    };
    const commit = (batch: readonly Entry[]): WriteResult | undefined => {
      if (isBroken) this.#options.wroteOn();
      return this.#commit(batch, write, told);
    };
    return {
      write: (entries) => this.#write(entries, life, commit),
      close: () => Promise.resolve(),
    };
  }

  #write(
    entries: readonly Entry[],
    life: Life,
    commit: (entries: readonly Entry[]) => WriteResult | undefined,
  ): Promise<WriteResult> | WriteResult {
    if (!life.alive) return never();
    const { time, chance, slow } = this.#options;
    return new Promise((resolve) => {
      time.after(slow && chance.is(0.1) ? chance.between(20, slowestCommitMs) : chance.between(0.2, 6), () => {
        if (life.diesAt('beforeCommit')) return;
        if (this.full) {
          resolve('full');
          return;
        }
        const result = commit(entries);
        if (result === 'full') resolve(result);
        else if (result !== undefined && !life.diesAt('afterCommit')) resolve(result);
      });
    });
  }

  /** What the production code makes of it; undefined where its writer broke. */
  #commit(entries: readonly Entry[], write: Write, broke: Broke): WriteResult | undefined {
    let isThere = false;
    const done = (): void => {
      if (!isThere) return;
      this.#noteCommit();
      this.#options.committed(entries, this.#db);
    };
    try {
      const result = writeOrFull((batch) => {
        this.#failing(() => {
          write(batch);
          isThere = true;
        });
      }, entries);
      done();
      return result;
    } catch (error) {
      done();
      return broke(error);
    }
  }

  close(): void {
    if (this.#isShared) giveBack(this.#db);
    else this.#db.close();
  }
}
