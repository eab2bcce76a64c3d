/**
 * The directories whose journal traded on this machine. If such a journal is missing or empty, it is lost, not new: a strategy would start
 * flat and buy again what the account already holds.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { instrument } from '../../domain/instrument.ts';
import { unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkGuard, type Guard } from '../../journal/newest-head.ts';
import { journalFile } from '../../journal/open.ts';
import { openReader } from '../../journal/reader.ts';
import { isDust } from '../../trading/format.ts';
import { runningDaemon } from '../state.ts';

function noteOf({ dir }: Pick<Guard, 'dir'>, stateDir: string): string {
  const path = existsSync(stateDir) ? realpathSync(stateDir) : resolve(stateDir);
  return join(dir, `at-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.json`);
}

function isThere(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}

/** Refuses (exit 3) a directory whose journal is no more, unless the operator accepts that. */
export function refuseLostJournal(guard: Guard, stateDir: string): void {
  const path = join(stateDir, journalFile);
  if (isThere(path) || guard.accept !== undefined || !existsSync(noteOf(guard, stateDir))) return;
  throw new Refusal(
    `${path} is ${existsSync(path) ? 'empty' : 'missing'}, but a journal there has traded on this machine. Restore it (before a migration, sluice leaves a copy beside it). If it is lost, first close the strategies' positions, then start once with --accept-restored REASON. Sluice then does not know its earlier orders and positions: all balances count as yours, and every strategy starts flat. Nothing was changed`,
    3,
  );
}

export interface NewState {
  readonly stateDir: string;
  readonly venueName: string;
  readonly config: {
    readonly account: string;
    readonly exchange: { readonly restUrl: string };
    readonly strategies: readonly { readonly id: string }[];
  };
}

/**
 * Refuses (exit 3) to begin a journal for a strategy that holds a position by another one of the same account: it would start flat, buy
 * again, and leave the stops of the other one unwatched. A mistyped `--state` does that.
 */
export function refuseHeldElsewhere(guard: Guard, { stateDir, venueName, config }: NewState): void {
  if (isThere(join(stateDir, journalFile)) || guard.accept !== undefined) return;
  const ids = config.strategies.map(({ id }) => id);
  for (const { dir: place, exchange } of noted(guard.dir)) {
    if (exchange !== config.exchange.restUrl) continue;
    const held = heldIn(guard, place, { account: config.account, venueName }).filter(({ strategy }) =>
      ids.includes(strategy),
    );
    if (held.length > 0)
      throw new Refusal(
        `${stateDir} has no journal, but by the journal in ${place} the account has ${held.map(({ text }) => text).join(', ')}. To go on with these positions, start with --state ${place}. To begin anew, close them there first, or start once with --accept-restored REASON: every strategy then starts flat. Nothing was changed`,
        3,
      );
  }
}

/** Positions and open orders by the newest journal of its kind, of this account; none where it cannot be read. */
function heldIn(
  guard: Guard,
  place: string,
  { account, venueName }: { readonly account: string; readonly venueName: string },
): readonly { readonly strategy: string; readonly text: string }[] {
  try {
    const reader = openReader(place);
    try {
      if (reader.meta.get('venue') !== venueName || reader.meta.get('account') !== account) return [];
      // An old copy that was left behind knows nothing.
      checkGuard(reader.db, place, { ...guard, accept: undefined });
      const positions = reader.positions().flatMap(({ strategy, position, instrument: entry }) => {
        const at = instrument(entry);
        return isDust(position, at)
          ? []
          : [{ strategy, text: `${unitsText(position.base)} ${at.base} of ${strategy}` }];
      });
      const orders = reader
        .orders('closed_at IS NULL')
        .map(({ strategy, symbol }) => ({ strategy, text: `an open order of ${strategy} on ${symbol}` }));
      return [...positions, ...orders];
    } finally {
      reader.close();
    }
  } catch {
    return [];
  }
}

/** Records that this directory has a journal. If the record cannot be written, the start goes on. */
export function registerState(guard: Guard, stateDir: string, exchange: string): void {
  try {
    mkdirSync(guard.dir, { recursive: true, mode: 0o700 });
    writeFileSync(noteOf(guard, stateDir), `${JSON.stringify({ version: 1, dir: resolve(stateDir), exchange })}\n`, {
      mode: 0o600,
    });
  } catch {
    // It guards against a lost journal, not against the loss.
  }
}

export interface OtherDaemon {
  /** Its state directory. */
  readonly dir: string;
  /** What it means, in words. */
  readonly text: string;
}

/** The daemons on this machine that trade on the same account from other directories. */
export function otherDaemons(
  { dir }: Pick<Guard, 'dir'>,
  stateDir: string,
  { venueName, restUrl }: { readonly venueName: string; readonly restUrl: string },
): readonly OtherDaemon[] {
  const own = realpathSync(stateDir);
  return noted(dir).flatMap(({ dir: place }) => {
    try {
      const running = realpathSync(place) === own ? undefined : runningDaemon(place);
      if (running?.exchange !== restUrl || venueIn(place) !== venueName) return [];
      const text = `another daemon (process ${running.pid}, ${place}) trades on this account: neither knows the other's orders, and both may spend the same money`;
      return [{ dir: place, text }];
    } catch {
      // What cannot be read says nothing.
      return [];
    }
  });
}

interface Noted {
  readonly dir: string;
  /** The address of its exchange. */
  readonly exchange: string;
}

function noted(dir: string): readonly Noted[] {
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.startsWith('at-')) : [];
  return names.flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(dir, name), 'utf8')) as Noted];
    } catch {
      // Half a one is what a power cut leaves.
      return [];
    }
  });
}

function venueIn(stateDir: string): string | undefined {
  const reader = openReader(stateDir);
  try {
    return reader.meta.get('venue');
  } finally {
    reader.close();
  }
}
