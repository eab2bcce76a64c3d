/**
 * Whether this process is healthy: it ran all the time, and has memory. After a standstill, suspended or busy, it sweeps the exchange as after a
 * crash before it creates orders.
 */
import { type Clock, machineSteady } from '../../clock/clock.ts';
import type { Halts } from '../../execution/halt.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Answer } from '../../venue/venue.ts';
import { unlessOutOfFiles } from './file-shortage.ts';

/** Between two checks, real ms. */
export const healthMs = 1_000;
/** A check that comes so much later means a standstill, real ms. */
const maxDelayMs = 2_000;
/** Between retries of the sweep, ms of the clock. */
const retryMs = 2_000;
/** Resident memory above which the process ends, for its supervisor to restart it: ten times that of a busy one. */
const maxMemoryBytes = 2 * 1024 ** 3;

export interface HealthParts {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly halts: Pick<Halts, 'also'>;
  readonly syncTime: () => Promise<Answer<unknown>>;
  /** Sweeps every symbol; returns why that was incomplete. */
  readonly sweepAll: () => Promise<string | undefined>;
  readonly notice: (notice: Notice) => void;
  readonly fatal: (error: Error) => void;
  readonly steady?: () => number;
  readonly memoryBytes?: () => number;
}

/** Returns the work of each second. From its first call on, no order is created between a standstill and a complete sweep. */
export function health(parts: HealthParts): () => void {
  const { steady = machineSteady, memoryBytes = () => process.memoryUsage.rss() } = parts;
  let lastAt = steady();
  let sweeping: string | undefined;
  const delayMs = (): number => steady() - lastAt - healthMs;
  const textOf = (ms: number): string =>
    `this process was blocked for ${Math.round(ms / 1_000)} s: the exchange is swept before an order is created`;
  // Checked with every order: the first task after a standstill may create one.
  parts.halts.also(() => sweeping ?? (delayMs() > maxDelayMs ? textOf(delayMs()) : undefined));

  async function sweep(): Promise<void> {
    for (;;) {
      const time = await parts.syncTime();
      const cause = time.kind === 'failed' ? time.cause : await parts.sweepAll();
      if (cause === undefined) break;
      await parts.clock.sleep(retryMs);
    }
    sweeping = undefined;
    parts.notice({ level: 'info', text: 'the exchange was swept: orders are created again' });
  }

  return () => {
    const delay = delayMs();
    lastAt = steady();
    if (delay > maxDelayMs) {
      const isSweeping = sweeping !== undefined;
      sweeping = textOf(delay);
      parts.notice({ level: 'warn', text: sweeping });
      if (!isSweeping) void sweep().catch(parts.fatal);
    }
    const bytes = unlessOutOfFiles(memoryBytes) ?? 0;
    const used = `this process uses ${Math.round(bytes / 1024 ** 2)} MiB of memory, more than it should need`;
    if (bytes > maxMemoryBytes) parts.fatal(new Error(`${used}: it ends; the next start continues`));
  };
}
