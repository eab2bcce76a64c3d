/**
 * The one door through which every request to the exchange takes its weight.
 *
 * The exchange counts weight over a minute, by address and by user, and calls of some endpoints over two seconds (specification §8).
 * A request takes from all of them or from none. Five lanes, the most urgent first; creates and market data may use only a share of
 * either window, so that an unknown outcome can always be asked about and an order always cancelled. Windows follow the exchange's
 * time by a clock that never steps back.
 */
import type { Clock } from '../clock/clock.ts';
import type { Lane, LimitNotice, RequestCost, Spend } from '../venue/venue.ts';
import { type BanStore, type Bans, longestBanMs } from './bans.ts';
import { type RollingWindow, rollingWindow } from './window.ts';

export interface BudgetOptions {
  readonly clock: Clock;
  readonly bans: BanStore;
  readonly ipWeightPerMinute?: number;
  readonly uidWeightPerMinute?: number;
  /** The share of either window that creates and market data may use. */
  readonly createShare?: number;
  /** Requests that may wait in each lane; one more is refused at once. */
  readonly maxQueue?: number;
  /** Weight taken as spent at the start, in both windows: a process that crashes and restarts does not know what it spent before. */
  readonly assumeSpent?: number;
}

export interface Meter {
  readonly ip: { readonly used: number; readonly max: number };
  readonly uid: { readonly used: number; readonly max: number };
  readonly waiting: number;
  /** UTC ms until which nothing is sent; undefined when nothing forbids it. */
  readonly stoppedUntil: number | undefined;
  /** UTC ms until which only the kill lane sends; undefined when nothing forbids it. */
  readonly slowedUntil: number | undefined;
  /** Requests refused since the start: the queue was full, or their time passed. */
  readonly refused: number;
}

export interface Budget {
  readonly spend: Spend;
  /** To be told of every 410, 429 and 418. */
  readonly notice: (notice: LimitNotice) => void;
  readonly meter: () => Meter;
  /** Refuses everything that waits. */
  readonly close: () => void;
}

const lanes: readonly Lane[] = ['kill', 'cancel', 'reconcile', 'create', 'market'];
const windowMs = 60_000;
const frequencyMs = 2_000;
/** Requests may arrive closer together than they left: so much real time is added to each window. */
const jitterMs = 500;
const warningMs = 60_000;
const firstBanMs = 120_000;
/** After this long without a 418 the next one counts as the first again. */
const forgiveMs = 24 * 3_600_000;

interface Waiting {
  readonly cost: RequestCost;
  readonly until: number | undefined;
  readonly resolve: (taken: boolean) => void;
}

/** Why the head of a lane cannot go: a shared window (then nothing less urgent may go either) or its own endpoint. */
type Obstacle = { readonly shared: boolean; readonly until: number };

export function budget(options: BudgetOptions): Budget {
  return new WeightBudget(options).ports;
}

class WeightBudget {
  readonly #clock: Clock;
  readonly #bans: BanStore;
  readonly #windows: { readonly ip: RollingWindow; readonly uid: RollingWindow };
  readonly #endpoints = new Map<string, RollingWindow>();
  readonly #queues = new Map<Lane, Waiting[]>(lanes.map((lane) => [lane, []]));
  readonly #createShare: number;
  readonly #maxQueue: number;
  #refused = 0;
  #stopTimer = (): void => {};

