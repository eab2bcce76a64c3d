/**
 * Whether this process itself is well: it ran all the time, and it has memory. One that stood
 * still, suspended or busy, knows nothing of the meantime: it looks at the exchange as after a crash before it creates anything.
 */
import { type Clock, machineSteady } from '../../clock/clock.ts';
import type { Notice } from '../../execution/context.ts';
import type { Halts } from '../../execution/halt.ts';
import type { Answer } from '../../venue/venue.ts';
import { unlessOutOfFiles } from './file-shortage.ts';

/** Between two looks, real ms. */
export const healthMs = 1_000;
/** A process that comes so much later to its look stood still, real ms. */
const mostLateMs = 2_000;
/** Between tries to see everything again, ms of the clock. */
const retryMs = 2_000;
/** Resident memory past which the process ends while it still can, for its supervisor to start it again: ten times what a busy one takes. */
const mostMemoryBytes = 2 * 1024 ** 3;

export interface HealthParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly halts: Pick<Halts, 'also'>;
  /** Reads the exchange's time anew. */
  readonly syncTime: () => Promise<Answer<unknown>>;
  /** Looks at every symbol; gives why that was not complete. */
  readonly sweepAll: () => Promise<string | undefined>;
  readonly notice: (notice: Notice) => void;
  readonly fatal: (error: Error) => void;
  readonly steady?: () => number;
  readonly memoryBytes?: () => number;
}

/** What is to be done each second. From its first call on nothing is created after a standstill before everything was seen again. */
export function health(parts: HealthParts): () => void {
  const { steady = machineSteady, memoryBytes = () => process.memoryUsage.rss() } = parts;
  let lastAt = steady();
  let looking: string | undefined;
  const lateMs = (): number => steady() - lastAt - healthMs;
  const words = (ms: number): string =>
    `this process stood still for ${Math.round(ms / 1_000)} s: everything at the exchange is looked at before an order is created`;
  // Asked with every order: what woke up first may be the one that wants to create.
  parts.halts.also(() => looking ?? (lateMs() > mostLateMs ? words(lateMs()) : undefined));

  async function lookAgain(): Promise<void> {
    for (;;) {
      const time = await parts.syncTime();
      const cause = time.kind === 'failed' ? time.cause : await parts.sweepAll();
      if (cause === undefined) break;
      await parts.clock.sleep(retryMs);
    }
    looking = undefined;
    parts.notice({ level: 'info', text: 'everything at the exchange was seen again: orders are created again' });
  }

  return () => {
    const late = lateMs();
    lastAt = steady();
    if (late > mostLateMs) {
      const begun = looking !== undefined;
      looking = words(late);
      parts.notice({ level: 'warn', text: looking });
      if (!begun) void lookAgain().catch(parts.fatal);
    }
    // The system tells it by a file.
    const bytes = unlessOutOfFiles(memoryBytes) ?? 0;
    if (bytes > mostMemoryBytes)
      parts.fatal(
        new Error(
          `this process holds ${Math.round(bytes / 1024 ** 2)} MiB of memory, more than it can need: it ends, and the next start goes on`,
        ),
      );
  };
}
