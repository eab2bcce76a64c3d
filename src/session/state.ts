/** State directories: their location, the one that a command means, and the status of its daemon. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { jsonOf } from '../domain/json.ts';
import { isNoSpace, NoSpace, orRefusal, Refusal } from '../domain/refusal.ts';
import { moment } from '../domain/words.ts';
import { oneLine } from '../journal/examiner.ts';
import { spaceOf } from '../journal/free-space.ts';
import { isLocked } from '../journal/lock.ts';
import { journalFile, prepareDir } from '../journal/open.ts';
import { type JournalReader, openReader } from '../journal/reader.ts';

const daemonFile = 'daemon.json';
const startingFile = 'starting.json';
/** With less free space no start finishes. */
const startBytes = 65_536;
/** Folder of state directories, runs and data in a project. */
export const stateRoot = 'var';

const anotherUser = 'do this as the user whose daemon trades there, or change its permissions';

/** How a command reaches the daemon of a state directory; readable by its owner alone. */
export interface DaemonInfo {
  readonly pid: number;
  readonly mode: string;
  /** UTC ms of the machine. */
  readonly startedAt: number;
  readonly exchange: string;
  /** Address of the control API, without the token. */
  readonly control: string;
  readonly token: string;
}

export const defaultStateDir = (mode: string): string => join(stateRoot, mode);

/** What a command says of a journal that its disk, or its rights, keep from it (exit 3); another error as it is. */
export function refusalOf(error: unknown, dir: string, what: 'read' | 'written'): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const { code, message } = error;
  if (isNoSpace(error)) return noSpaceIn(dir, what);
  const isClosed = /^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code);
  const advice = isClosed ? anotherUser : 'check its disk, or restore a backup';
  return new Refusal(
    `the journal in ${dir} cannot be ${what} (${oneLine(message)}): ${advice}; nothing was changed`,
    3,
  );
}

/** A start may wait there, and kills work then. */
function noSpaceIn(dir: string, what: 'read' | 'written'): NoSpace {
  const starting = orRefusal(() => startText(stateAt(dir)));
  return typeof starting === 'string'
    ? new NoSpace(
        `${starting}. Its journal cannot be ${what} meanwhile: make room. A kill or a pause of all strategies is stored as a file at once (sluice kill, without --strategy)`,
        3,
      )
    : new NoSpace(`the journal in ${dir} cannot be ${what} (the disk is full): make room; nothing was changed`, 3);
}

/** What a start writes before it is known whether anything comes of it. Alerts that wait are kept. */
const early: readonly string[] = ['lock.db', 'sluice.log'];

/** Makes a state directory where it is not there; what it gives takes away again what was made, for a start that is refused. */
export function makeStateDir(dir: string): () => void {
  if (existsSync(dir) && !statSync(dir).isDirectory())
    throw new Refusal(`state directory ${dir} is a file: name a directory with --state DIR`);
  const made: string[] = [];
  for (let at = resolve(dir); !existsSync(at); at = dirname(at)) made.push(at);
  prepareDir(dir);
  return () => {
    if (made.length === 0 || !existsSync(dir) || !readdirSync(dir).every((name) => early.includes(name))) return;
    for (const name of early) rmSync(join(dir, name), { force: true });
    try {
      for (const at of made) rmdirSync(at);
    } catch {
      // Another program has added files.
    }
  };
}

