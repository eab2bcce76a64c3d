/** A clock that its owner advances: a queue of future events, earliest first. */
import type { Clock } from './clock.ts';

interface Event {
  readonly time: number;
  readonly order: number;
  fn: (() => void) | undefined;
}

/**
 * Simulated time. `advanceTo` fires due events one at a time. While tracked work is pending, it lets promises settle after each; a run
 * without orders stays synchronous. Equal times fire in the order of registration, so commands come after the feed of the same time.
 */
export class SimClock implements Clock {
  #now: number;
  #order = 0;
  #pending = 0;
  #whenIdle: (() => void) | undefined;
  readonly #heap: Event[] = [];
  readonly #turnsPerLoop: number;
  #turns = 0;

  /**
   * `turnsPerLoop`: one in so many turns is a turn of the event loop, which asks the system for events; the others only let promises settle.
   * Use more than one only if no pending work waits for a socket, a file or a timer of the machine.
   */
  constructor(start: number, { turnsPerLoop = 1 }: { readonly turnsPerLoop?: number } = {}) {
    this.#now = start;
    this.#turnsPerLoop = turnsPerLoop;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  machine(realMs: number): number {
    return realMs;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.#now + ms, resolve);
    });
  }

  at(time: number, fn: () => void): () => void {
    const event: Event = { time: Math.max(time, this.#now), order: this.#order++, fn };
    this.#push(event);
    return () => {
      event.fn = undefined;
    };
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.#pending++;
    // Not `finally`, which creates three promises. An unhandled error must still end the process.
    return work.then(
      (value) => {
        this.#end();
        return value;
      },
      (error: unknown) => {
        this.#end();
        throw error;
      },
    );
  }

  #end(): void {
    this.#pending--;
    if (this.#pending === 0) this.#whenIdle?.();
  }

  /** True while tracked work has not settled. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  /** True when an event is due at or before `time`. */
  dueBy(time: number): boolean {
    const next = this.#heap[0];
    return next !== undefined && next.time <= time;
  }

  /** When the next event is due, UTC ms; infinity when none is. */
  get nextDue(): number {
    return this.#heap[0]?.time ?? Number.POSITIVE_INFINITY;
  }

  /** Moves time to `time` without firing events; nothing may be due before it. */
  skipTo(time: number): void {
    if (time > this.#now) this.#now = time;
  }

  /** Fires everything due up to `time`, lets promises settle in between, and leaves the clock at `time`. */
  async advanceTo(time: number): Promise<void> {
    await this.#settling();
    for (let next = this.#heap[0]; next !== undefined && next.time <= time; next = this.#heap[0]) {
      this.#pop();
      if (next.fn === undefined) continue;
      this.skipTo(next.time);
      next.fn();
      await this.#settling();
    }
    this.skipTo(time);
  }

  /** `settle` without an extra promise for each event. */
  #settling(): Promise<void> | undefined {
    return this.#pending > 0 ? this.turn() : undefined;
  }

  /** Lets promises settle while time stands still, if there is tracked work. */
  async settle(): Promise<void> {
    if (this.#pending > 0) await this.turn();
  }

  /**
   * Like `settle`, but resolves as soon as tracked work has ended. That saves a turn of the event loop, a tenth of a run with many orders.
   * Untracked work that follows may not have finished.
   */
  async settleSoon(): Promise<void> {
    if (this.#pending === 0) return;
    await new Promise<void>((resolve) => {
      const turn = setImmediate(resolve);
      this.#whenIdle = () => {
        clearImmediate(turn);
        resolve();
      };
    });
    this.#whenIdle = undefined;
  }

  /** Like `settle`, also without tracked work. */
  turn(): Promise<void> {
    this.#turns++;
    if (this.#turns % this.#turnsPerLoop === 0) return this.loop();
    // The next tick runs when no promise is left to settle. It is requested in a microtask, so that this holds outside of one as well.
    return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
  }

  /** A turn of the event loop itself. */
  loop(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const up = (index - 1) >> 1;
      const parent = heap[up] as Event;
      if (!before(event, parent)) break;
      heap[index] = parent;
      index = up;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && before(right, left)) child++;
      const least = heap[child] as Event;
      if (!before(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
  }
}

const before = (a: Event, b: Event): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);
