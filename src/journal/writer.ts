/** The one writer: stores entries as rows, each batch in one transaction. It runs in a worker live, and in-process in a backtest. */
import Database, { type RunResult, type Statement } from 'better-sqlite3';
import { getOrMake } from '../domain/get-or-make.ts';
import type { DenialEntry, Entry, KillEntry } from './entries.ts';
import { chainOf } from './hash-chain.ts';
import type { WriteResult } from './journal.ts';
import { inForce, readKills } from './load.ts';
import { type Stored, tables, valuesOf } from './rows.ts';

/** Writes a batch in one transaction: all of it or nothing. */
export type Write = (entries: readonly Entry[]) => void;

/** Two million epochs of four billion rows fit a number. */
const rowsPerEpoch = 2 ** 32;

/** Denials of a strategy and symbol in which a repetition is recognised; an older one becomes a new row. */
const rememberedDenials = 100;

const dayMs = 86_400_000;

/** Of these only the last version counts. */
const replaced = new Set<Stored>([
  'order',
  'cursor',
  'quarantinedTrade',
  'protection',
  'memory',
  'day',
  'equity',
  'audit',
  'instrument',
] as const);

/** What happens to a row that exists. Not INSERT OR IGNORE, which would also drop rows with a missing value. */
const conflicts: Readonly<Partial<Record<Stored, string>>> = {
  fill: 'ON CONFLICT (account, trade_id, order_id) DO NOTHING',
  venueTrade: 'ON CONFLICT DO NOTHING',
  venueOrder: 'ON CONFLICT DO NOTHING',
  foreign: 'ON CONFLICT (order_id) DO UPDATE SET why = excluded.why',
};

function insertSql(kind: Stored): string {
  const { name, fields } = tables[kind];
  const columns = [...(isNumbered(kind) ? ['seq'] : []), ...fields.map(({ column }) => column)];
  const verb = replaced.has(kind) ? 'INSERT OR REPLACE' : 'INSERT';
  return `${verb} INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${conflicts[kind] ?? ''}`;
}

/** Tables without a row id of SQLite's own: the writer numbers their rows. */
const isNumbered = (kind: Stored): boolean => kind === 'signal' || kind === 'event';

const special = {
  deniedAgain: 'UPDATE denials SET times = times + ?, last_at = ?, facts = ? WHERE seq = ?',
  horizon: "INSERT OR REPLACE INTO meta VALUES ('horizonMs', ?)",
  unprotected: 'DELETE FROM protections WHERE strategy = ? AND symbol = ?',
  // A resume after a kill resets the daily loss, also where a command writes it without a daemon.
  undated: 'DELETE FROM days',
  // It also resets the counters of a strategy, or of all.
  forgotten:
    "DELETE FROM memories WHERE name = 'throttle.' || ? OR (? IS NULL AND (name = 'peak' OR name LIKE 'throttle.%'))",
} as const;

/**
 * `epoch`: the number of this opening of the journal. Rows are numbered above those of all earlier openings. `denialRowMs`: how long one row
 * counts repeated denials.
 */
