/** What else on its machine a daemon depends on: that no other one trades on its account, and that its disk has space. */
import { every, type ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../journal/entries.ts';
import { type DiskSpace, spaceOf } from '../../journal/free-space.ts';
import type { Journal } from '../../journal/journal.ts';
import type { SessionOptions, Undo } from '../options.ts';
import { othersBeside } from '../preflight/open-state.ts';

export interface HostParts {
  /** Other daemons on the same account, in words. */
  readonly others: () => readonly string[];
  readonly space: () => DiskSpace;
  readonly journal: { readonly full: boolean };
  readonly stateDir: string;
  readonly notice: (notice: Notice) => void;
  /** Stores the others for `sluice status`, a line each; empty where there is none. */
  readonly remember: (others: string) => void;
}

/** The name of the others in the journal's memory. */
export const otherDaemonsName = 'otherDaemons';
/** Poll interval, real ms. */
const surroundingsMs = 30_000;
/** Bytes below which the space on a disk is reported; on a small disk a tenth of it. */
const lowBytes = 200_000_000;
/** It is over with so much more. */
const enough = 1.5;

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1e6)} MB`;

/** What cannot be read now says nothing. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Returns the work of each half minute. */
export function hostKeeper({ others, space, journal, stateDir, notice, remember }: HostParts) {
  // An earlier run may have ended beside another daemon.
  let known: readonly string[] | undefined;
  let isLow = false;

  function lookForOthers(): void {
    const now = attempt(others);
    if (now === undefined) return;
    for (const text of now) if (known?.includes(text) !== true) notice({ level: 'warn', topic: 'secondDaemon', text });
    if (now.length === 0 && (known?.length ?? 0) > 0)
      notice({ level: 'info', text: 'no other daemon of this machine trades on this account any more' });
    if (known?.join() !== now.join()) remember(now.join('\n'));
    known = now;
  }

  function lookForSpace(): void {
    const now = attempt(space);
    // A full disk is an alarm of its own.
    if (now === undefined || journal.full) return;
    const { free, size } = now;
    const low = Math.min(lowBytes, size / 10);
    if (!isLow && free < low)
      notice({
        level: 'warn',
        topic: 'diskFull',
        text: `the disk of ${stateDir} has only ${megabytes(free)} left: once it is full, no order is created, so stops do not work`,
      });
    else if (isLow && free > low * enough)
      notice({ level: 'info', text: `the disk of ${stateDir} has ${megabytes(free)} left again` });
    isLow = free < (isLow ? low * enough : low);
  }

  return (): void => {
    lookForOthers();
    lookForSpace();
  };
}

/** Looks until the session ends. */
export function watchHost(
  options: SessionOptions,
  {
    clock,
    ...given
  }: { readonly clock: ScaledClock; readonly journal: Journal; readonly notice: (notice: Notice) => void },
  undo: Undo,
): void {
  const { stateDir, fatal } = options;
  const ending = new AbortController();
  undo.unshift(() => ending.abort());
  const look = hostKeeper({
    ...{ ...given, stateDir, others: () => othersBeside(options), space: () => spaceOf(stateDir) },
    remember: (value) => given.journal.append({ kind: 'memory', name: otherDaemonsName, value }),
  });
  void every(clock, clock.machine(surroundingsMs), ending.signal, look).catch(fatal);
}
