/**
 * Our clock, set by the exchange's `/time` and kept under watch. A request outside the exchange's window is refused (specification
 * §5.3), and a lost create may take effect until a moment of its time. While that time is not known, nothing is created.
 */
import { machineWall, type ScaledClock } from '../../../clock/clock.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import { readTime } from '../market/read-market.ts';
import { endpoints } from './endpoints.ts';
import { failure } from './reply.ts';
import type { Rest } from './rest.ts';

export interface TimeSync {
  /** How far our clock was behind the exchange's, ms of the clock; it has been moved by this. */
  readonly offsetMs: number;
  /** The exchange's time lies within this of ours, ms of the clock. */
  readonly uncertaintyMs: number;
}

/** The parts of a clock that can be set. */
export type SetClock = Pick<ScaledClock, 'now' | 'exact' | 'set' | 'monotonic' | 'machine'>;

interface Reading {
  readonly offsetMs: number;
  readonly errorMs: number;
  /** By the monotonic clock, the middle of the round trip. */
  readonly at: number;
}

/** Readings in a row that must agree before an unknown or doubted time is believed. */
const agreeing = 3;
/** Readings in one sync; if they still contradict each other, the next call tries again. */
const maxReadings = 8;
/** Real ms: two readings further apart than their errors and this contradict each other; servers of one exchange differ a little. */
const toleranceMs = 100;
/** Real ms: with a greater uncertainty nothing is created. */
export const maxUncertaintyMs = 500;
/** Real ms between two readings. */
const everyMs = 60_000;
/** How fast two clocks may drift apart; uncertainty grows by it with age. */
const drift = 200e-6;
/** Real ms by which the wall clock may diverge from the steady clock between two checks; more is a step, or the machine slept. */
const jumpMs = 250;
/** Real ms that a reading may wait for request weight. */
const patienceMs = 20_000;

type Asking = Pick<Rest, 'admit' | 'sign'>;

/**
 * A reading's time belongs to somewhere within its round trip; taking the middle, its error is at most half of that. The sharpest
 * sets the clock. Steps show in three ways: the machine's wall clock leaves the steady one (it was set, or the machine slept), a
 * reading contradicts what the steady clock makes of the last one (the exchange's clock stepped), and a refusal for time.
 */
export class ExchangeTime {
  readonly #rest: Asking;
  readonly #clock: SetClock;
  readonly #wall: () => number;
  #believed: Reading | undefined;
  #pace: number | undefined;
  #doubted: string | undefined = 'the time of the exchange has not been read yet';
  #dueAt = 0;
  /** How far the wall clock was ahead of the steady one at the last check, real ms. */
  #apart: number;

  constructor(rest: Asking, clock: SetClock, wall: () => number = machineWall) {
    this.#rest = rest;
    this.#clock = clock;
    this.#wall = wall;
    this.#apart = this.#wallApart();
  }

