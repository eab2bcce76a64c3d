/** The journal of withdrawals: one small SQLite file of its own, written to the disk before anything is sent. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { userState } from '../budget/shared-file.ts';
import { units, unitsText } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Application } from './application.ts';

/** `sending`: nothing is known yet, also after a crash. `absent`: it never reached the exchange. */
export type State = 'sending' | 'unknown' | 'accepted' | 'refused' | 'notSent' | 'absent';

export interface Entry extends Application {
  /** Host of the exchange. */
  readonly exchange: string;
  readonly state: State;
  /** The exchange's id. */
  readonly id: string | undefined;
  /** Reason of the state. */
  readonly cause: string | undefined;
  /** UTC ms of the exchange. */
  readonly createdAt: number;
}

export type WithdrawalJournal = ReturnType<typeof openJournal>;

/** The default directory, the same for every working directory: an open withdrawal must not be overlooked. */
export const journalDir = (environment: Readonly<Record<string, string | undefined>>): string =>
  join(userState(environment), 'withdraw');

const version = 1;
const schema = `
CREATE TABLE withdrawals (
  withdrawOrderId TEXT PRIMARY KEY,
  exchange TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount TEXT NOT NULL,
  address TEXT NOT NULL,
  label TEXT,
  state TEXT NOT NULL,
  id TEXT,
  cause TEXT,
  createdAt INTEGER NOT NULL
) STRICT;
`;

interface Row extends Omit<Entry, 'amount' | 'label' | 'id' | 'cause'> {
  readonly amount: string;
  readonly label: string | null;
  readonly id: string | null;
  readonly cause: string | null;
}

const entryOf = ({ amount, label, id, cause, ...row }: Row): Entry => ({
  ...row,
  amount: units(amount),
  label: label ?? undefined,
  id: id ?? undefined,
  cause: cause ?? undefined,
});

/** Without a journal nothing may be sent. */
function cannotBeUsed(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError) && !(error instanceof Error && 'syscall' in error)) return error;
  return new Refusal(
    `the journal of withdrawals ${path} cannot be used (${error.message}): nothing was sent; repair it or restore a copy, because it records what was sent before, or name its folder with --state DIR`,
    3,
  );
}

function openFile(dir: string, path: string): Database.Database {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const isNew = !existsSync(path);
    const db = new Database(path, { timeout: 0 });
    if (isNew) chmodSync(path, 0o600);
    return db;
  } catch (error) {
    throw cannotBeUsed(error, path);
  }
}

/** Opens the file in `dir` for this process alone: two processes could send the same withdrawal. */
export function openJournal(dir: string) {
  const path = join(dir, 'withdrawals.db');
  const db = openFile(dir, path);
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    const found = Number(db.pragma('user_version', { simple: true }));
    if (found > version) throw new Refusal(`${path} was written by a newer Sluice: update this one`, 3);
    if (found < version)
      db.transaction(() => {
        db.exec(schema);
        db.pragma(`user_version = ${version}`);
      })();
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new Refusal(`another sluice-withdraw uses ${path}: wait until it has ended`, 3);
    throw cannotBeUsed(error, path);
  }
  const all = 'SELECT * FROM withdrawals';
  return {
    entry(id: string): Entry | undefined {
      const row = db.prepare(`${all} WHERE withdrawOrderId = ?`).get(id) as Row | undefined;
      return row === undefined ? undefined : entryOf(row);
    },
    /** Newest first. */
    entries: (): readonly Entry[] => (db.prepare(`${all} ORDER BY createdAt DESC`).all() as Row[]).map(entryOf),
    /** Withdrawals of unknown outcome. */
    open: (exchange: string): readonly Entry[] =>
      (db.prepare(`${all} WHERE exchange = ? AND state IN ('sending', 'unknown')`).all(exchange) as Row[]).map(entryOf),
    /** Synchronous and durable: a power cut after it loses nothing. Throws for a used id. */
    begin({ withdrawOrderId, asset, amount, address, label }: Application, exchange: string, at: number): void {
      db.prepare('INSERT INTO withdrawals VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)').run(
        ...[withdrawOrderId, exchange, asset, unitsText(amount), address, label ?? null, 'sending', at],
      );
    },
    settle(withdrawOrderId: string, state: State, id: string | undefined, cause: string | undefined): void {
      db.prepare('UPDATE withdrawals SET state = ?, id = coalesce(?, id), cause = ? WHERE withdrawOrderId = ?').run(
        ...[state, id ?? null, cause ?? null, withdrawOrderId],
      );
    },
    close: (): void => void db.close(),
  };
}