export function writer(db: Database.Database, epoch = 0, denialRowMs = Number.POSITIVE_INFINITY): Write {
  let seq = epoch * rowsPerEpoch;
  const ready = new Map<string, Statement>();
  /** Statements are prepared at their first use: most runs need few. */
  function statement(name: Stored | keyof typeof special): Statement {
    return getOrMake(ready, name, () =>
      db.prepare(name in special ? special[name as keyof typeof special] : insertSql(name as Stored)),
    );
  }
  const insert = (kind: Stored, entry: object): RunResult => {
    const values = valuesOf(entry, tables[kind]);
    return statement(kind).run(isNumbered(kind) ? [seq++, ...values] : values);
  };
  // A strategy that repeats a denied signal would fill the disk: repeated denials are counted in one row.
  const lastDenials = new Map<string, Map<string, { code: string; seq: number | bigint; at: number }>>();

  function deny(entry: DenialEntry): void {
    const { repeated } = entry;
    const [times, lastAt] = [1 + (repeated?.times ?? 0), repeated?.at ?? entry.at];
    const facts = repeated?.facts ?? entry.facts;
    const key = `${entry.strategy}\n${entry.symbol}`;
    const known = getOrMake(lastDenials, key, () => new Map());
    const last = known.get(entry.draft);
    if (last?.code === entry.code && entry.at - last.at < denialRowMs) {
      statement('deniedAgain').run(times, lastAt, JSON.stringify(facts), last.seq);
      return;
    }
    const row = insert('denied', { ...entry, facts, times, lastAt });
    known.delete(entry.draft);
    known.set(entry.draft, { code: entry.code, seq: row.lastInsertRowid, at: entry.at });
    const [oldest] = known.keys();
    if (known.size > rememberedDenials && oldest !== undefined) known.delete(oldest);
  }

  function writeOne(entry: Entry): void {
    const { kind } = entry;
    const forgets = kind === 'resume' && liftsKill(db, entry);
    if (kind === 'denied') deny(entry);
    else if (kind === 'horizon') statement('horizon').run(String(entry.ms));
    else if (kind === 'protection' && entry.protection === null)
      statement('unprotected').run(entry.strategy, entry.symbol);
    else if (kind === 'audit') insert('audit', { ...entry, day: entry.at - (entry.at % dayMs) });
    else insert(kind === 'pause' || kind === 'halt' || kind === 'resume' ? 'kill' : kind, entry);
    if (!forgets) return;
    statement('undated').run();
    statement('forgotten').run(entry.strategy, entry.strategy);
  }

  const writeEach = (entries: readonly Entry[]): void => {
    for (const entry of latestVersions(entries)) writeOne(entry);
  };
  const chain = chainOf(db);
  const writeAll =
    chain === undefined
      ? db.transaction(writeEach)
      : (entries: readonly Entry[]) => chain.commit(() => writeEach(entries));
  return (entries) => {
    try {
      writeAll(entries);
    } catch (error) {
      // The rows that were rolled back do not exist: repetitions must not be counted in them.
      lastDenials.clear();
      throw error;
    }
  };
}

/** Losses are measured anew after a kill, not after a pause: who pauses and resumes would otherwise reset them. */
const liftsKill = (db: Database.Database, resume: KillEntry): boolean =>
  inForce(readKills(db)).some(
    ({ kind, strategy }) => kind === 'kill' && (resume.strategy === null || strategy === resume.strategy),
  );

/** A batch without versions that a later entry of the batch replaces. */
function latestVersions(entries: readonly Entry[]): readonly Entry[] {
  const last = new Map<string, Entry>();
  const keyOf = (entry: Entry): string | undefined =>
    entry.kind === 'order' ? entry.clientOrderId : entry.kind === 'cursor' ? entry.symbol : undefined;
  for (const entry of entries) {
    const key = keyOf(entry);
    if (key !== undefined) last.set(key, entry);
  }
  return entries.filter((entry) => {
    const key = keyOf(entry);
    return key === undefined || last.get(key) === entry;
  });
}

/** Temporary errors after which nothing of a batch is on disk: no space, or no free file handle (EMFILE, ENFILE). */
const temporary: ReadonlySet<string> = new Set(['SQLITE_FULL', 'SQLITE_CANTOPEN']);

/**
 * Writes a batch. A temporary error rolls the transaction back. Every other one is thrown and ends the process: after an I/O error it is
 * not known what is on disk.
 */
export function writeOrFull(write: Write, entries: readonly Entry[]): WriteResult {
  try {
    write(entries);
    return 'written';
  } catch (error) {
    if (error instanceof Database.SqliteError && temporary.has(error.code)) return 'full';
    throw error;
  }
}
