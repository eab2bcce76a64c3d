/**
 * Alerts that are still to be sent or acknowledged, in a database of their own beside the journal: a restart loses none. A disk that is full or
 * fails is itself an alarm: then they are kept in memory, and sent all the same, until the disk takes them again.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { machineWall } from '../clock/clock.ts';
import type { Alert, Due } from './routes.ts';

export interface Message extends Alert {
  readonly id: number;
  readonly channel: string;
  /** UTC ms of the machine; 0 once it was due. */
  readonly due: number;
}

/** An alert that somebody has to acknowledge. */
export interface OpenAlarm extends Alert {
  readonly id: number;
  /** When it is sent again, UTC ms of the machine. */
  readonly nextAt: number;
  readonly everyMs: number;
  readonly to: readonly string[];
}

export const outboxFile = 'alerts.db';
/** Messages that are kept for a channel that does not answer; beyond that the oldest are dropped, errors last. */
const maxKept = 1_000;
/** Alarms that are open at once: all of them are sent again and shown. */
const maxOpen = 100;

const schema = `
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY, channel TEXT NOT NULL, due INTEGER NOT NULL, kind TEXT NOT NULL, level TEXT NOT NULL, time INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS messages_due ON messages (channel, due);
  CREATE TABLE IF NOT EXISTS alarms (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, level TEXT NOT NULL, time INTEGER NOT NULL, text TEXT NOT NULL, next_at INTEGER NOT NULL,
    every_ms INTEGER NOT NULL, channels TEXT NOT NULL, acknowledged_at INTEGER, acknowledged_by TEXT
  );
  CREATE TABLE IF NOT EXISTS reported (text TEXT PRIMARY KEY, at INTEGER NOT NULL);
`;

/** `replaced`: the rows of the file for which those in memory are put. */
const tables = [
  { name: 'messages', columns: 7, replaced: 'true' },
  { name: 'alarms', columns: 10, replaced: 'acknowledged_at IS NULL' },
  { name: 'reported', columns: 2, replaced: 'true' },
] as const;

/** Acknowledged alarms are kept for so long, ms. */
const acknowledgedMs = 30 * 86_400_000;

function waitingOf(db: Database.Database): ReadonlyMap<string, number> {
  const rows = db.prepare('SELECT channel, count(*) AS count FROM messages GROUP BY channel').all();
  return new Map((rows as { channel: string; count: number }[]).map(({ channel, count }) => [channel, count]));
}

/** Number of messages that wait, by channel. It only reads, and waits for no writer; throws where the file cannot be read. */
export function waitingIn(dir: string): ReadonlyMap<string, number> {
  const db = new Database(join(dir, outboxFile), { readonly: true, timeout: 0 });
  try {
    return waitingOf(db);
  } finally {
    db.close();
  }
}

export class Outbox {
  /** Undefined: in memory alone. */
  readonly #path: string | undefined;
  #db: Database.Database;
  /** Tables of the file that could not be read when it was given up: they are not in memory. */
  #unread: ReadonlySet<string> = new Set();
  /** Called once when the file takes nothing any more, with the code of the error. */
  readonly #unkept: (code: string) => void;

  /** Throws where the file cannot be opened, unless `unkept` is given. Without a directory all is in memory. */
  constructor(dir: string | undefined, unkept?: (code: string) => void) {
    this.#unkept = unkept ?? (() => undefined);
    this.#path = dir === undefined ? undefined : join(dir, outboxFile);
    try {
      this.#db = opened(this.#path ?? ':memory:');
    } catch (error) {
      if (unkept === undefined || !(error instanceof Database.SqliteError)) throw error;
      this.#db = this.#inMemory(undefined);
      unkept(error.code);
    }
  }

  /** A database in memory with the rows of the file, as far as they can be read. */
  #inMemory(file: Database.Database | undefined): Database.Database {
    const memory = opened(':memory:');
    const unread = tables.filter((table) => file === undefined || !isCopied(file, memory, table));
    this.#unread = new Set(unread.map(({ name }) => name));
    // The numbers of rows that nobody could read must not be given again. A row that is being sent is deleted by its number.
    const first = memory.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
    for (const name of this.#unread) first.run(name, machineWall());
    return memory;
  }

