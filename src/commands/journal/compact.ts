/** `sluice journal compact`: moves old rows to the archive while no daemon runs. */
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { compactJournal } from '../../archive/compact.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted, moment } from '../../domain/words.ts';
import { examine } from '../../journal/examine.ts';
import { takeLock } from '../../journal/lock.ts';
import { backUpBeforeMigration, journalFile, refuseLinks } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { migrate } from '../../journal/schema.ts';
import { lockNewest, rememberHead } from '../../session/preflight/journal-head-check.ts';
import { chooseState, refusalOf, type StateChoice } from '../../session/state.ts';
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

/** Refuses (exit 3) a journal in use, one that was changed or is not the newest, and (exit 1) one in which `journal check` finds something. */
export async function compact(options: CompactOptions): Promise<void> {
  const { keepDays, environment, json, out, say, step = () => {} } = options;
  const { dir } = chooseState(options.state, say, true);
  refuseLinks(dir);
  const lock = takeLock(dir);
  if (lock === undefined)
    throw new Refusal(`a daemon runs on ${dir}: stop it first; compacting takes seconds, and open orders may stay`, 3);
  const locks = [lock];
  try {
    const path = join(dir, journalFile);
    examine(path, (db) => lockNewest(db, path, environment, locks))?.block();
    const { findings } = checkJournal(dir, environment);
    if (findings.length > 0)
      throw new Refusal(
        `sluice journal check finds ${findings.length} in ${path}: settle that first, because compacting moves the evidence; nothing was changed`,
        1,
      );
    const db = openForWriting(path);
    try {
      backUpBeforeMigration(db, path);
      migrate(db);
      const before = sizeIn(db);
      const until = newestIn(db) - keepDays * dayMs;
      const { archives, rows } = await compactJournal(db, dir, { until, environment, step });
      rememberHead(db, environment);
      const files = archives.map(({ file, table, rows: count }) => ({ file, table, rows: count }));
      if (json)
        out(JSON.stringify({ version: 2, state: dir, until, rows, files, bytesBefore: before, bytes: sizeIn(db) }));
      else if (rows === 0)
        say(`nothing to move: no evidence is older than ${moment(until)} UTC (--keep-days ${keepDays})`);
      else {
        for (const one of files) say(`${counted(one.rows, 'row')} of ${one.table} in archive/${one.file}`);
        say(
          `${path}: ${sizeText(before)} before, ${sizeText(sizeIn(db))} now; rows before ${moment(until)} UTC are in the archive, and every command reads them there`,
        );
      }
    } finally {
      db.close();
    }
  } catch (error) {
    throw refusalOf(error, dir, 'written');
  } finally {
    for (const one of locks) one.release();
  }
}

const sizeIn = (db: Database): number =>
  Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));

/** The newest time in the journal, by the exchange's clock. */
const newestIn = (db: Database): number =>
  Number(
    db
      .prepare(
        `SELECT max(coalesce(at, 0)) FROM (SELECT max(at) AS at FROM events UNION ALL SELECT max(at) FROM equity
           UNION ALL SELECT max(at) FROM audits UNION ALL SELECT max(created_at) FROM orders)`,
      )
      .pluck()
      .get() ?? 0,
  );
