/** One incarnation of the process: it sees a clock of its own, and nothing it waits for settles once it is dead. */

import type { Clock, Rng } from '../../src/clock/clock.ts';
import { SimClock } from '../../src/clock/sim-clock.ts';
import type { CrashPoint } from './plan.ts';

/** A promise that nobody catches is told of by the event loop: after so many turns at the latest. Each way through it costs several µs. */
const turnsPerLoop = 64;

/** The world's time. Things due at the same ms come in an order that the seed decides. */
export class Time {
  readonly sim: SimClock;
  readonly start: number;
  readonly #tie: Rng;
  /** Things that happened. */
  steps = 0;
  /** Called before each step. */
  onStep: () => void = () => {};

  constructor(start: number, tie: Rng) {
    this.start = start;
    this.sim = new SimClock(start, { turnsPerLoop });
    this.#tie = tie;
    // Simulated time lets promises settle only while something is tracked; here something always may be under way.
    void this.sim.track(new Promise(() => {}));
  }

  /** UTC ms. */
  now(): number {
    return Math.floor(this.sim.now());
  }

  /** ms since the start. */
  elapsed(): number {
    return this.now() - this.start;
  }

  at(time: number, fn: () => void): () => void {
    // A fraction of a ms decides among equal times; nobody sees it.
    return this.sim.at(Math.max(this.now(), Math.floor(time)) + this.#tie() * 0.999, () => {
      this.steps++;
      this.onStep();
      fn();
    });
  }

  after(ms: number, fn: () => void): () => void {
    return this.at(this.sim.now() + ms, fn);
  }
}

/** The clocks of the machine that processes run on. */
export interface Machine {
  readonly time: Time;
  /** How far its wall clock is off, ms: a process begins with it, and asks it again and again whether it was set. */
  readonly wallAheadMs: () => number;
  /** A mutant: the wall clock is the process's time, and nobody sets it. */
  readonly goesByTheWall: boolean;
}

export class Life {
  readonly number: number;
  alive = true;
  readonly clock: LifeClock;
  readonly #comesBy: (point: CrashPoint) => boolean;

  /** `comesBy` is asked at each point where a crash can wait; true: the process has died here. */
  constructor(number: number, machine: Machine, comesBy: (point: CrashPoint) => boolean) {
    this.number = number;
    this.#comesBy = comesBy;
    this.clock = new LifeClock(machine, this);
  }

  /** True when the process has died, here or before. */
  diesAt(point: CrashPoint): boolean {
    return !this.alive || this.#comesBy(point);
  }
}

/** What a dead process waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A process's clock: set by what the exchange says, and silent after death. */
class LifeClock implements Clock {
  readonly #machine: Machine;
  readonly #time: Time;
  readonly #life: Life;
  #set = 0;

  constructor(machine: Machine, life: Life) {
    this.#machine = machine;
    this.#time = machine.time;
    this.#life = life;
  }

  /** Its time is the machine's wall clock, until the exchange was asked. */
  beginOnTheWall(): void {
    this.#set = this.#machine.wallAheadMs();
  }

  get #offset(): number {
    return this.#machine.goesByTheWall ? this.#machine.wallAheadMs() : this.#set;
  }

  /** The machine's wall clock, which nobody but its owner sets. */
  wall(): number {
    return this.#time.now() + this.#machine.wallAheadMs();
  }

  now(): number {
    return Math.floor(this.exact());
  }

  exact(): number {
    return this.#time.now() + this.#offset;
  }

  set(time: number): void {
    this.#set = time - this.#time.now();
  }

  monotonic(): number {
    return this.#time.now();
  }

  machine(realMs: number): number {
    return realMs;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#time.after(ms, () => {
        if (!this.#life.diesAt('timer')) resolve();
      });
    });
  }

  at(time: number, fn: () => void): () => void {
    // Rounded up: a timer never fires before its time.
    return this.#time.at(Math.ceil(time - this.#offset), () => {
      if (!this.#life.diesAt('timer')) fn();
    });
  }

  track<T>(work: Promise<T>): Promise<T> {
    return work;
  }
}
