/** Handles the operator's signals in a program that runs until it is stopped. */
import { closeSync, constants as fileFlags, openSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { machineSteady } from '../clock/clock.ts';
import { Refusal } from '../domain/refusal.ts';

/** systemd, `timeout` and a closing terminal signal the whole group, so the launcher's copy within this time is the same request. */
const sameRequestMs = 2_000;
/** npm and the launcher repeat Ctrl-C within this time; a finger takes longer. As in `bin/launch.js`. */
const samePressMs = 300;

/** Signals that request a stop. */
export const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Stopped before it began: printed like a refusal, but no failure of a service. */
export class StoppedEarly extends Refusal {}

export interface Stopping {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP; the second one ends the process at once. */
  readonly signal: AbortSignal;
  /** Exit code of a stopped program, 128 and the signal's number; undefined if the stop was its normal end. */
  readonly exitCode: number | undefined;
}

let listening = false;
/** Whether this process listens for them: a thread, and a test, does not. */
export const listens = (): boolean => listening;

/** They run until they are stopped: SIGTERM is how a service manager does that, and no failure. */
const services: ReadonlySet<string | undefined> = new Set([
  'demo',
  'live',
  'paper',
  'simulator',
  'watchdog',
  'record',
  'market',
  'dashboard',
]);

const codeOf = (signal: (typeof signals)[number]): number => 128 + constants.signals[signal];

/** SIGUSR1 only prints a hint. By default Node would open a debugger, for every user of the machine, in a process with keys. */
export function opensNoDebugger(program: string): void {
  // The launcher listens already where it is this process.
  if (process.platform === 'win32' || process.listenerCount('SIGUSR1') > 0) return;
  process.on('SIGUSR1', () => {
    process.stderr.write(
      `${program}: SIGUSR1 does nothing here: the signal that kills a daemon, so that it creates no order any more, is SIGUSR2\n`,
    );
  });
}

/**
 * Whether `nohup` started us from a terminal: Node forgets at its start which signals were ignored, but a standard input that
 * is /dev/null and can only be written to is its mark (on Linux). As in `bin/launch.js`.
 */
function isUnderNohup(): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1] ?? '';
    return readlinkSync('/proc/self/fd/0') === '/dev/null' && (Number.parseInt(flags, 8) & 3) === 1;
  } catch {
    return false;
  }
}

/** They read their configuration again on SIGHUP, as services do, where no terminal can have closed. */
const reloading: ReadonlySet<string | undefined> = new Set(['live', 'paper']);

/** Whether this process belongs to a terminal, whose end hangs up. As in `bin/launch.js`. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', fileFlags.O_RDONLY | fileFlags.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}

/** Whether SIGHUP reloads what carries out `command`, and does not stop it; to be asked at its start. */
export const reloadsOnHangUp = (command: string | undefined): boolean =>
  process.platform !== 'win32' && reloading.has(command) && !hasTerminal();

/** Listens for as long as the process lives, which carries out `command`; also for the launcher's end, which is ours. */
export function stopsOnSignals(command: string | undefined): Stopping {
  const stopping = new AbortController();
  listening = true;
  opensNoDebugger('sluice');
  let exitCode: number | undefined;
  let firstAt = 0;
  // What reloads listens for itself; without a listener here the signal would end a start.
  const isDeafToHangUps = isUnderNohup() || reloadsOnHangUp(command);
  for (const signal of signals) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && isDeafToHangUps) return;
      const sameMs = signal === 'SIGINT' ? samePressMs : sameRequestMs;
      if (stopping.signal.aborted && machineSteady() - firstAt < sameMs) return;
      if (stopping.signal.aborted) process.exit(codeOf(signal));
      firstAt = machineSteady();
      // The launcher passes a signal on unless it knows that we had it ourselves.
      if (process.connected) process.send?.(signal);
      exitCode = signal === 'SIGINT' || !services.has(command) ? codeOf(signal) : undefined;
      stopping.abort();
    });
  }
  if (process.env['SLUICE_LAUNCHED'] !== undefined && process.channel !== undefined) {
    process.on('disconnect', () => stopping.abort());
    process.channel?.unref();
  }
  return {
    signal: stopping.signal,
    get exitCode() {
      return exitCode;
    },
  };
}
