/** What a session looks after beside trading: the sign of life for others, kills that are asked for by a file, and what a watchdog did. */
import { machineWall, pause, type ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/desk.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Assembled } from '../assemble.ts';
import { nobody } from '../kills.ts';
import { actText, beatMs, heart, lastBeat, takeActs } from './heartbeat.ts';
import { forgetRequest, killLookMs, killRequests } from './kill-file.ts';

export interface Guarded {
  readonly stateDir: string;
  readonly clock: ScaledClock;
  readonly journal: Journal;
  readonly assembled: Pick<Assembled, 'kill' | 'portfolio' | 'risk'>;
  readonly hosted: readonly { readonly id: string }[];
  readonly notice: (notice: Notice) => void;
}

/** Begins to beat and to look for files, until the signal; then says that this was on purpose. */
export function guardian(guarded: Guarded, signal: AbortSignal): Promise<unknown> {
  const { stateDir, clock } = guarded;
  const beating = heart(stateDir);
  signal.addEventListener('abort', () => beating.stop(), { once: true });
  return Promise.all([
    every(clock, beatMs, signal, () => {
      beating.beat();
      for (const act of takeActs(stateDir)) guarded.notice({ level: 'warn', text: actText(act) });
    }),
    every(clock, killLookMs, signal, killsByFile(guarded)),
  ]);
}

async function every(clock: ScaledClock, realMs: number, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    work();
    await pause(clock, clock.machine(realMs), signal);
  }
}

/** A file is taken away once its kill is on disk: until then it must be found again. One that kills nobody stays, and is told of once. */
function killsByFile({ stateDir, clock, journal, assembled, hosted, notice }: Guarded): () => void {
  const taken = new Set<string>();
  return () => {
    for (const request of killRequests(stateDir)) {
      const { path, strategy, by, reason } = request;
      if (taken.has(path)) continue;
      taken.add(path);
      const none = strategy === undefined ? undefined : nobody(strategy, hosted, assembled);
      if (none !== undefined) {
        notice({ level: 'error', text: `${path} kills nobody: ${none}. Remove it, or give it the name that is meant` });
        continue;
      }
      notice({ level: 'warn', text: `killed by ${by}: ${strategy ?? 'everything'}, ${reason}` });
      void assembled.kill({ at: clock.now(), strategy, by, reason });
      void journal.durable().then((onDisk) => {
        const against = onDisk ? forgetRequest(request) : undefined;
        if (against === undefined) taken.delete(path);
        else
          notice({
            level: 'error',
            text: `${path} cannot be taken away (${against}): remove it, or the next start is killed by it, too`,
          });
      });
    }
  };
}

/** When an earlier run was last alive, by this clock; undefined where none was, or it is not known. */
export function aloneSince(stateDir: string, clock: Pick<ScaledClock, 'now' | 'machine'>): number | undefined {
  const beat = lastBeat(stateDir);
  return beat === undefined ? undefined : clock.now() - clock.machine(Math.max(0, machineWall() - beat.at));
}
