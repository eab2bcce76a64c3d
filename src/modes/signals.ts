/** What an operator's signals mean to a program that works until it is stopped. */
import { machineSteady } from '../clock/clock.ts';

/** systemd, `timeout` and a closing terminal signal the whole group: what the launcher passes on then is the same wish once more. */
const sameWishMs = 2_000;

/** The wishes to stop. */
export const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Stopping {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP; the second one ends the process at once. */
  readonly signal: AbortSignal;
  /** It was Ctrl-C: the exit code says so. */
  readonly interrupted: boolean;
}

let listening = false;
/** Whether this process listens for them: a thread, and a test, does not. */
export const listens = (): boolean => listening;

/** Listens for as long as the process lives; also for the launcher's end, which is ours. */
export function stopsOnSignals(): Stopping {
  const stopping = new AbortController();
  listening = true;
  let interrupted = false;
  let firstAt = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      if (stopping.signal.aborted && signal !== 'SIGINT' && machineSteady() - firstAt < sameWishMs) return;
      if (stopping.signal.aborted) process.exit(130);
      firstAt = machineSteady();
      // The launcher passes a signal on unless it knows that we had it ourselves.
      if (process.connected) process.send?.(signal);
      interrupted = signal === 'SIGINT';
      stopping.abort();
    });
  }
  if (process.env['SLUICE_LAUNCHED'] !== undefined && process.channel !== undefined) {
    process.on('disconnect', () => stopping.abort());
    process.channel?.unref();
  }
  return {
    signal: stopping.signal,
    get interrupted() {
      return interrupted;
    },
  };
}
