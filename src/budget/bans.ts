/**
 * What the exchange's limits forbid at the moment, learned from 410, 429 and 418 (specification §7), and remembered in one small file
 * outside the state directories: the limits count by address, so every process of this machine must heed what one was told, also
 * after a restart.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock/clock.ts';

/** Times in UTC ms by the exchange's clock. */
export interface Bans {
  /** Before this only the kill lane may send (after 410). */
  readonly slowUntil: number;
  /** Before this nothing may be sent (after 429). */
  readonly stopUntil: number;
  /** Before this nothing may be sent (after 418). */
  readonly banUntil: number;
  /** How long that ban was taken to last, ms; 0 when there never was one. */
  readonly banMs: number;
}

export const noBans: Bans = { slowUntil: 0, stopUntil: 0, banUntil: 0, banMs: 0 };

export interface BanStore {
  read(): Bans;
  /** Joined with what other processes wrote meanwhile: the later time of each counts. */
  write(bans: Bans): void;
}

/** For backtests, simulations and tests: shared with nobody. */
export function banMemory(): BanStore {
  let kept = noBans;
  return {
    read: () => kept,
    write: (bans) => {
      kept = later(kept, bans);
    },
  };
}

export const banFilePath = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'sluice', 'bans.json');

export interface BanFileOptions {
  readonly path: string;
  /** host:port of the exchange. */
  readonly address: string;
  readonly clock: Clock;
  readonly warn: (facts: object, message: string) => void;
}

/** The exchange bans for at most this long (§7); what a file says beyond it is a mistake. */
export const longestBanMs = 3 * 24 * 3_600_000;
/** Without knowing what was forbidden: the length of the weight window. */
const carefulMs = 60_000;
/** Real ms between two looks at the file. */
const lookMs = 1_000;
/** Larger than any honest one. */
const maxFileBytes = 64 * 1024;

/**
 * One JSON object, an entry for each address, replaced as a whole so that no reader sees half of it, readable by its owner only.
 * A file that cannot be read counts as a ban of a minute and is written anew; one that cannot be written is said, and what it
 * should hold is heeded by this process alone.
 */
export function banFile({ path, address, clock, warn }: BanFileOptions): BanStore {
  let kept = noBans;
  let lookedAt: number | undefined;
  let stamp = '';

  function look(): void {
    const now = clock.monotonic();
    if (lookedAt !== undefined && now - lookedAt < clock.machine(lookMs)) return;
    lookedAt = now;
    const changed = stampOf(path);
    if (changed === stamp) return;
    stamp = changed;
    const entries = readEntries();
    if (entries !== undefined) {
      kept = later(kept, bounded(entries[address] ?? noBans, clock.now()));
      return;
    }
    warn({ path }, 'the file of request bans cannot be read; waiting a minute as if banned, then writing it anew');
    write({ ...noBans, stopUntil: clock.now() + carefulMs });
  }

  /** All entries; undefined when the file is there and cannot be understood. */
  function readEntries(): Readonly<Record<string, Bans>> | undefined {
    if (stampOf(path) === '') return {};
    try {
      const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
      return isEntries(parsed) ? parsed : undefined;
    } catch {
      return undefined;
    }
  }

  function write(bans: Bans): void {
    kept = later(kept, bans);
    const entries = readEntries() ?? {};
    const all = { ...entries, [address]: later(bounded(entries[address] ?? noBans, clock.now()), kept) };
    const text = JSON.stringify(all, undefined, 2);
    try {
      if (text.length > maxFileBytes) throw new Error(`more than ${maxFileBytes} bytes of other addresses`);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${process.pid}`;
      writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
      renameSync(temporary, path);
      stamp = stampOf(path);
    } catch (error) {
      const cause = error instanceof Error ? error.message : '';
      warn({ path, cause }, 'the request ban could not be written; other processes will not know of it');
    }
  }

  return {
    read() {
      look();
      return kept;
    },
    write,
  };
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
}

const later = (a: Bans, b: Bans): Bans => ({
  slowUntil: Math.max(a.slowUntil, b.slowUntil),
  stopUntil: Math.max(a.stopUntil, b.stopUntil),
  banUntil: Math.max(a.banUntil, b.banUntil),
  banMs: a.banUntil > b.banUntil ? a.banMs : b.banMs,
});

const bounded = (bans: Bans, now: number): Bans => ({
  slowUntil: Math.min(bans.slowUntil, now + longestBanMs),
  stopUntil: Math.min(bans.stopUntil, now + longestBanMs),
  banUntil: Math.min(bans.banUntil, now + longestBanMs),
  banMs: Math.min(bans.banMs, longestBanMs),
});

function isEntries(value: unknown): value is Record<string, Bans> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(isBans);
}

function isBans(value: unknown): value is Bans {
  if (typeof value !== 'object' || value === null) return false;
  const times = new Map<string, unknown>(Object.entries(value));
  return Object.keys(noBans).every((key) => {
    const time = times.get(key);
    return typeof time === 'number' && Number.isFinite(time) && time >= 0;
  });
}
