/** What a session looks after beside trading: the sign of life for others, kills that are asked for by a file, and what a watchdog did. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { type Clock, machineWall, pause, type ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Assembled } from '../../trading/assemble.ts';
import {
  forgetRequest,
  isLimit,
  type KillRequest,
  killFile,
  killLookMs,
  killRequests,
  presentIn,
} from '../control/kill-file.ts';
import { nobody } from '../control/kill-texts.ts';
import { outOfFilesReporter } from './file-shortage.ts';
import { actText, beatMs, heart, lastBeat, takeActs } from './heartbeat.ts';

export interface Guarded {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly assembled: Pick<Assembled, 'kill' | 'portfolio' | 'risk'>;
  readonly hosted: readonly { readonly id: string }[];
  readonly notice: (notice: Notice) => void;
}

/** Begins to beat and to look for files, until the signal; then says that this was on purpose. */
export function watchKills(guarded: Guarded, signal: AbortSignal): Promise<unknown> {
  const { stateDir, clock } = guarded;
  const beating = heart(stateDir);
  signal.addEventListener('abort', () => beating.stop(), { once: true });
  return Promise.all([
    every(clock, beatMs, signal, () => {
      beating.beat(guarded.journal.full);
      for (const act of takeActs(stateDir)) guarded.notice({ level: 'warn', text: actText(act) });
    }),
    every(clock, killLookMs, signal, killsByFile(guarded)),
  ]);
}

async function every(clock: Clock, realMs: number, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    work();
    await pause(clock, clock.machine(realMs), signal);
  }
}

/**
 * What became of a file: `stays` where nothing is left to do about it, its kill is in force or it kills nobody; `unwritten` while the disk is
 * full.
 */
type Became = 'carried out' | 'unwritten' | 'stays';

/** A file is taken away once its kill is on disk: until then it must be found again. One that kills nobody stays, and is told of once. */
function killsByFile({ stateDir, clock, journal, assembled, hosted, notice }: Guarded): () => void {
  const known = new Map<string, { readonly made: string | undefined; became: Became }>();
  const takeAway = async (request: KillRequest, one: { became: Became }): Promise<void> => {
    one.became = 'carried out';
    if (!(await journal.durable())) {
      one.became = 'unwritten';
      return;
    }
    const against = forgetRequest(request);
    if (against === undefined) return;
    one.became = 'stays';
    notice({
      level: 'error',
      text: `${request.path} cannot be taken away (${against}): remove it, or the next start is killed by it, too`,
    });
  };
  const listed = outOfFilesReporter(notice);
  const usual = [undefined, ...hosted.map(({ id }) => id)].map((strategy) => killFile(strategy));
  const byName = (): readonly string[] => [...new Set([...usual, ...[...known.keys()].map((path) => basename(path))])];
  return () => {
    const requests = killRequests(stateDir, listed(() => readdirSync(stateDir)) ?? presentIn(stateDir, byName()));
    const there = new Set(requests.map(({ path }) => path));
    // One of the same name that comes later is a kill of its own.
    for (const path of known.keys()) if (!there.has(path)) known.delete(path);
    for (const request of requests) {
      const { path, strategy, by, reason, made } = request;
      const before = known.get(path);
      if (before !== undefined && before.made === made) {
        if (before.became === 'unwritten' && !journal.full) void takeAway(request, before);
        continue;
      }
      const one = { made, became: 'stays' as Became };
      known.set(path, one);
      const none = strategy === undefined ? undefined : nobody(strategy, hosted, assembled);
      if (none !== undefined) {
        notice({ level: 'error', text: `${path} kills nobody: ${none}. Remove it, or give it the name that is meant` });
        continue;
      }
      // What a limit killed by itself while the disk is full is in force, and waits to be written down.
      const { inForce } = assembled.risk.switch;
      const stands = isLimit(by) && inForce.some((kill) => kill.by === by && kill.strategy === strategy);
      if (stands) {
        void takeAway(request, one);
        continue;
      }
      notice({ level: 'warn', text: `killed by ${by}: ${strategy ?? 'everything'}, ${reason}` });
      void assembled.kill({ at: clock.now(), strategy, by, reason });
      void takeAway(request, one);
    }
  };
}

/** When an earlier run was last alive, by this clock; undefined where none was, or it is not known. */
export function aloneSince(stateDir: string, clock: Pick<ScaledClock, 'now' | 'machine'>): number | undefined {
  const beat = lastBeat(stateDir);
  return beat === undefined ? undefined : clock.now() - clock.machine(Math.max(0, machineWall() - beat.at));
}
