/**
 * The kill that needs no network, no command and no dashboard: a file in the state directory. `kill` stops all strategies, `kill-ID` one;
 * `kill.everything` and `kill-ID.everything` stop exits, too. What the file says is the reason. `kill.LIMIT` and `kill-ID.LIMIT` keep what a
 * limit killed while the disk is full: only an empty file fits there. `pause` and `pause-ID` pause in the same way.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Purpose } from '../../domain/order.ts';
import { redact } from '../../domain/redaction.ts';
import { type Kill, type KillingLimit, killingLimits, letsThrough } from '../../risk/kill.ts';

const named = /^(kill|pause)(?:-(.+))?$/;
export const isLimit = (text: string): text is KillingLimit => Object.hasOwn(killingLimits, text);

/** What a file's name says behind its last point. */
type Suffix = 'everything' | KillingLimit;
const isSuffix = (text: string): text is Suffix => text === 'everything' || isLimit(text);

/** Whom the file of this name kills or pauses, and how; undefined where it is none. */
function meantBy(
  name: string,
): (Pick<ControlFile, 'kind' | 'strategy'> & { readonly suffix: Suffix | undefined }) | undefined {
  const point = name.lastIndexOf('.');
  const end = name.slice(point + 1);
  const suffix = point >= 0 && isSuffix(end) ? end : undefined;
  const [, kind, strategy] = named.exec(suffix === undefined ? name : name.slice(0, point)) ?? [];
  if (kind === 'kill') return { kind, strategy, suffix };
  return kind === 'pause' && suffix === undefined ? { kind, strategy, suffix } : undefined;
}

export interface ControlFile {
  readonly kind: Kill['kind'];
  readonly path: string;
  /** undefined: all. */
  readonly strategy: string | undefined;
  /** Exits, too. */
  readonly everything: boolean;
  readonly by: 'file' | 'signal' | KillingLimit;
  readonly reason: string;
  /** Identifies the file among later ones of the same name; undefined once it is gone. */
  readonly made: string | undefined;
}

/** Between two polls, real ms: the delay of a kill of one strategy. A kill of all is checked at the last hop of each order. */
export const killPollMs = 50;
/** A reason is a sentence, not a file. */
const maxReason = 200;
export const signalText = 'by the signal SIGUSR2';

/** The name of the file that kills a strategy, or all. */
export const killFile = (strategy?: string, suffix?: Suffix): string =>
  `kill${ofStrategy(strategy)}${suffix === undefined ? '' : `.${suffix}`}`;
/** The same of a pause. */
export const pauseFile = (strategy?: string): string => `pause${ofStrategy(strategy)}`;
const ofStrategy = (strategy: string | undefined): string => (strategy === undefined ? '' : `-${strategy}`);

/** True if the file exists or cannot be checked: an error must never count as "no kill". It opens no file, so it works without free file handles. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The file that forbids an order of this purpose of any strategy, while it exists; checked before each order leaves. */
export const forbiddingFile = (dir: string, purpose: Purpose): string | undefined =>
  filesOfAll.find(([name, kill]) => !letsThrough(kill, purpose) && isThere(join(dir, name)))?.[0];

const filesOfAll = [
  [killFile(), { kind: 'kill', everything: false }],
  [killFile(undefined, 'everything'), { kind: 'kill', everything: true }],
  [pauseFile(), { kind: 'pause', everything: false }],
] as const;

/** Those of these names that are there: without a file left a directory cannot be listed. */
export const presentIn = (dir: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => isThere(join(dir, name)));

/** The kills and pauses that these files request. */
export function controlFiles(dir: string, names: readonly string[] = readdirSync(dir)): readonly ControlFile[] {
  return names.flatMap((name): ControlFile[] => {
    const meant = meantBy(name);
    if (meant === undefined) return [];
    const { kind, strategy, suffix } = meant;
    const path = join(dir, name);
    const said = textOf(path);
    const everything = suffix === 'everything';
    const limit = suffix === 'everything' ? undefined : suffix;
    const by = limit ?? (said === signalText ? 'signal' : 'file');
    const unsaid = limit === undefined ? `the file ${path}` : killingLimits[limit];
    return [{ kind, path, strategy, everything, by, reason: said === '' ? unsaid : said, made: madeOf(path) }];
  });
}

function madeOf(path: string): string | undefined {
  try {
    const { ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${birthtimeNs}`;
  } catch {
    // Gone, or a link that leads nowhere.
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return redact(readFileSync(path, 'utf8')).slice(0, maxReason).split('\n')[0]?.trim() ?? '';
  } catch {
    return '';
  }
}

/** Removes the file once its kill or pause is in the journal. Returns why it could not be removed. */
export function removeControlFile({ path, made }: ControlFile): string | undefined {
  try {
    // A newer file was not carried out yet.
    if (madeOf(path) !== made) return undefined;
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export interface AskedByFile {
  readonly reason: string;
  /** undefined: all. */
  readonly strategy?: string | undefined;
  readonly everything?: boolean | undefined;
  readonly limit?: KillingLimit;
}

/** What a signal does, or a command that gets no answer: the same, by a file; gives its path. A full disk leaves an empty one, which is enough. */
export function requestKill(dir: string, { reason, strategy, everything, limit }: AskedByFile): string {
  return written(join(dir, killFile(strategy, everything === true ? 'everything' : limit)), reason);
}

/** The same for a pause. */
export const requestPause = (dir: string, { reason, strategy }: AskedByFile): string =>
  written(join(dir, pauseFile(strategy)), reason);

function written(path: string, reason: string): string {
  try {
    writeFileSync(path, `${reason}\n`, { mode: 0o600 });
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
  return path;
}