/** Written whole or not at all: a full disk leaves the old file. */
export function replaceFile(path: string, text: string, unfinished = `${path}.new`): void {
  try {
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Refuses where the directory takes nothing, as on a full disk. */
export function writeDaemonInfo(dir: string, info: DaemonInfo): void {
  try {
    replaceFile(join(dir, daemonFile), `${JSON.stringify(info, undefined, 2)}\n`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOSPC') throw new NoSpace(`state directory ${dir} has no free space: free some`, 3);
    throw new Refusal(`state directory ${dir} cannot be written (${code}): check its disk, then start again`, 3);
  }
}

/** What a starting daemon says to commands. */
export interface StartingInfo {
  readonly pid: number;
  readonly mode: string;
  /** UTC ms of the machine. */
  readonly startedAt: number;
  /** What it does, or waits for. */
  readonly text: string;
}

/** Where it cannot be written, commands only see that the directory is held. */
export function writeStarting(dir: string, info: StartingInfo): void {
  try {
    replaceFile(join(dir, startingFile), `${JSON.stringify(info)}\n`);
  } catch {
    removeStarting(dir);
  }
}

export function removeStarting(dir: string): void {
  for (const name of [startingFile, `${startingFile}.new`]) rmSync(join(dir, name), { force: true });
}

/** What the daemon wrote that is starting on a directory; undefined where none is, or the file cannot be read: it is removed when the start finishes. */
function startingDaemon(dir: string): StartingInfo | undefined {
  const path = join(dir, startingFile);
  if (!existsSync(path) || !isHeld(dir, 'read')) return undefined;
  try {
    return jsonOf(readFileSync(path, 'utf8')) as StartingInfo;
  } catch {
    return undefined;
  }
}

/** Why no running daemon takes a command, for people. */
export const noDaemonText = (state: Pick<ChosenState, 'dir' | 'starting'>): string =>
  startText(state) ?? `no daemon runs on ${state.dir}`;

/** What a daemon does that is starting or stopping, for people; undefined where none is. */
export function startText({ dir, starting }: Pick<ChosenState, 'dir' | 'starting'>): string | undefined {
  if (starting !== undefined)
    return `the daemon on ${dir} (process ${starting.pid}) has been starting since ${moment(starting.startedAt)} UTC and takes no commands yet: ${starting.text}`;
  if (!isHeld(dir, 'read')) return undefined;
  // It cannot write there what it waits for.
  return spaceOf(dir).free < startBytes
    ? `a daemon is starting on ${dir} and takes no commands yet: the disk is full, and it waits for space`
    : `a daemon is just starting or stopping on ${dir}`;
}

export function removeDaemonInfo(dir: string): void {
  rmSync(join(dir, daemonFile), { force: true });
}

/** Whether a process holds a state directory: a daemon that runs there, or is just starting or stopping. */
export function isHeld(dir: string, what: 'read' | 'written'): boolean {
  try {
    return isLocked(dir);
  } catch (error) {
    throw refusalOf(error, dir, what);
  }
}

/** Only this address is ever given a token. */
const controlPattern = /^http:\/\/127\.0\.0\.1:\d{1,5}$/;
const daemonSchema = z.object({
  pid: z.number(),
  mode: z.string(),
  startedAt: z.number(),
  exchange: z.string(),
  control: z.string().regex(controlPattern),
  token: z.string().regex(/^[\w-]+$/),
}) satisfies z.ZodType<DaemonInfo>;

/** What the running daemon of a directory wrote; undefined when none runs there. */
export const runningDaemon = (dir: string): DaemonInfo | undefined => daemonIn(dir, () => true);

/**
 * The same for a program that serves others. Refuses a file that is not this user's alone: whoever can write it chooses where we send a
 * token, and whoever can read it needs no help of ours.
 */
export const ownDaemon = (dir: string): DaemonInfo | undefined =>
  daemonIn(dir, ({ uid, mode }) => {
    const mine = process.getuid?.();
    return mine === undefined || (uid === mine && (mode & 0o077) === 0);
  });

function daemonIn(dir: string, isTrusted: (file: Pick<Stats, 'uid' | 'mode'>) => boolean): DaemonInfo | undefined {
  const path = join(dir, daemonFile);
  if (!existsSync(path) || !isHeld(dir, 'read')) return undefined;
  let text: string;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    if (!isTrusted(fstatSync(file)))
      throw new Refusal(`${path} must belong to this user, with mode 0600: the daemon there is not asked`, 3);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { code } = error as NodeJS.ErrnoException;
    // A daemon removes it when it stops.
    if (code === 'ENOENT') return undefined;
    throw new Refusal(`${path} cannot be read (${code ?? String(error)}): the daemon there is not asked`, 3);
  } finally {
    if (file !== undefined) closeSync(file);
  }
  const { success, data } = daemonSchema.safeParse(jsonOf(text));
  if (!success) throw new Refusal(`${path} is not what a daemon wrote: the daemon there is not asked`, 3);
  return data;
}

/** The state directories below the usual folder: those with a journal. */
export const usualStateDirs = (): readonly string[] =>
  existsSync(stateRoot)
    ? readdirSync(stateRoot)
        .map((name) => join(stateRoot, name))
        .filter((dir) => existsSync(join(dir, journalFile)) && !isEmpty(dir))
    : [];

/** The option by which a user names a state directory, and where the choice is reported. */
export interface StateChoice {
  readonly state?: string;
  readonly say: (line: string) => void;
}

export interface ChosenState {
  readonly dir: string;
  readonly running: DaemonInfo | undefined;
  /** Undefined where none is starting. */
  readonly starting: StartingInfo | undefined;
}

/**
 * The directory given, or that of the daemon that started last, or else the newest; `say` reports which. A command that
 * acts (`acting`) does not choose among several: stopping the wrong daemon would leave the right one trading.
 */
export function chooseState(given: string | undefined, say: (text: string) => void, acting = false): ChosenState {
  if (given !== undefined) {
    refuseClosed(given);
    if (!existsSync(join(given, journalFile)))
      throw new Refusal(`${given} is not a state directory: there is no ${journalFile} in it`);
    if (isEmpty(given))
      throw new Refusal(
        `${join(given, journalFile)} is empty, not a journal of Sluice: the disk was full or crashed, or a start was interrupted`,
        3,
      );
    return stateAt(given);
  }
  const known = usualStateDirs()
    .map((dir) => ({ state: stateAt(dir), usedAt: usedAt(dir) }))
    .sort((a, b) => startedAt(b.state) - startedAt(a.state) || b.usedAt - a.usedAt)
    .map(({ state }) => state);
  const chosen = known[0];
  if (chosen === undefined)
    throw new Refusal(
      `no state directory in ${stateRoot}/: start one first (sluice demo), or give it with --state DIR`,
    );
  if (acting && known.length > 1)
    throw new Refusal(
      `there are several state directories: choose one with ${known.map((one) => `--state ${one.dir} (${daemonText(one)})`).join(' or ')}`,
    );
  say(`reading ${chosen.dir} (${daemonText(chosen)})`);
  return chosen;
}

/** A directory with its daemon. */
export const stateAt = (dir: string): ChosenState => {
  const running = runningDaemon(dir);
  return { dir, running, starting: running === undefined ? startingDaemon(dir) : undefined };
};

const startedAt = ({ running, starting }: ChosenState): number => (running ?? starting)?.startedAt ?? 0;

function daemonText({ running, starting }: ChosenState): string {
  if (running !== undefined) return `${running.mode}, running as process ${running.pid}`;
  return starting === undefined
    ? 'no daemon is running on it'
    : `${starting.mode}, starting as process ${starting.pid}`;
}

/** The directory of another user would seem empty. */
function refuseClosed(dir: string): void {
  try {
    statSync(join(dir, journalFile));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    throw new Refusal(`state directory ${dir} cannot be read (${code}): ${anotherUser}; nothing was changed`, 3);
  }
}

const isEmpty = (dir: string): boolean => statSync(join(dir, journalFile)).size === 0;

const usedAt = (dir: string): number =>
  Math.max(
    ...[journalFile, `${journalFile}-wal`].map((file) =>
      existsSync(join(dir, file)) ? statSync(join(dir, file)).mtimeMs : 0,
    ),
  );

/** Reads a journal; one that a newer Sluice wrote is refused. */
export function inJournal<T>(dir: string, read: (reader: JournalReader) => T): T {
  let reader: JournalReader | undefined;
  try {
    reader = openReader(dir);
    return read(reader);
  } catch (error) {
    throw refusalOf(error, dir, 'read');
  } finally {
    reader?.close();
  }
}
