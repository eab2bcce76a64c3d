/** Opens a session's state directory while the exchange is reached: a journal of years takes a second to be examined. */
import { join } from 'node:path';
import { userState } from '../../budget/shared-file.ts';
import { type Guard, thisHost } from '../../journal/newest-head.ts';
import { beginOpening, type OpenedState, type Opening } from '../../journal/open.ts';
import type { SessionOptions, Undo } from '../options.ts';
import { removeDaemonInfo } from '../state.ts';
import { refuseUnraised } from './limits.ts';
import {
  type OtherDaemon,
  otherDaemons,
  refuseHeldElsewhere,
  refuseLostJournal,
  registerState,
} from './state-registry.ts';

export type Opens = Omit<SessionOptions, 'secrets' | 'opening' | 'recorder' | 'makeVenue' | 'fatal'>;

/** Locks the state directory and begins to examine its journal. */
export function startOpening(options: Opens): Opening {
  const guard = guardOf(options);
  if (guard !== undefined) {
    refuseLostJournal(guard, options.stateDir);
    refuseHeldElsewhere(guard, options);
  }
  const opening = beginOpening(
    options.stateDir,
    { mode: options.mode, account: options.config.account, venue: options.venueName },
    options.configured.map(({ config }) => config.id),
    guard,
  );
  // The lock was free: whoever is named there is dead, and its number may be another program's by now.
  removeDaemonInfo(options.stateDir);
  options.starting?.locked();
  return opening;
}

/**
 * Gives what is in the state directory and what `reach` gave. Nothing is written, and `reach` must send nothing that has an effect,
 * before the journal is known to be whole; that it is not comes before whatever the exchange says, and ends the tries to reach it.
 */
export async function whileOpening<T>(
  { opening, ...options }: Opens & Pick<SessionOptions, 'opening'>,
  undo: Undo,
  opened: (state: OpenedState) => void,
  reach: (signal: AbortSignal) => Promise<T>,
): Promise<readonly [OpenedState, T]> {
  undo.unshift(() => opening.lock.release());
  const stop = new AbortController();
  const reached = reach(AbortSignal.any([options.signal, stop.signal]));
  // Its failure waits for the journal's, which comes first.
  reached.catch(() => {});
  try {
    const state = await opening.settle();
    undo.unshift(() => state.loaded.past.close());
    opened(state);
    for (const line of state.notices) {
      options.say(line);
      options.log.warn(line);
    }
    // Paper trading risks no money.
    if (options.mode !== 'paper') refuseUnraised(options.config, state.loaded.limits, options.stateDir);
    return [state, await reached];
  } catch (error) {
    stop.abort();
    throw error;
  }
}

/**
 * Marks that orders may be sent from now on: if the journal is missing later, it is lost. The journal of a start that failed earlier is no
 * loss.
 */
export function markTrading(options: Opens): void {
  const guard = guardOf(options);
  if (guard !== undefined) registerState(guard, options.stateDir, options.config.exchange.restUrl);
  options.starting?.cameUp();
}

/** Other daemons of this machine that trade on the same account. */
export function othersBeside(options: Opens): readonly OtherDaemon[] {
  const guard = guardOf(options);
  const { venueName, config, stateDir } = options;
  return guard === undefined ? [] : otherDaemons(guard, stateDir, { venueName, restUrl: config.exchange.restUrl });
}

/** Only where real orders are at stake is an old copy of a journal a danger. */
const guardOf = ({ mode, environment, acceptRestored }: Opens): Guard | undefined =>
  mode === 'live'
    ? { dir: join(userState(environment), 'journals'), host: thisHost(), accept: acceptRestored }
    : undefined;
