/** What else on its machine a daemon depends on: that no other one trades on its account, and that its disk has space. */
import { every, type ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../journal/entries.ts';
import { type DiskSpace, spaceOf } from '../../journal/free-space.ts';
import type { Journal } from '../../journal/journal.ts';
import type { SessionOptions, Undo } from '../options.ts';
import { othersBeside } from '../preflight/open-state.ts';
import type { OtherDaemon } from '../preflight/state-registry.ts';

export interface HostParts {
  /** Other daemons on the same account. */
  readonly others: () => readonly OtherDaemon[];
  /** Of a clock that never steps back, real ms. */
  readonly now: () => number;
  readonly space: () => DiskSpace;
  readonly journal: { readonly full: boolean };
  readonly stateDir: string;
  readonly notice: (notice: Notice) => void;
  /** Stores a text for `sluice status`: other daemons, a line each, or little space; empty when it is over. */
  readonly remember: (name: HostMemory, value: string) => void;
}

/** The names in the journal's memory. */
export const otherDaemonsName = 'otherDaemons';
export const lowDiskName = 'lowDisk';
type HostMemory = typeof otherDaemonsName | typeof lowDiskName;
/** Another daemon is gone after this long, real ms: one that a supervisor starts again and again is reported once. */
const goneMs = 600_000;
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
export function hostKeeper({ others, now, space, journal, stateDir, notice, remember }: HostParts) {
  /** When each was seen last, by its directory. */
  const seenAt = new Map<string, number>();
  // An earlier run may have ended beside another daemon, or with little space.
  const stored = new Map<HostMemory, string>();
  let isLow = false;

  function store(name: HostMemory, value: string): void {
    if (stored.get(name) === value) return;
    stored.set(name, value);
    remember(name, value);
  }

  function lookForOthers(): void {
    const found = attempt(others);
    if (found === undefined) return;
    for (const { dir, text } of found) {
      if (!seenAt.has(dir)) notice({ level: 'warn', topic: 'secondDaemon', text });
      seenAt.set(dir, now());
    }
    const isBeside = seenAt.size > 0;
    for (const [dir, at] of seenAt) if (now() - at >= goneMs) seenAt.delete(dir);
    if (isBeside && seenAt.size === 0)
      notice({ level: 'info', text: 'no other daemon of this machine trades on this account any more' });
    store(otherDaemonsName, found.map(({ text }) => text).join('\n'));
  }

  function lookForSpace(): void {
    const found = attempt(space);
    // A full disk is an alarm of its own.
    if (found === undefined || journal.full) return;
    const { free, size } = found;
    const low = Math.min(lowBytes, size / 10);
    const text = `the disk of ${stateDir} has only ${megabytes(free)} left: once it is full, no order is created, so stops do not work`;
    if (!isLow && free < low) {
      notice({ level: 'warn', topic: 'diskFull', text });
      store(lowDiskName, text);
    } else if (isLow && free > low * enough)
      notice({ level: 'info', text: `the disk of ${stateDir} has ${megabytes(free)} left again` });
    isLow = free < (isLow ? low * enough : low);
    if (!isLow) store(lowDiskName, '');
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
    now: () => clock.monotonic(),
    remember: (name, value) => given.journal.append({ kind: 'memory', name, value }),
  });
  void every(clock, clock.machine(surroundingsMs), ending.signal, look).catch(fatal);
}
