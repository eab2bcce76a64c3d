/**
 * The only source of time and randomness.
 *
 * Time is the exchange's, UTC ms, possibly faster than real (a demo at 60×). Durations about the market and the exchange's
 * rules (polling, horizons, windows of weight) are plain ms of this clock. Durations about machine and network (time-outs,
 * receive windows, the age of data) are real: `machine(ms)` says how many ms of this clock they are.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface Clock {
  /** UTC ms. */
  now(): number;
  /** ms that never step back. */
  monotonic(): number;
  /** Waits `ms` of this clock. */
  sleep(ms: number): Promise<void>;
  /** Runs `fn` at `time` (UTC ms) or as soon as possible after it. Returns what cancels it. */
  at(time: number, fn: () => void): () => void;
  /** How many ms of this clock pass in `realMs` of real time. */
  machine(realMs: number): number;
  /** Registers asynchronous work: simulated time stands still until it has settled. */
  track<T>(work: Promise<T>): Promise<T>;
}

/** A random source in [0, 1). */
export type Rng = () => number;

export const systemRng: Rng = () => Math.random();

/** A seeded source (mulberry32): the same seed gives the same draws everywhere. */
export function seededRng(seed: number): Rng {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The longest delay of Node's timers; longer waits use several. */
const longestTimerMs = 2_147_483_647;

/**
 * A clock that runs at `speed` times real time. Its time can be set, as to the exchange's `/time`. At speed 1 it starts with the machine's
 * time.
 */
export class ScaledClock implements Clock {
  readonly speed: number;
  #epoch: number;
  #startedAt = performance.now();

  constructor(speed = 1, epoch = Date.now()) {
    if (!(speed > 0)) throw new RangeError(`speed must be above 0, not ${speed}`);
    this.speed = speed;
    this.#epoch = epoch;
  }

  now(): number {
    return Math.floor(this.exact());
  }

  /** Like `now`, with its fraction. */
  exact(): number {
    return this.#epoch + (performance.now() - this.#startedAt) * this.speed;
  }

  /** Sets the time; running waits keep their length. */
  set(time: number): void {
    this.#epoch = time;
    this.#startedAt = performance.now();
  }

  monotonic(): number {
    return performance.now() * this.speed;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#after(ms / this.speed, resolve);
    });
  }

  at(time: number, fn: () => void): () => void {
    return this.#after((time - this.exact()) / this.speed, fn);
  }

  machine(realMs: number): number {
    return realMs * this.speed;
  }

  track<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  #after(realMs: number, fn: () => void): () => void {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      timer =
        left > longestTimerMs
          ? setTimeout(() => wait(left - longestTimerMs), longestTimerMs)
          : setTimeout(fn, Math.max(0, left));
    };
    wait(realMs);
    return () => clearTimeout(timer);
  }
}

/** Waits `ms` of a clock, or until `signal` aborts; no timer remains that would keep the process alive. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.at(clock.now() + ms, end);
    signal.addEventListener('abort', end);
  });
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Does work and waits this long (ms of the clock), again and again until the signal. */
export async function every(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(clock, ms, signal);
  }
}

/** The machine's own clock. */
export const systemClock: Clock = new ScaledClock(1);

/** Resolves after due timers (also `setTimeout(…, 0)`), immediates and rejected promises were handled. */
export async function loopTurn(): Promise<void> {
  await systemClock.sleep(0);
  // Timers may run twice before immediates run once.
  await new Promise((resolve) => setImmediate(resolve));
}

/** The machine's wall clock, UTC ms: people and daemons may set it, and it runs while the machine sleeps. */
export const machineWall = (): number => Date.now();

/** Real ms since the machine booted: never step back and are the same in every process. */
export const machineSteady = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Real ms that never step back, for measuring our own work; not for decisions. */
export const realMs = (): number => performance.now();

/** Blocks this thread until another one sets `flag`, at most `maxMs` real ms; only for a start, before anything else runs. */
export const blockUntil = (flag: Int32Array, maxMs: number): void => {
  Atomics.wait(flag, 0, 0, maxMs);
};

/** Poll interval of the event loop, ms. */
const loopMs = 10;

/** Watches how late the event loop turns. `take` gives quantiles since the last call, s, without the poll interval. */
export function watchLoop(): { take(quantiles: readonly number[]): readonly number[] } {
  const delays = monitorEventLoopDelay({ resolution: loopMs });
  delays.enable();
  return {
    take(quantiles) {
      const taken = quantiles.map((one) => Math.max(0, delays.percentile(one * 100) / 1e9 - loopMs / 1_000));
      delays.reset();
      return taken;
    },
  };
}
