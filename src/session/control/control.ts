/** Kill, pause, resume and cancel, for commands. A kill and a pause also work without a daemon: they wait in the journal. */
import { rmSync } from 'node:fs';
import { machineWall, pause, systemClock } from '../../clock/clock.ts';
import { redact } from '../../domain/redaction.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { maxReasonLength, oneLine } from '../../domain/stated-reason.ts';
import type { Entry } from '../../journal/entries.ts';
import { endKept, pendingKept } from '../../portfolio/flattening.ts';
import { shellWord } from '../../process/shell-word.ts';
import { flattenMemory } from '../../trading/flatten.ts';
import { type ChosenState, type DaemonInfo, inJournal, isHeld, noDaemonText } from '../state.ts';
import { removeControlFiles } from './confirm-on-disk.ts';
import { controlFiles, requestKill, requestPause } from './control-files.ts';
import { CallFailed, callDaemon } from './daemon-client.ts';
import { endedText, liftedText, resumedText, stoppedText } from './kill-texts.ts';
import { writeOffline } from './offline-journal.ts';

export interface Control {
  readonly action: 'kill' | 'pause' | 'resume' | 'cancel';
  /** Undefined: all strategies. */
  readonly strategy: string | undefined;
  readonly reason: string;
  /** Of a kill: exits, too. */
  readonly everything?: boolean | undefined;
  /** Of a cancel: this order alone, by our client id. */
  readonly order?: string | undefined;
}
type Killing = Pick<Control, 'strategy' | 'reason' | 'everything'>;
const by = 'operator';

/** Carries it out and returns what was done, in a sentence. */
export async function control(chosen: ChosenState, given: Control, say: (line: string) => void): Promise<string> {
  const { dir, running } = chosen;
  const { action, strategy, everything, order } = given;
  const reason = oneLine(redact(given.reason)).slice(0, maxReasonLength) || `sluice ${action}`;
  if (strategy !== undefined) refuseUnknown(strategy, dir);
  if (running === undefined)
    return isHeld(dir, 'written')
      ? controlStarting(chosen, { ...given, reason })
      : controlOffline(chosen, { ...given, reason });
  if (action === 'kill') return killRunning(running, dir, { reason, strategy, everything }, say);
  return callDaemon(running, action, { by, strategy, reason, ...(action === 'cancel' ? { order } : {}) });
}

/** A starting daemon may wait for the exchange for hours. It finds a kill or a pause when trading begins. */
function controlStarting(chosen: ChosenState, { action, ...given }: Control): string {
  const { dir } = chosen;
  const { strategy } = given;
  if (action === 'cancel') throw noCancel(chosen);
  if (action === 'resume') {
    const own = controlFiles(dir).filter((request) => strategy === undefined || request.strategy === strategy);
    const paths = own.map(({ path }) => shellWord(path));
    const stored = paths.length === 0 ? '' : `. What is only stored is taken back by: rm ${paths.join(' ')}`;
    throw new Refusal(`nothing was lifted: ${noDaemonText(chosen)}. Run sluice resume when it trades${stored}`, 1);
  }
  const path = action === 'kill' ? requestKill(dir, given) : requestPause(dir, given);
  const before = action === 'kill' ? 'any order is created' : 'anything is entered';
  return `The ${action} is stored in ${path}: it applies when trading begins there, before ${before}. Now ${noDaemonText(chosen)}.`;
}

const noCancel = (chosen: ChosenState): Refusal =>
  new Refusal(
    `${noDaemonText(chosen)}. Cancel when one trades, at the exchange itself, or with sluice order cancel`,
    1,
  );

/** Real ms without an answer after which a kill is also stored as a file, which works while strategies keep the daemon busy. */
const fileAfterMs = 5_000;