  /** Carries out a change; in memory from the first one on that the disk does not take. */
  #change<T>(change: (db: Database.Database) => T): T {
    const run = (): T => this.#db.transaction(() => change(this.#db))();
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || this.#db.memory) throw error;
      const file = this.#db;
      this.#db = this.#inMemory(file);
      file.close();
      this.#unkept(error.code);
      return run();
    }
  }

  /** Writes what is in memory to the file again; true once that succeeded. False where it is not in memory, or the disk still does not take it. */
  writeOut(): boolean {
    if (!this.#db.memory || this.#path === undefined) return false;
    let file: Database.Database | undefined;
    try {
      const db = opened(this.#path);
      file = db;
      db.transaction(() => {
        // What a command acknowledged in the file meanwhile stays acknowledged.
        for (const table of tables) {
          if (!this.#unread.has(table.name)) db.exec(`DELETE FROM ${table.name} WHERE ${table.replaced}`);
          copyTable(this.#db, db, table);
        }
      })();
    } catch (error) {
      file?.close();
      if (error instanceof Database.SqliteError) return false;
      throw error;
    }
    this.#db.close();
    this.#db = file;
    return true;
  }

  /** Drops messages for channels that are not configured any more, and what was acknowledged long ago. */
  tidy(channels: readonly string[], now: number): void {
    this.#change((db) => {
      db.prepare('DELETE FROM messages WHERE channel NOT IN (SELECT value FROM json_each(?))').run(
        JSON.stringify(channels),
      );
      db.prepare('DELETE FROM alarms WHERE acknowledged_at < ?').run(now - acknowledgedMs);
    });
  }

  add({ kind, level, time, text }: Alert, due: readonly Due[]): void {
    this.#change((db) => {
      const insert = db.prepare(
        'INSERT INTO messages (channel, due, kind, level, time, text) VALUES (?, ?, ?, ?, ?, ?)',
      );
      const trim = db.prepare(
        "DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE channel = ? ORDER BY level = 'error' DESC, id DESC LIMIT -1 OFFSET ?)",
      );
      for (const { channel, at } of due) {
        insert.run(channel, at, kind, level, time, text);
        trim.run(channel, maxKept);
      }
    });
  }

  /** Whether a text was not reported for so long, ms; then it counts as reported now. */
  isNews(text: string, now: number, forMs: number): boolean {
    const at = this.#db.prepare('SELECT at FROM reported WHERE text = ?').pluck().get(text) as number | undefined;
    // A clock that was set back would hide it.
    if (at !== undefined && at <= now && now - at < forMs) return false;
    this.#change((db) => {
      db.prepare('DELETE FROM reported WHERE at <= ?').run(now - forMs);
      db.prepare('INSERT OR REPLACE INTO reported VALUES (?, ?)').run(text, now);
    });
    return true;
  }

  /** Each text is news again. False where none was reported. */
  forgetReported(): boolean {
    return this.#change((db) => db.prepare('DELETE FROM reported').run().changes > 0);
  }

  /** What is due on a channel, oldest first; all that waits there without a time. */
  due(channel: string, now?: number): readonly Message[] {
    const messages = this.#db
      .prepare('SELECT * FROM messages WHERE channel = ? AND due <= coalesce(?, due) ORDER BY id')
      .all(channel, now ?? null) as Message[];
    // A clock that is set back must not delay them again.
    if (now !== undefined && messages.some(({ due }) => due > 0))
      this.#change((db) => db.prepare('UPDATE messages SET due = 0 WHERE channel = ? AND due <= ?').run(channel, now));
    return messages;
  }

  sent(messages: readonly Message[]): void {
    this.#change((db) => {
      const remove = db.prepare('DELETE FROM messages WHERE id = ?');
      for (const { id } of messages) remove.run(id);
    });
  }

  /** Whether a message with this text waits on a channel. */
  holds(channel: string, text: string): boolean {
    return this.#db.prepare('SELECT 1 FROM messages WHERE channel = ? AND text = ?').get(channel, text) !== undefined;
  }

  /** Number of messages that wait, by channel. */
  waiting(): ReadonlyMap<string, number> {
    return waitingOf(this.#db);
  }

  /** Opens an alarm and returns its number. Of too many the oldest are dropped, errors last. */
  open({ kind, level, time, text }: Alert, nextAt: number, everyMs: number, to: readonly string[]): number {
    const sql =
      'INSERT INTO alarms (kind, level, time, text, next_at, every_ms, channels) VALUES (?, ?, ?, ?, ?, ?, ?)';
    const row = [kind, level, time, text, nextAt, everyMs, JSON.stringify(to)];
    const trim =
      "DELETE FROM alarms WHERE id IN (SELECT id FROM alarms WHERE acknowledged_at IS NULL ORDER BY level = 'error' DESC, id DESC LIMIT -1 OFFSET ?)";
    return this.#change((db) => {
      const id = Number(db.prepare(sql).run(row).lastInsertRowid);
      db.prepare(trim).run(maxOpen);
      return id;
    });
  }

  /** Alarms that nobody has acknowledged, oldest first. */
  alarms(): readonly OpenAlarm[] {
    const sql =
      'SELECT id, kind, level, time, text, next_at AS nextAt, every_ms AS everyMs, channels FROM alarms WHERE acknowledged_at IS NULL ORDER BY id';
    const rows = this.#db.prepare(sql).all() as (Omit<OpenAlarm, 'to'> & { readonly channels: string })[];
    return rows.map(({ channels, ...row }) => ({ ...row, to: JSON.parse(channels) as readonly string[] }));
  }

  escalated({ id, everyMs }: OpenAlarm, now: number): void {
    this.#change((db) => db.prepare('UPDATE alarms SET next_at = ? WHERE id = ?').run(now + everyMs, id));
  }

  /** Acknowledges one alarm, or all; returns how many there were. */
  acknowledge(id: number | undefined, by: string, now: number): number {
    const sql =
      'UPDATE alarms SET acknowledged_at = ?, acknowledged_by = ? WHERE acknowledged_at IS NULL AND id = coalesce(?, id)';
    return this.#change((db) => db.prepare(sql).run(now, by, id ?? null).changes);
  }

  /** Acknowledges the alarms of some kinds. */
  acknowledgeKinds(kinds: readonly string[], by: string, now: number): void {
    const sql = 'UPDATE alarms SET acknowledged_at = ?, acknowledged_by = ? WHERE acknowledged_at IS NULL AND kind = ?';
    this.#change((db) => {
      for (const kind of kinds) db.prepare(sql).run(now, by, kind);
    });
  }

  close(): void {
    this.#db.close();
  }
}

function opened(path: string): Database.Database {
  const db = new Database(path, { timeout: 2_000 });
  try {
    db.pragma('journal_mode = WAL');
    // In memory no number is given twice, also where the table was empty meanwhile.
    db.exec(db.memory ? schema.replaceAll('INTEGER PRIMARY KEY', 'INTEGER PRIMARY KEY AUTOINCREMENT') : schema);
    if (!db.memory) chmodSync(path, 0o600);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Copies a table, unless it cannot be read. */
function isCopied(file: Database.Database, memory: Database.Database, table: (typeof tables)[number]): boolean {
  try {
    copyTable(file, memory, table);
    return true;
  } catch {
    return false;
  }
}

function copyTable(from: Database.Database, to: Database.Database, { name, columns }: (typeof tables)[number]): void {
  const insert = to.prepare(`INSERT OR IGNORE INTO ${name} VALUES (${Array(columns).fill('?').join(', ')})`);
  for (const row of from.prepare(`SELECT * FROM ${name}`).raw().all() as unknown[][]) insert.run(row);
}
