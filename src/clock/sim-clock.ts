/** A clock that somebody else moves: one queue of future events, the earliest first. */
import type { Clock } from './clock.ts';

interface Event {
  readonly time: number;
  readonly order: number;
  fn: (() => void) | undefined;
}

/**
 * Simulated time. `advanceTo` fires what is due, one event at a time, and lets promises settle after each, but only while
 * tracked work is pending: a run without orders never leaves the synchronous path. Equal times fire in the order they were
 * asked for, so that commands given at a time come after the feed of that time.
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
   * `turnsPerLoop`: of so many turns one goes through the event loop, which asks the system for events; the others only let promises
   * settle. More than one is right only where nothing under way waits for a socket, a file or a timer of the machine.
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
    // Not `finally`, which makes three promises of one. An error that nobody hears must still end the process.
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

  /** Moves time on to `time` without firing anything; only right when nothing is due before it. */
  skipTo(time: number): void {
    if (time > this.#now) this.#now = time;
  }

  /** Fires everything due up to `time`, letting promises settle in between, and leaves the clock there. */
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

  /** What `settle` waits for, without a promise of its own for each event. */
  #settling(): Promise<void> | undefined {
    return this.#pending > 0 ? this.turn() : undefined;
  }

  /** Lets every promise that can settle without time passing do so, when there is tracked work. */
  async settle(): Promise<void> {
    if (this.#pending > 0) await this.turn();
  }

  /**
   * Like `settle`, but goes on as soon as tracked work has ended, and only otherwise after a turn of the event loop, which asks
   * the system for events: a tenth of a run with many orders. Work that follows untracked may not be through.
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

  /** The same as `settle`, tracked or not. */
  turn(): Promise<void> {
    this.#turns++;
    if (this.#turns % this.#turnsPerLoop === 0) return this.loop();
    // What is to come at the next tick comes when no promise is left that can settle; asked for in one, so that this holds from outside too.
    return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
  }

  /** A turn of the event loop itself. */
  loop(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up] as Event;
      if (!before(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && before(right, left)) child++;
      const least = heap[child] as Event;
      if (!before(least, last)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = last;
  }
}

const before = (a: Event, b: Event): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);
