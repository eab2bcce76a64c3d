/**
 * The file that all processes of a user share (`Shared`), outside every state directory. It is SQLite, for its lock between processes and
 * because it survives a process that is killed while it writes. It does not wait for the disk: a power cut loses at most a minute of
 * counting.
 */

import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import Database from 'better-sqlite3';
import { type Clock, machineSteady } from '../clock/clock.ts';
import { causeOf } from '../domain/refusal.ts';
import { type Bans, bounded, type ClockReading, carefulMs, later, noBans, reread } from './bans.ts';
import type { Shared, Spent, Tally } from './shared.ts';

export const sharedFilePath = (env: Environment): string => join(userState(env), 'limits.db');

type Environment = Readonly<Record<string, string | undefined>>;

/** State shared by all programs of a user. It must be absolute: a relative path would differ by working directory. */
export function userState({ XDG_STATE_HOME: given = '' }: Environment): string {
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'sluice');
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** A key's name in the file. Two keys of one account are distinct there until the exchange names their account. */
export const userOf = (apiKey: string | undefined): string => (apiKey === undefined ? '' : hashOf(apiKey));

/** An account's name in the file, from the uid that the exchange shows. */
export const accountName = (uid: string): string => hashOf(`uid ${uid}`);

export interface SharedFileOptions {
  readonly path: string;
  /** host:port of the exchange. */
  readonly address: string;
  readonly clock: Clock;
  readonly warn: (facts: object, message: string) => void;
  /** A single command; left out: a daemon, which may be restarted in a loop. */
  readonly isOneOff?: boolean;
  /** Real ms that are the same in every process of the machine. */
  readonly steady?: () => number;
}

/** Real ms that a process waits for another one's lock, which takes microseconds to do its work; then it counts for itself. */
const lockMs = 250;
/** Real ms: requests older than this are forgotten; twice the longest window, of a clock at half speed and faster. */
const keepMs = 241_000;
/** Between two removals of what is too old, requests. */
const sweepEvery = 500;
/** Real ms between two warnings about the file, and between two tries to open it. */
const quietMs = 60_000;

const schema = `
  CREATE TABLE IF NOT EXISTS spent (
    id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, at REAL NOT NULL,
    user TEXT NOT NULL, weight INTEGER NOT NULL, endpoint TEXT
  );
  CREATE TABLE IF NOT EXISTS bans (
    address TEXT PRIMARY KEY, slowUntil REAL NOT NULL, stopUntil REAL NOT NULL, banUntil REAL NOT NULL, banMs REAL NOT NULL
  );
  CREATE TABLE IF NOT EXISTS bansWritten (address TEXT PRIMARY KEY, utc REAL NOT NULL, steady REAL NOT NULL);
  CREATE TABLE IF NOT EXISTS owners (
    address TEXT NOT NULL, user TEXT NOT NULL, account TEXT NOT NULL, PRIMARY KEY (address, user)
  ) WITHOUT ROWID;
`;

interface Row extends Omit<Spent, 'endpoint'> {
  readonly id: number;
  readonly at: number;
  readonly endpoint: string | null;
}

type File = ReturnType<typeof statements>;

/**
 * Opens the file. If that fails, it counts for this process alone and warns. A file that cannot be read counts as a ban of a minute and is
 * replaced.
 */
export function sharedFile(options: SharedFileOptions): Shared {
  return new SharedFile(options);
}

class SharedFile implements Shared {
  readonly #options: SharedFileOptions;
  readonly #steady: () => number;
  #file: File | undefined;
  /** Up to this row everything is known. */
  #seen = 0;
  /** `version` of the last read. */
  #version: unknown;
  /** What was forbidden, as last read, and when that was. */
  #known: { readonly bans: Bans; readonly at: ClockReading };
  #inserted = 0;
  /** Of keys, as far as known. */
  readonly #accounts = new Map<string, string>();
  #warnedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: SharedFileOptions) {
    this.#options = options;
    this.#steady = options.steady ?? machineSteady;
    this.#known = { bans: noBans, at: this.#clockReading() };
    if (this.#opened() === undefined && options.isOneOff !== true) this.#assumeFull();
  }

