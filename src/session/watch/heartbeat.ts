/** The heartbeat of a daemon: a file that it updates each second, and how other programs read it. */

import { closeSync, constants, openSync, readFileSync, renameSync, statSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { machineWall } from '../../clock/clock.ts';
import { moment } from '../../domain/words.ts';

const heartbeatFile = 'heartbeat.json';

/** Longer than any pid makes it. */
const heartBytes = 64;

/** Between two beats, real ms. */
export const beatMs = 1_000;

/** Starts the heartbeat. If the file cannot be written, the watchdog acts. */
export function startHeartbeat(dir: string) {
  const path = join(dir, heartbeatFile);
  // In place and of one length: replacing a file would wait for the disk, and trading with it.
  const say = (state: 'running' | 'stopped', full = false): void => {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(
        file,
        `${JSON.stringify({ version: 1, pid: process.pid, state, ...(full && { diskFull: true }) }).padEnd(heartBytes - 1)}\n`,
        0,
      );
    } finally {
      closeSync(file);
    }
  };
  const quietly = (act: () => void): void => {
    try {
      act();
    } catch {
      // The journal reports a full or broken disk.
    }
  };
  quietly(() => say('running'));
  let reported = false;
  return {
    /** Updates the file's time, or its content in place: neither needs space on a full disk. */
    beat: (diskFull = false): void =>
      quietly(() => {
        if (diskFull !== reported) say('running', diskFull);
        reported = diskFull;
        const now = machineWall() / 1_000;
        utimesSync(path, now, now);
      }),
    /** Records an intended end: the watchdog has nothing to do. */
    stop: (): void => quietly(() => say('stopped')),
  };
}

export interface Heartbeat {
  readonly state: 'running' | 'stopped';
  readonly diskFull: boolean;
  /** When it beat last, ms of the machine's wall clock. */
  readonly at: number;
}

/** The last beat; undefined where no daemon ever ran. */
export function lastBeat(dir: string): Heartbeat | undefined {
  const path = join(dir, heartbeatFile);
  try {
    const { mtimeMs } = statSync(path);
    const { state, diskFull } = JSON.parse(readFileSync(path, 'utf8')) as { state: string; diskFull?: boolean };
    return { state: state === 'stopped' ? 'stopped' : 'running', diskFull: diskFull === true, at: mtimeMs };
  } catch {
    return undefined;
  }
}

const watchdogFile = 'watchdog.jsonl';

/** What the watchdog did, one line for each round of cancels. */
export interface WatchdogAct {
  readonly version: 2;
  /** ms of the machine's wall clock. */
  readonly at: number;
  readonly cause: string;
  readonly cancelled: readonly { readonly symbol: string; readonly orderId: string; readonly answer: string }[];
  readonly failures: readonly string[];
}

/** Appends what was done, on disk before anything else is. */
export function writeAct(dir: string, act: WatchdogAct): void {
  const file = openSync(join(dir, watchdogFile), 'a', 0o600);
  try {
    writeSync(file, `${JSON.stringify(act)}\n`);
  } finally {
    closeSync(file);
  }
}

/** Moves the reports since the last call to `watchdog.reported.jsonl` and returns them. A file that cannot be opened waits for the next call. */
export function takeActs(dir: string): readonly WatchdogAct[] {
  const path = join(dir, watchdogFile);
  let file: number | undefined;
  try {
    // Opened before it is moved, so that an unreadable file is not lost.
    file = openSync(path, 'r');
    renameSync(path, join(dir, 'watchdog.reported.jsonl'));
    return actsIn(readFileSync(file, 'utf8'));
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const actsIn = (text: string): readonly WatchdogAct[] =>
  text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as WatchdogAct];
    } catch {
      // A line that a crash cut short.
      return [];
    }
  });

/** In a sentence. */
export const actText = ({ at, cause, cancelled, failures }: WatchdogAct): string =>
  `the watchdog cancelled ${cancelled.length} ${cancelled.length === 1 ? 'order' : 'orders'} at ${moment(at)} because ${cause}${cancelled.length === 0 ? '' : `: ${cancelled.map(({ orderId, symbol }) => `${orderId} on ${symbol}`).join(', ')}`}${failures.length === 0 ? '' : `; failed: ${failures.join('; ')}`}`;