  constructor({ clock, bans, ...limits }: BudgetOptions) {
    const { ipWeightPerMinute = 12_000, uidWeightPerMinute = 60_000, createShare = 0.8 } = limits;
    const { maxQueue = 1_000, assumeSpent = 0 } = limits;
    this.#clock = clock;
    this.#bans = bans;
    this.#createShare = createShare;
    this.#maxQueue = maxQueue;
    const lengthMs = windowMs + clock.machine(jitterMs);
    this.#windows = {
      ip: rollingWindow(lengthMs, ipWeightPerMinute),
      uid: rollingWindow(lengthMs, uidWeightPerMinute),
    };
    if (assumeSpent <= 0) return;
    this.#windows.ip.add(clock.monotonic(), Math.min(assumeSpent, ipWeightPerMinute));
    this.#windows.uid.add(clock.monotonic(), Math.min(assumeSpent, uidWeightPerMinute));
  }

  readonly ports: Budget = {
    spend: (lane, cost, until) => this.#spend(lane, cost, until),
    notice: (notice) => this.#heed(notice),
    meter: () => this.#meter(),
    close: () => this.#close(),
  };

  #spend(lane: Lane, cost: RequestCost, until: number | undefined): Promise<boolean> {
    const queue = this.#queues.get(lane) ?? [];
    const late = until !== undefined && until < this.#clock.now();
    if (late || queue.length >= this.#maxQueue || cost.weight > this.#most(lane)) {
      this.#refused++;
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      queue.push({ cost, until, resolve });
      this.#serve();
    });
  }

  /** The most of the smaller window that a lane may ever use. */
  #most(lane: Lane): number {
    return this.#shareOf(lane) * Math.min(this.#windows.ip.max, this.#windows.uid.max);
  }

  #shareOf(lane: Lane): number {
    return lane === 'create' || lane === 'market' ? this.#createShare : 1;
  }

  /** Lets everything go that may, the most urgent first, and sets the alarm for the rest. */
  #serve(): void {
    this.#stopTimer();
    let wakeAt = this.#expire();
    for (const lane of lanes) {
      const queue = this.#queues.get(lane) ?? [];
      let obstacle: Obstacle | undefined;
      for (let head = queue[0]; head !== undefined && obstacle === undefined; head = queue[0]) {
        obstacle = this.#obstacle(lane, head.cost);
        if (obstacle !== undefined) break;
        queue.shift();
        this.#take(head.cost);
        head.resolve(true);
      }
      if (obstacle === undefined) continue;
      wakeAt = Math.min(wakeAt, obstacle.until);
      if (obstacle.shared) break;
    }
    if (wakeAt !== Number.POSITIVE_INFINITY) this.#stopTimer = this.#clock.at(wakeAt, () => this.#serve());
  }

  /** Refuses what waited past its time; returns when the next one's passes. */
  #expire(): number {
    const now = this.#clock.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const [lane, queue] of this.#queues) {
      if (queue.length === 0) continue;
      const left = queue.filter(({ until, resolve }) => {
        if (until === undefined || until >= now) return true;
        this.#refused++;
        resolve(false);
        return false;
      });
      this.#queues.set(lane, left);
      for (const { until } of left) if (until !== undefined) earliest = Math.min(earliest, until + 1);
    }
    return earliest;
  }

  #obstacle(lane: Lane, { weight, frequency }: RequestCost): Obstacle | undefined {
    const now = this.#clock.now();
    const { slowUntil, stopUntil, banUntil } = this.#bans.read();
    const forbidden = Math.max(stopUntil, banUntil, lane === 'kill' ? 0 : slowUntil);
    if (now < forbidden) return { shared: true, until: forbidden };
    const steady = this.#clock.monotonic();
    for (const window of [this.#windows.ip, this.#windows.uid]) {
      if (window.used(steady) + weight <= this.#shareOf(lane) * window.max) continue;
      return { shared: true, until: now + ((window.nextRelease(steady) ?? steady) - steady) };
    }
    if (frequency === undefined) return undefined;
    const calls = this.#callsOf(frequency);
    if (calls.used(steady) < frequency.max) return undefined;
    return { shared: false, until: now + ((calls.nextRelease(steady) ?? steady) - steady) };
  }

  #take({ weight, frequency }: RequestCost): void {
    const steady = this.#clock.monotonic();
    this.#windows.ip.add(steady, weight);
    this.#windows.uid.add(steady, weight);
    if (frequency !== undefined) this.#callsOf(frequency).add(steady, 1);
  }

  #callsOf({ endpoint, max }: NonNullable<RequestCost['frequency']>): RollingWindow {
    const known = this.#endpoints.get(endpoint);
    if (known !== undefined) return known;
    const calls = rollingWindow(frequencyMs + this.#clock.machine(jitterMs), max);
    this.#endpoints.set(endpoint, calls);
    return calls;
  }

  #heed({ status, retryAfterMs }: LimitNotice): void {
    const now = this.#clock.now();
    const bans = this.#bans.read();
    const heeded = status === 418 ? banned(bans, now, retryAfterMs ?? 0) : warned(bans, now, status, retryAfterMs);
    this.#bans.write(heeded);
    this.#serve();
  }

  #meter(): Meter {
    const now = this.#clock.now();
    const steady = this.#clock.monotonic();
    const { ip, uid } = this.#windows;
    const { slowUntil, stopUntil, banUntil } = this.#bans.read();
    const stoppedUntil = Math.max(stopUntil, banUntil);
    return {
      ip: { used: ip.used(steady), max: ip.max },
      uid: { used: uid.used(steady), max: uid.max },
      waiting: lanes.reduce((sum, lane) => sum + (this.#queues.get(lane)?.length ?? 0), 0),
      stoppedUntil: stoppedUntil > now ? stoppedUntil : undefined,
      slowedUntil: slowUntil > now ? slowUntil : undefined,
      refused: this.#refused,
    };
  }

  #close(): void {
    this.#stopTimer();
    for (const queue of this.#queues.values()) {
      for (const { resolve } of queue.splice(0)) resolve(false);
    }
  }
}

/** 410 slows, 429 stops, each for the length of the window unless the exchange names a time. */
function warned(bans: Bans, now: number, status: 410 | 429, retryAfterMs = warningMs): Bans {
  const until = now + Math.min(retryAfterMs, longestBanMs);
  return status === 410 ? { ...bans, slowUntil: until } : { ...bans, stopUntil: until };
}

/** Each ban that follows another is taken to last twice as long; several answers within one ban are the same ban. */
function banned(bans: Bans, now: number, retryAfterMs: number): Bans {
  const inForce = now < bans.banUntil;
  const follows = bans.banMs > 0 && now - bans.banUntil < forgiveMs;
  const nextMs = Math.min(follows ? bans.banMs * 2 : firstBanMs, longestBanMs);
  const banMs = inForce ? bans.banMs : nextMs;
  const until = inForce ? bans.banUntil : now + banMs;
  return { ...bans, banMs, banUntil: Math.max(until, now + Math.min(retryAfterMs, longestBanMs)) };
}
