/** Checks a journal before it is opened for writing. It is read-only: a refused journal stays as it was. */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { blockUntil } from '../clock/clock.ts';
import { moduleUrl } from '../domain/module-url.ts';
import { Refusal } from '../domain/refusal.ts';
import { answerBytes, type Examination, type Examined, examined, integrityOf } from './examiner.ts';
import { addTotal, brokenHead, chainedTables, emptyTotal, sumRows, type Total, totalOf } from './hash-chain.ts';
import { isOurs, refuseNewer, versionOf } from './schema.ts';

/** From this size on a journal is examined by threads, bytes. For a small file, starting them costs more than reading it. */
const largeBytes = 16 * 1_048_576;
/** A thread that takes longer has died; real ms. */
const maxMs = 600_000;

/** A running examination. `block` or `settle` is called once; both throw the refusal of a damaged journal. */
export interface Examining<T> {
  /** Waits and blocks this thread. */
  readonly block: () => T;
  /** Waits without blocking. */
  readonly settle: () => Promise<T>;
}

/**
 * Refuses (exit 3) a journal that is damaged, foreign, newer, or changed by anything but Sluice. `meanwhile` runs on the same read-only
 * connection while threads read a large file; its result is returned at the end. Undefined for an empty file.
 */
export function examine<T>(path: string, meanwhile: (db: Database.Database) => T): Examining<T> | undefined {
  const db = new Database(path, { readonly: true, timeout: 2_000 });
  try {
    const version = versionOf(db);
    if (version === 0 && isEmpty(db)) {
      db.close();
      return undefined;
    }
    if (version === 0 || !isOurs(db))
      throw new Refusal(
        `${path} is damaged, or not a journal of Sluice (it lacks tables of schema ${version}): restore a backup, or give another directory with --state DIR; nothing was changed`,
        3,
      );
    refuseNewer(path, version);
    const inThread = statSync(path).size < largeBytes ? undefined : inThreads(db, path);
    // A damaged journal may not be readable: the findings explain why, so they are thrown first.
    const result = attempt(() => meanwhile(db));
    const end = (findings: Findings): T => {
      try {
        refuseDamaged(db, path, findings);
        return result();
      } finally {
        db.close();
      }
    };
    if (inThread !== undefined)
      return { block: () => end(inThread.block()), settle: async () => end(await inThread.settle()) };
    const whole = end(here(db));
    return { block: () => whole, settle: () => Promise.resolve(whole) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function refuseDamaged(db: Database.Database, path: string, { integrity, total }: Findings): void {
  if (integrity !== 'ok')
    throw new Refusal(`${path} is damaged (${integrity}): restore a backup; nothing was changed`, 3);
  const broken = brokenHead(db, total);
  if (broken !== undefined)
    throw new Refusal(
      `${path} was changed by something other than Sluice (${broken}): restore a backup, or see sluice journal check; nothing was changed`,
      3,
    );
}

const isEmpty = (db: Database.Database): boolean => db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;

interface Findings {
  readonly integrity: string;
  readonly total: Total;
}

function attempt<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** In this thread: a small file is read in milliseconds. */
function here(db: Database.Database): Findings {
  const integrity = integrityOf(db);
  return { integrity, total: integrity === 'ok' ? sumRows(db) : emptyTotal() };
}

/** More than half of all rows. One thread reads these tables as long as another takes for SQLite's check and all others. */
const largeTables: readonly string[] = ['events', 'venue_trades'];

function inThreads(db: Database.Database, path: string): Examining<Findings> {
  const tables = chainedTables(db);
  const [large, others] = [
    largeTables.filter((name) => tables.includes(name)),
    tables.filter((name) => !largeTables.includes(name)),
  ];
  // SQLite's findings of damage come first. More threads would not finish before this process has loaded its code.
  const threads = [thread({ path, tables: others, whole: true }), thread({ path, tables: large, whole: false })];
  return {
    block: () => combined(threads.map(({ block }) => block())),
    settle: async () => combined(await Promise.all(threads.map(({ settle }) => settle()))),
  };
}

function combined(parts: readonly Examined[]): Findings {
  const damage = parts.find(({ integrity }) => integrity !== 'ok');
  const total = parts.reduce((sum, one) => addTotal(sum, totalOf(one.total)), emptyTotal());
  return { integrity: damage?.integrity ?? 'ok', total };
}

/** Starts a thread and waits for its answer. */
function thread(given: Pick<Examination, 'path' | 'tables' | 'whole'>): Examining<Examined> {
  const [done, result] = [new SharedArrayBuffer(4), new SharedArrayBuffer(answerBytes)];
  const worker = new Worker(moduleUrl('./examiner', import.meta.url), {
    workerData: { ...given, done, result } satisfies Examination,
  });
  worker.unref();
  // A thread that dies leaves no answer, which is reported as such.
  worker.on('error', () => {});
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
  return {
    block() {
      blockUntil(new Int32Array(done), maxMs);
      return examined(new Uint8Array(result));
    },
    async settle() {
      worker.ref();
      await ended;
      return examined(new Uint8Array(result));
    },
  };
}
