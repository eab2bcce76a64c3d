/**
 * The kill that needs no network, no command and no dashboard: a file in the state directory. `kill` stops everything,
 * `kill-ID` one strategy; what the file says is the reason.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const all = 'kill';
const ofOne = /^kill-(.+)$/;

export interface KillRequest {
  readonly path: string;
  /** undefined: everything. */
  readonly strategy: string | undefined;
  readonly by: 'file' | 'signal';
  readonly reason: string;
  /** Tells a file from a later one of the same name; undefined once it is gone. */
  readonly made: string | undefined;
}

/** Between two looks, real ms: a kill of one strategy is known within it; one of everything at the last hop of each order. */
export const killLookMs = 50;
/** A reason is a sentence, not a file. */
const mostReason = 200;
const signalText = 'by the signal SIGUSR2';

/** The name of the file that kills a strategy, or everything. */
export const killFile = (strategy?: string): string => (strategy === undefined ? all : `${all}-${strategy}`);

/** True while everything is to be killed: asked before each order leaves. */
export const isKillAsked = (dir: string): boolean => existsSync(join(dir, all));

/** Every kill that is asked for by a file. */
export function killRequests(dir: string): readonly KillRequest[] {
  return readdirSync(dir).flatMap((name): KillRequest[] => {
    const strategy = ofOne.exec(name)?.[1];
    if (name !== all && strategy === undefined) return [];
    const path = join(dir, name);
    const said = textOf(path);
    const by = said === signalText ? 'signal' : 'file';
    return [{ path, strategy, by, reason: said === '' ? `the file ${path}` : said, made: madeOf(path) }];
  });
}

function madeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? undefined : `${found.ino} ${found.birthtimeNs}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, mostReason).split('\n')[0]?.trim() ?? '';
  } catch {
    return '';
  }
}

/** The kill is in the journal: the file has done what it was made for. Why it stays, where it cannot be taken away. */
export function forgetRequest({ path, made }: KillRequest): string | undefined {
  try {
    // Another one has come meanwhile, which nobody has carried out.
    if (madeOf(path) !== made) return undefined;
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** What a signal does, or a command that gets no answer: the same, by a file; gives its path. */
export function askByFile(dir: string, reason = signalText, strategy?: string): string {
  const path = join(dir, killFile(strategy));
  writeFileSync(path, `${reason}\n`, { mode: 0o600 });
  return path;
}
