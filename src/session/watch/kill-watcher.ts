/** A session's work beside trading: its heartbeat, kill and pause files, and reports of the watchdog. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { type Clock, every, machineWall, type ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Assembled } from '../../trading/assemble.ts';
import {
  type ControlFile,
  controlFiles,
  isLimit,
  killFile,
  killPollMs,
  pauseFile,
  presentIn,
  removeControlFile,
} from '../control/control-files.ts';
import { unknownStrategy } from '../control/kill-texts.ts';
import { outOfFilesReporter } from './file-shortage.ts';
import { actText, beatMs, lastBeat, startHeartbeat, takeActs } from './heartbeat.ts';

export interface Guarded {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly assembled: Pick<Assembled, 'kill' | 'portfolio' | 'risk'>;
  readonly hosted: readonly { readonly id: string }[];
  readonly notice: (notice: Notice) => void;
}

/** Beats and polls for kill and pause files until the signal; then records that the end was intended. */
export function watchKills(guarded: Guarded, signal: AbortSignal): Promise<unknown> {
  const { stateDir, clock } = guarded;
  const beating = startHeartbeat(stateDir);
  signal.addEventListener('abort', () => beating.stop(), { once: true });
  return Promise.all([
    every(clock, clock.machine(beatMs), signal, () => {
      beating.beat(guarded.journal.full);
      for (const act of takeActs(stateDir)) guarded.notice({ level: 'warn', text: actText(act) });
    }),
    every(clock, clock.machine(killPollMs), signal, fileWatcher(guarded)),
  ]);
}

/**
 * State of a file. `stays`: nothing is left to do, since its kill or pause is in force or its strategy is unknown. `unwritten`: the disk is full.
 */
type Became = 'carried out' | 'unwritten' | 'stays';

/** A file is removed once its kill is on disk. One for an unknown strategy stays, and is reported once. */
function fileWatcher({ stateDir, clock, journal, assembled, hosted, notice }: Guarded): () => void {
  const known = new Map<string, { readonly made: string | undefined; became: Became }>();
  const takeAway = async (request: ControlFile, one: { became: Became }): Promise<void> => {
    one.became = 'carried out';
    if (!(await journal.durable())) {
      one.became = 'unwritten';
      return;
    }
    const against = removeControlFile(request);
    if (against === undefined) return;
    one.became = 'stays';
    notice({
      level: 'error',
      text: `${request.path} cannot be removed (${against}): remove it yourself, or it also ${request.kind}s the next start`,
    });
  };
  const listed = outOfFilesReporter(notice);
  const usual = [undefined, ...hosted.map(({ id }) => id)].flatMap((strategy) => [
    killFile(strategy),
    killFile(strategy, 'everything'),
    pauseFile(strategy),
  ]);
  const byName = (): readonly string[] => [...new Set([...usual, ...[...known.keys()].map((path) => basename(path))])];
  return () => {
    const requests = controlFiles(stateDir, listed(() => readdirSync(stateDir)) ?? presentIn(stateDir, byName()));
    const there = new Set(requests.map(({ path }) => path));
    // A later file of the same name is another kill.
    for (const path of known.keys()) if (!there.has(path)) known.delete(path);
    for (const request of requests) {
      const { kind, path, strategy, everything, by, reason, made } = request;
      const before = known.get(path);
      if (before !== undefined && before.made === made) {
        if (before.became === 'unwritten' && !journal.full) void takeAway(request, before);
        continue;
      }
      const one = { made, became: 'stays' as Became };
      known.set(path, one);
      const none = strategy === undefined ? undefined : unknownStrategy(strategy, hosted, assembled);
      if (none !== undefined) {
        notice({ level: 'error', text: `${path} has no effect: ${none}. Remove or rename it` });
        continue;
      }
      // The kill of a limit or a command while the disk is full is in force already, and waits for the journal. Its file may have found no room for
      // the reason.
      const stands = assembled.risk.switch.inForce.some(
        (kill) =>
          kill.kind === kind &&
          kill.strategy === strategy &&
          (isLimit(by) ? kill.by === by : kill.everything === everything && (journal.full || kill.reason === reason)),
      );
      if (stands) {
        void takeAway(request, one);
        continue;
      }
      void assembled.kill({ kind, everything, at: clock.now(), strategy, by, reason });
      void takeAway(request, one);
    }
  };
}

/** Time of the last heartbeat of an earlier run, by this clock. */
export function lastAliveAt(stateDir: string, clock: Pick<ScaledClock, 'now' | 'machine'>): number | undefined {
  const beat = lastBeat(stateDir);
  return beat === undefined ? undefined : clock.now() - clock.machine(Math.max(0, machineWall() - beat.at));
}
