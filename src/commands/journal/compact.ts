/** `sluice journal compact`: moves old rows to the archive, beside a running daemon or without one. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { compactJournal, type RowMover } from '../../archive/compact.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted, moment } from '../../domain/words.ts';
import { putArchive, removeArchived } from '../../journal/archive.ts';
import { examine } from '../../journal/examine.ts';
import { commitIn } from '../../journal/hash-chain.ts';
import { takeLock } from '../../journal/lock.ts';
import { backUpBeforeMigration, journalFile, refuseLinks } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { migrate } from '../../journal/schema.ts';
import { callDaemon } from '../../session/control/daemon-client.ts';
import { refuseOld, rememberHead } from '../../session/preflight/journal-head-check.ts';
import {
  chooseState,
  type DaemonInfo,
  noDaemonText,
  refusalOf,
  type StartingInfo,
  type StateChoice,
} from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { checkJournal } from './check.ts';
import { sizeText } from './size.ts';

const dayMs = 86_400_000;

export interface CompactOptions extends Output, StateChoice {
  /** Days by the exchange's clock that stay, counted back from the newest row. */
  readonly keepDays: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called before each step. */
  readonly step?: (name: string) => void;
}

/** In one commit without a daemon, and beside one: there an order may wait for it, some 2 ms. */
const [rowsOffline, rowsBeside] = [20_000, 100];

/**
 * Refuses (exit 3) a journal that was changed or is not the newest, and (exit 1) one in which `journal check` finds something. A running daemon
 * removes the rows itself: a journal has one writer.
 */
export async function compact(options: CompactOptions): Promise<void> {
  const { dir, running, starting } = chooseState(options.state, options.say, true);
  refuseLinks(dir);
  const only = takeLock(dir, 'compact.db');
  if (only === undefined) throw new Refusal(`${dir} is being compacted by another command: wait until it ends`, 3);
  try {
    if (running !== undefined) await beside(dir, running, options);
    else await withoutDaemon(dir, starting, options);
  } catch (error) {
    throw refusalOf(error, dir, 'written');
  } finally {
    only.release();
  }
}

async function beside(dir: string, daemon: DaemonInfo, options: CompactOptions): Promise<void> {
  if (options.keepDays < 1)
    throw new Refusal('beside a running daemon at least a day stays in the journal: --keep-days 1');
  const db = new Database(join(dir, journalFile), { readonly: true });
  try {
    await move(db, dir, options, {
      rowsAtOnce: rowsBeside,
      name: async (archive) => void (await callDaemon(daemon, 'archive', { by: 'operator', ...archive })),
      remove: async (table, keys) => void (await callDaemon(daemon, 'archived', { by: 'operator', table, keys })),
    });
  } finally {
    db.close();
  }
}

async function withoutDaemon(dir: string, starting: StartingInfo | undefined, options: CompactOptions): Promise<void> {
  const { environment, step } = options;
  const lock = takeLock(dir);
  if (lock === undefined)
    throw new Refusal(`${noDaemonText({ dir, starting })}. Compact when it trades, or when it is stopped`, 3);
  try {
    const path = join(dir, journalFile);
    examine(path, (db) => refuseOld(db, path, environment))?.block();
    const db = openForWriting(path);
    try {
      backUpBeforeMigration(db, path);
      migrate(db);
      await move(db, dir, options, {
        rowsAtOnce: rowsOffline,
        name: (archive) => commitIn(db, () => putArchive(db, archive)),
        remove: (table, keys) => commitIn(db, () => removeArchived(db, table, keys)),
        end() {
          rememberHead(db, environment);
          step?.('shrink');
          // Also after a compaction that was interrupted here.
          if (freeIn(db) > 0) db.exec('VACUUM');
          db.pragma('wal_checkpoint(TRUNCATE)');
        },
      });
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}

/** `end`: what is done once the rows have moved. */
async function move(
  db: Database.Database,
  dir: string,
  { keepDays, environment, json, out, say, step }: CompactOptions,
  { end, ...mover }: RowMover & { readonly end?: () => void },
): Promise<void> {
  const path = join(dir, journalFile);
  const { findings } = checkJournal(dir, environment);
  if (findings.length > 0)
    throw new Refusal(
      `sluice journal check finds ${findings.length} in ${path}: settle that first, because compacting moves the evidence; nothing was changed`,
      1,
    );
  const before = sizeIn(db);
  const until = newestIn(db) - keepDays * dayMs;
  const { archives, rows } = await compactJournal(dir, mover, { until, environment, ...(step && { step }) });
  end?.();
  const files = archives.map(({ file, table, rows: count }) => ({ file, table, rows: count }));
  if (json) out(JSON.stringify({ version: 2, state: dir, until, rows, files, bytesBefore: before, bytes: sizeIn(db) }));
  else if (rows === 0) say(`nothing to move: no evidence is older than ${moment(until)} UTC (--keep-days ${keepDays})`);
  else {
    for (const one of files) say(`${counted(one.rows, 'row')} of ${one.table} in archive/${one.file}`);
    const free = freeIn(db);
    const left =
      free === 0 ? '' : `, with ${sizeText(free)} free for new rows (a compaction without a daemon shrinks the file)`;
    say(
      `${path}: ${sizeText(before)} before, ${sizeText(sizeIn(db))} now${left}; rows before ${moment(until)} UTC are in the archive, and every command reads them there`,
    );
  }
}

const bytesOf = (db: Database.Database, pages: string): number =>
  Number(db.pragma(pages, { simple: true })) * Number(db.pragma('page_size', { simple: true }));
const sizeIn = (db: Database.Database): number => bytesOf(db, 'page_count');
const freeIn = (db: Database.Database): number => bytesOf(db, 'freelist_count');
/** The newest time in the journal, by the exchange's clock. */
const newestIn = (db: Database.Database): number =>
  Number(
    db
      .prepare(
        `SELECT max(coalesce(at, 0)) FROM (SELECT max(at) AS at FROM events UNION ALL SELECT max(at) FROM equity
           UNION ALL SELECT max(at) FROM audits UNION ALL SELECT max(created_at) FROM orders)`,
      )
      .pluck()
      .get() ?? 0,
  );