  /** Reads the time now. Fails when the exchange does not answer, or when its answers contradict each other. */
  async sync(): Promise<Answer<TimeSync>> {
    this.#dueAt = this.#clock.monotonic() + this.#clock.machine(everyMs);
    const readings: Reading[] = [];
    const toleratedMs = this.#clock.machine(toleranceMs);
    let apartMs = 0;
    while (readings.length < maxReadings) {
      const answer = await readOnce(this.#rest, this.#clock);
      if (answer.kind === 'failed') return answer;
      const reading = answer.value;
      const confirmed = this.#doubted === undefined ? this.#confirm(reading) : undefined;
      if (confirmed !== undefined) return confirmed;
      if (this.#doubted === undefined) {
        apartMs = Math.abs(reading.offsetMs);
        this.doubt(this.#contradiction(apartMs));
      }
      readings.push(reading);
      const last = readings.slice(-agreeing);
      apartMs = Math.max(apartMs, ...last.map((one) => Math.abs(one.offsetMs - reading.offsetMs)));
      if (last.length === agreeing && agree(last, toleratedMs)) return this.#adopt(last);
    }
    this.#pace = paceOf(readings);
    this.doubt(this.#contradiction(apartMs));
    return failed(this.#contradiction(apartMs));
  }

  /** How fast the exchange's clock runs, in real time, if contradicting readings lie on a line; undefined otherwise. */
  pace(): number | undefined {
    return this.#pace === undefined ? undefined : roundPace(this.#pace * this.#clock.machine(1));
  }

  /** Call it about once a real second: it detects steps, and syncs when that is due. Undefined when no sync was due. */
  async tend(): Promise<Answer<TimeSync> | undefined> {
    this.#detectJump();
    const isKnown = this.#doubted === undefined && this.#errorNow() <= this.#clock.machine(maxUncertaintyMs);
    return isKnown && this.#clock.monotonic() < this.#dueAt ? undefined : this.sync();
  }

  /** Why nothing may be created now, for people; undefined when the time is known well enough. */
  against(): string | undefined {
    this.#detectJump();
    if (this.#doubted !== undefined) return this.#doubted;
    const errorMs = this.#errorNow() / this.#clock.machine(1);
    return errorMs <= maxUncertaintyMs
      ? undefined
      : `the time of the exchange is known only to within ${Math.round(errorMs)} ms, ${maxUncertaintyMs} ms are allowed`;
  }

  /** Our time may be wrong, for example because a request was refused for it: it will be read again. */
  doubt(why: string): void {
    this.#doubted = why;
  }

  /** The last reading, its uncertainty grown by age, ms of the clock; undefined before the first. */
  known(): TimeSync | undefined {
    return this.#believed && { offsetMs: this.#believed.offsetMs, uncertaintyMs: this.#errorNow() };
  }

  #wallApart(): number {
    return this.#wall() - this.#clock.monotonic() / this.#clock.machine(1);
  }

  #errorNow(): number {
    if (this.#believed === undefined) return Number.POSITIVE_INFINITY;
    return this.#believed.errorMs + (this.#clock.monotonic() - this.#believed.at) * drift;
  }

  #contradiction(apartMs: number): string {
    const pace = this.pace();
    const cause = pace === undefined ? '' : `: ${paceText(pace, this.#clock.machine(1))}`;
    return `readings of the exchange's time contradict each other by ${Math.round(apartMs / this.#clock.machine(1))} ms${cause}`;
  }

  #detectJump(): void {
    const now = this.#wallApart();
    const jump = now - this.#apart;
    this.#apart = now;
    if (Math.abs(jump) > jumpMs)
      this.doubt(
        `the clock of this machine was set, or it slept: it jumped by ${Math.round(jump)} ms, and the time of the exchange is being read again`,
      );
  }

  #adopt(readings: readonly Reading[]): Answer<TimeSync> {
    const best = readings.reduce((a, b) => (b.errorMs < a.errorMs ? b : a));
    const spread = Math.max(...readings.map((one) => Math.abs(one.offsetMs - best.offsetMs) - one.errorMs));
    const errorMs = Math.max(best.errorMs, spread);
    this.#clock.set(this.#clock.exact() + best.offsetMs);
    this.#believed = { offsetMs: best.offsetMs, errorMs, at: this.#clock.monotonic() };
    this.#doubted = undefined;
    this.#pace = undefined;
    return ok({ offsetMs: best.offsetMs, uncertaintyMs: errorMs });
  }

  /** The first reading of a go, held against what is believed: undefined when it contradicts that. */
  #confirm(reading: Reading): Answer<TimeSync> | undefined {
    const errorMs = this.#errorNow();
    if (Math.abs(reading.offsetMs) > errorMs + reading.errorMs + this.#clock.machine(toleranceMs)) return undefined;
    return reading.errorMs <= errorMs ? this.#adopt([reading]) : ok({ offsetMs: 0, uncertaintyMs: errorMs });
  }
}

const agree = (readings: readonly Reading[], toleranceMs: number): boolean =>
  readings.every((a) =>
    readings.every((b) => Math.abs(a.offsetMs - b.offsetMs) <= a.errorMs + b.errorMs + toleranceMs),
  );

async function readOnce(rest: Asking, clock: SetClock): Promise<Answer<Reading>> {
  const { name } = endpoints.time;
  // The wait for weight must not count as a part of the round trip.
  if (!(await rest.admit(endpoints.time, 'reconcile', clock.now() + clock.machine(patienceMs))))
    return failed(`the request budget has no room for "${name}" (lane reconcile)`);
  const sentAt = clock.monotonic();
  const reply = await rest.sign(endpoints.time).send();
  const tripMs = clock.monotonic() - sentAt;
  if (reply.kind !== 'ok') return failure(endpoints.time, reply);
  const serverTime = readTime(reply.value);
  if (serverTime === undefined) return failed(`${name}: the answer holds no serverTime`);
  // Whole ms: what it says may be up to one old.
  return ok({
    offsetMs: serverTime + 0.5 + tripMs / 2 - clock.exact(),
    errorMs: tripMs / 2 + 0.5,
    at: sentAt + tripMs / 2,
  });
}

/**
 * How many times as fast as ours the exchange's clock runs, as far as readings show it: they lie on one line, and what they drift
 * apart is far more than they can be wrong by. A clock that steps, and gateways that disagree, make no line.
 */
function paceOf(readings: readonly Reading[]): number | undefined {
  // The first one also opens a connection, which makes its round trip long.
  const [first, ...others] = readings.slice(1);
  const last = others.at(-1);
  if (first === undefined || last === undefined || last.at <= first.at) return undefined;
  const drift = (last.offsetMs - first.offsetMs) / (last.at - first.at);
  // Within a round trip the exchange's clock goes on at its own pace.
  const wrongBy = Math.max(...[first, ...others].map(({ errorMs }) => errorMs)) * Math.max(1, 1 + drift);
  const isLine = others.every((one) => {
    const expected = first.offsetMs + drift * (one.at - first.at);
    return Math.abs(one.offsetMs - expected) <= wrongBy;
  });
  return isLine && Math.abs(last.offsetMs - first.offsetMs) > 2 * wrongBy ? 1 + drift : undefined;
}

/** A few readings are precise to two digits. */
const roundPace = (pace: number): number => Number(pace.toPrecision(2));

/** What is the matter when an exchange's clock runs at another pace than it was taken to, both in real time, and what to type. */
export function paceText(pace: number, expected: number): string {
  const shown = roundPace(pace);
  const than = expected === 1 ? 'this one' : 'real time';
  const not = expected === 1 ? '' : `, not ${expected} times`;
  return `the exchange's clock runs about ${shown} times as fast as ${than}${not}: a built-in exchange says its speed at its start; give it as exchange.speed in the configuration (--set exchange.speed=${shown}), or as --speed ${shown} beside --url`;
}

/** Sets a clock once: for a program that sends a few requests and ends. */
export const syncTime = (rest: Asking, clock: SetClock): Promise<Answer<TimeSync>> =>
  new ExchangeTime(rest, clock).sync();