  alone<T>(work: (tally: Tally) => T): T {
    const isAlone = this.#try((file) => {
      file.begin();
      return true;
    });
    if (isAlone === undefined) return work({ news: [], bans: this.bans, spend: () => {} });
    const begun = this.#file;
    try {
      return work({ ...this.read(), spend: (spent) => this.#spend(spent) });
    } finally {
      // It may have broken in between.
      if (this.#file === begun) this.#try((file) => file.commit());
    }
  }

  read(): Pick<Tally, 'news' | 'bans'> {
    const now = this.#steady();
    const rows = this.#try((file) => {
      const version = file.version();
      if (version === this.#version) return [];
      this.#learn(later(this.bans, this.#readBans(file)));
      const newer = file.newer(this.#seen, now - keepMs);
      // Asked for before and kept after: what is written in between is read again rather than missed.
      this.#version = version;
      return newer;
    });
    this.#seen = rows?.at(-1)?.id ?? this.#seen;
    // A machine that was started anew counts from zero again: what seems to come was a moment ago.
    const news = (rows ?? []).map(({ at, user, weight, endpoint }) => ({
      agoMs: Math.max(0, now - at),
      user,
      weight,
      endpoint: endpoint ?? undefined,
    }));
    return { news, bans: this.bans };
  }

  isNews(): boolean {
    return this.#try((file) => file.version() === this.#version) !== true;
  }

  get bans(): Bans {
    return reread(this.#known.bans, this.#known.at, this.#clockReading());
  }

  #clockReading(): ClockReading {
    const { clock } = this.#options;
    return { utc: clock.now(), steady: clock.machine(this.#steady()) };
  }

  #learn(bans: Bans): void {
    this.#known = { bans, at: this.#clockReading() };
  }

  forbid(bans: Bans): void {
    this.#learn(later(this.bans, bans));
    this.#try((file) => {
      file.begin();
      try {
        this.#learn(later(this.bans, this.#readBans(file)));
        file.forbid(this.#known.bans, this.#known.at);
      } finally {
        file.commit();
      }
    });
  }

  accountOf(user: string): string | undefined {
    const known = this.#accounts.get(user) ?? this.#try((file) => file.owner(user));
    if (known !== undefined) this.#accounts.set(user, known);
    return known;
  }

  belongs(user: string, account: string): void {
    this.#accounts.set(user, account);
    this.#try((file) => file.own(user, account));
  }

  close(): void {
    this.#closed = true;
    this.#drop();
  }

  #spend(spent: Spent): void {
    const now = this.#steady();
    this.#try((file) => {
      // No unseen row can precede our own: we hold the lock.
      this.#seen = file.insert(now, spent);
      if (++this.#inserted % sweepEvery === 0) file.forget(now);
    });
  }

  #readBans(file: File): Bans {
    const row = file.bans();
    if (row === undefined) return noBans;
    if (!isBans(row)) throw new Error('the bans in it are no times');
    const now = this.#clockReading();
    return bounded(reread(row, file.written() ?? now, now), now.utc);
  }

  /** Does something with the file; undefined when there is none, or it broke, which is said. */
  #try<T>(work: (file: File) => T): T | undefined {
    const file = this.#opened();
    if (file === undefined) return undefined;
    try {
      return work(file);
    } catch (error) {
      this.#trouble(error);
      return undefined;
    }
  }

  #trouble(error: unknown): void {
    const code = error instanceof Database.SqliteError ? error.code : '';
    const cause = causeOf(error);
    if (code === 'SQLITE_BUSY') {
      this.#warn(cause, 'another process holds the file of request limits; not counting with it this time');
      return;
    }
    this.#drop();
    // What is no error of SQLite's is one of the directory, or bans that are no times.
    const isPassing = code === '' ? !cause.includes('no times') : /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code);
    if (isPassing) {
      this.#warn(cause, 'the file of request limits cannot be written; other processes will not know');
      return;
    }
    this.#warn(
      cause,
      'the file of request limits cannot be understood; waiting a minute as if banned, and beginning it anew',
    );
    this.#beginAnew();
  }

  #beginAnew(): void {
    const { path, clock } = this.#options;
    this.#learn(later(this.bans, { ...noBans, stopUntil: clock.now() + carefulMs }));
    this.#seen = 0;
    try {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      const file = this.#make();
      file.forbid(this.#known.bans, this.#known.at);
      this.#file = file;
    } catch {
      // The next try is a minute away; what it should hold is heeded here.
    }
  }

  /** A loop of crashes would begin to count at nothing each time: as after a 410, only kills are sent for a window. */
  #assumeFull(): void {
    const { path, clock, warn } = this.#options;
    this.#learn(later(this.bans, { ...noBans, slowUntil: clock.now() + carefulMs }));
    warn(
      { path },
      `${path} cannot be used, so the weight spent before this start is unknown. For one minute Sluice sends only cancels of a kill. To trade sooner, make it writable, or set XDG_STATE_HOME to a directory that is, and start again`,
    );
  }

  #drop(): void {
    const file = this.#file;
    this.#file = undefined;
    this.#version = undefined;
    try {
      file?.db.close();
    } catch {
      // It is broken already.
    }
  }

  #warn(cause: string, message: string): void {
    const now = this.#steady();
    if (now - this.#warnedAt < quietMs) return;
    this.#warnedAt = now;
    this.#options.warn({ path: this.#options.path, cause }, message);
  }

  /** The open file; tried again once in a while where it could not be opened. */
  #opened(): File | undefined {
    const now = this.#steady();
    if (this.#file !== undefined || this.#closed || now - this.#triedAt < quietMs) return this.#file;
    this.#triedAt = now;
    try {
      this.#file = this.#make();
    } catch (error) {
      this.#trouble(error);
    }
    return this.#file;
  }

  #make(): File {
    const { path, address } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const db = new Database(path, { timeout: lockMs });
    chmodSync(path, 0o600);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = OFF');
    db.exec(schema);
    return statements(db, address);
  }
}