/** A daemon that does not answer finds the kill file when it is free again, and so does the next one that starts. */
async function killRunning(
  daemon: DaemonInfo,
  dir: string,
  killing: Killing,
  say: (line: string) => void,
): Promise<string> {
  const answered = new AbortController();
  const killed = stoppedText({ kind: 'kill', strategy: killing.strategy, everything: killing.everything === true });
  let file: string | undefined;
  const store = (): void => {
    try {
      file ??= requestKill(dir, killing);
    } catch {
      // The directory cannot be written: the message then says so.
    }
  };
  const byFile = pause(systemClock, fileAfterMs, answered.signal).then(() => {
    if (answered.signal.aborted) return;
    if (isKilled(dir, killing)) say(`${killed} Resting orders are still being cancelled`);
    else store();
  });
  try {
    const message = await callDaemon(daemon, 'kill', { by, ...killing });
    if (file !== undefined && isKilled(dir, killing)) rmSync(file, { force: true });
    return message;
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    const hangs = `if the daemon hangs, kill -9 ${daemon.pid}, then sluice order open and sluice order cancel, or start it again, which cancels`;
    if (isKilled(dir, killing))
      throw new Refusal(
        `${killed} But the daemon (process ${daemon.pid}) did not confirm the cancels (${error.why}), for example because the exchange does not answer. It keeps trying; sluice orders shows the open orders; ${hangs}`,
        error.exitCode,
      );
    store();
    const then =
      file === undefined
        ? `It could not be stored in ${dir} either`
        : `It is stored in ${file}: the daemon applies it when it responds again, and a new daemon there creates no orders`;
    throw new Refusal(
      `${error.message}. ${then}. Resting orders at the exchange were not cancelled: ${hangs}`,
      error.exitCode,
    );
  } finally {
    answered.abort();
    await byFile;
  }
}

/** Whether an operator's kill that stops as much is in force: it is on disk before the first cancel leaves. */
function isKilled(dir: string, { strategy, everything = false }: Killing): boolean {
  try {
    return inJournal(dir, (reader) => reader.kills()).some(
      (kill) =>
        kill.kind === 'kill' &&
        (kill.strategy === null || kill.strategy === strategy) &&
        (kill.everything || !everything) &&
        ['operator', 'file', 'signal'].includes(kill.by),
    );
  } catch {
    return false;
  }
}

/** A kill of an unknown strategy would seem to be in force. */
export function refuseUnknown(strategy: string, dir: string): void {
  const ids = inJournal(dir, (reader) => [
    ...new Set([...reader.strategies(), ...reader.kills().flatMap((kill) => kill.strategy ?? [])]),
  ]);
  if (ids.includes(strategy)) return;
  throw new Refusal(
    `strategy ${strategy} never ran on ${dir}${didYouMean(strategy, ids)}; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ') || 'none'}`,
  );
}

/** Without a daemon, the journal stores the kill, the pause or their end for the next start. */
function controlOffline(chosen: ChosenState, { action, strategy, reason, everything = false }: Control): string {
  const { dir } = chosen;
  if (action === 'cancel') throw noCancel(chosen);
  const [before, halts, flattens] = inJournal(dir, (reader) => [
    ...([reader.kills(), reader.halts()] as const),
    reader.memories().get(flattenMemory),
  ]);
  const at = systemClock.now();
  const entry: Entry = { kind: action, everything, at, strategy: strategy ?? null, by, reason };
  // As in a daemon: a resume ends what an earlier run was closing.
  const kept: readonly Entry[] =
    flattens === undefined || action !== 'resume'
      ? []
      : [{ kind: 'memory', name: flattenMemory, value: endKept(flattens, strategy, `resumed by ${by}: ${reason}`) }];
  writeOffline(dir, [entry, ...kept]);
  if (action !== 'resume')
    return `${stoppedText({ kind: action, strategy, everything }, ` in ${dir}`)} It applies when a daemon starts there. None runs now, so nothing was cancelled.`;
  const requests = controlFiles(dir);
  const files = requests.map((request) => ({ kind: 'file' as const, strategy: request.strategy ?? null }));
  removeControlFiles(requests, strategy);
  const left = strategy === undefined ? [] : requests.filter((request) => request.strategy === undefined);
  const inForce = [
    ...inJournal(dir, (reader) => [...reader.kills(), ...reader.halts()]),
    ...left.map(({ kind, path, reason: why }) => ({ kind, strategy: null, reason: `${why} (${path})` })),
  ];
  const ended = pendingKept(flattens, machineWall()).filter(
    (flatten) => (strategy ?? flatten.strategy) === flatten.strategy,
  );
  const lifted = strategy === undefined ? halts.map((halt) => ({ text: halt.reason })) : [];
  return `${resumedText(strategy, [...before, ...halts, ...files], inForce, ` in ${dir}`)}${liftedText(lifted)}${endedText(ended)}`;
}
