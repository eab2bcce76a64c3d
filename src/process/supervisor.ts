/**
 * Tells systemd that a daemon is ready, alive or stopping. Its socket takes datagrams, which Node cannot send without native code; `systemd-notify` can, and
 * every system with systemd has it. The unit allows that by `NotifyAccess=all`.
 */
import { spawn } from 'node:child_process';
import { type Clock, every } from '../clock/clock.ts';

export interface Supervisor {
  /** Trading has begun. From now on systemd expects a sign of life, if the unit has `WatchdogSec`. */
  readonly ready: () => void;
  readonly stopping: () => void;
}

/** Signs of life in the time after which systemd ends a process: one or two may come late. */
const signsOfLife = 3;
/** A start may wait for hours, but a blocked one is ended after this, real ms. As `TimeoutStartSec` in the unit. */
const startWithinMs = 300_000;

const nobody: Supervisor = { ready() {}, stopping() {} };

/** Reports to systemd from now on that the start goes on. `failed` is called once when that cannot be sent. `clock`: real time. */
export function supervisor(
  environment: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  failed: (why: string) => void,
): Supervisor {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: within = '' } = environment;
  if (socket === undefined || socket === '') return nobody;
  const ended = new AbortController();
  let hasFailed = false;
  const fail = (why: string): void => {
    if (!hasFailed) failed(why);
    hasFailed = true;
  };
  const tell = (...words: readonly string[]): void => {
    const child = spawn('systemd-notify', words, { stdio: 'ignore', env: { ...environment } });
    child.once('error', ({ message }) => fail(message));
    child.once('exit', (code) => code !== 0 && fail(`systemd-notify ended with code ${code}`));
    child.unref();
  };
  const withinMs = Number(within) / 1_000;
  const started = new AbortController();
  // By the event loop, too.
  void every(clock, startWithinMs / signsOfLife, AbortSignal.any([started.signal, ended.signal]), () =>
    tell(`EXTEND_TIMEOUT_USEC=${startWithinMs * 1_000}`),
  );
  return {
    ready() {
      started.abort();
      tell('--ready', '--status=Trading');
      if (!(withinMs > 0)) return;
      // By the event loop: while that is blocked, no sign is given.
      void every(clock, withinMs / signsOfLife, ended.signal, () => tell('WATCHDOG=1'));
    },
    stopping() {
      ended.abort();
      tell('STOPPING=1');
    },
  };
}