/** The statements of one open file. */
function statements(db: Database.Database, address: string) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const version = db.prepare('PRAGMA data_version').pluck();
  const newer = db.prepare<[number, string, number], Row>(
    'SELECT id, at, user, weight, endpoint FROM spent WHERE id > ? AND address = ? AND at > ? ORDER BY id',
  );
  const insert = db.prepare('INSERT INTO spent (address, at, user, weight, endpoint) VALUES (?, ?, ?, ?, ?)');
  // What lies ahead was written before the machine was started anew.
  const forget = db.prepare('DELETE FROM spent WHERE at < ? OR at > ?');
  const bans = db.prepare('SELECT slowUntil, stopUntil, banUntil, banMs FROM bans WHERE address = ?');
  const forbid = db.prepare('REPLACE INTO bans VALUES (?, ?, ?, ?, ?)');
  const written = db.prepare('SELECT utc, steady FROM bansWritten WHERE address = ?');
  const write = db.prepare('REPLACE INTO bansWritten VALUES (?, ?, ?)');
  const owner = db.prepare<[string, string], { account: string }>(
    'SELECT account FROM owners WHERE address = ? AND user = ?',
  );
  const own = db.prepare('REPLACE INTO owners VALUES (?, ?, ?)');
  return {
    db,
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    /** Changes with every change by another connection, and only then. */
    version: (): unknown => version.get(),
    newer: (id: number, since: number): readonly Row[] => newer.all(id, address, since),
    insert: (at: number, { user, weight, endpoint }: Spent): number =>
      Number(insert.run(address, at, user, weight, endpoint ?? null).lastInsertRowid),
    forget: (now: number) => void forget.run(now - keepMs, now),
    bans: (): unknown => bans.get(address),
    written: (): ClockReading | undefined => {
      const row = written.get(address);
      return isClockReading(row) ? row : undefined;
    },
    forbid: ({ slowUntil, stopUntil, banUntil, banMs }: Bans, { utc, steady }: ClockReading): void => {
      forbid.run(address, slowUntil, stopUntil, banUntil, banMs);
      write.run(address, utc, steady);
    },
    owner: (user: string): string | undefined => owner.get(address, user)?.account,
    own: (user: string, account: string) => void own.run(address, user, account),
  };
}

const areTimes = (value: unknown, min: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((time) => typeof time === 'number' && Number.isFinite(time) && time >= min);
const isBans = (value: unknown): value is Bans => areTimes(value, 0);
const isClockReading = (value: unknown): value is ClockReading => areTimes(value, Number.NEGATIVE_INFINITY);
