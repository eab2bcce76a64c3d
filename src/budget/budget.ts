/**
 * Every request to the exchange takes its weight here.
 *
 * The exchange counts weight over a minute, by address and by user, and calls of some endpoints over two seconds (specification §8). A
 * request takes from all windows or from none, and counts the weight of other processes at the same address. There are five lanes, the
 * most urgent first. The less urgent may use only a share of either window, so that an order can always be cancelled and an unknown
 * outcome always queried. Windows follow the exchange's time by a clock that never steps back.
 */
import type { Clock } from '../clock/clock.ts';
import type { Lane, LimitNotice, RequestCost, Spend } from '../venue/venue.ts';
import { type Bans, banned, warned } from './bans.ts';
import type { Shared, SpentBefore, Tally } from './shared.ts';
import { type RollingWindow, rollingWindow } from './window.ts';

export interface BudgetOptions {
  readonly clock: Clock;
  /** What other processes at the same address spend, and what the exchange forbids all of them. */
  readonly shared: Shared;
  /**
   * Whose requests these are, for the limits that count by user; processes with one key name the same. Keys that the exchange said belong to
   * one account (`identify`) count together.
   */
  readonly user?: string;
  readonly ipWeightPerMinute?: number;
  readonly uidWeightPerMinute?: number;
  /** Requests that may wait in each lane; one more is refused at once. */
  readonly maxQueue?: number;
}

export interface Meter {
  readonly ip: { readonly used: number; readonly max: number };
  readonly uid: { readonly used: number; readonly max: number };
  /** What other processes, or one before this, took of the address's window. */
  readonly others: number;
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
  /** Takes every 410, 429 and 418. */
  readonly notice: (notice: LimitNotice) => void;
  readonly meter: () => Meter;
  /** Sets the receiver of alarms: the exchange warns although there is room as far as is known. */
  readonly onAlarm: (alarm: (text: string) => void) => void;
  /** The account that the exchange says this key belongs to: its keys share the second window. Where it says none each counts for itself. */
  readonly identify: (account: string) => void;
  /** Until when no request may leave, UTC ms, by what was seen when the last one was counted; undefined when one may. */
  readonly stoppedUntil: () => number | undefined;
  /** Refuses everything that waits. */
  readonly close: () => void;
}

const lanes: readonly Lane[] = ['kill', 'cancel', 'reconcile', 'create', 'market'];
/** How full either window may be for a request of a lane to go; what is left belongs to those before it. */
export const laneShares: Readonly<Record<Lane, number>> = {
  kill: 1,
  cancel: 1,
  reconcile: 0.9,
  create: 0.8,
  market: 0.7,
};
const windowMs = 60_000;
const frequencyMs = 2_000;
/** Requests may arrive closer together than they left: so much real time is added to each window. */
const jitterMs = 500;

/**
 * A warning while no window is fuller than this means that somebody else uses the address or account. Then the less urgent lanes
 * may use only this share of each window.
 */
const halfOfWindow = 0.5;
/** For so long after such a warning, ms of the exchange: ten windows. */
const cautionMs = 600_000;

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
  readonly #shared: Shared;
  readonly #user: string;
  #account: string | undefined;
  readonly #windows: { readonly ip: RollingWindow; readonly uid: RollingWindow };
  readonly #others: RollingWindow;
  readonly #endpoints = new Map<string, RollingWindow>();
  readonly #queues = new Map<Lane, Waiting[]>(lanes.map((lane) => [lane, []]));
  readonly #maxQueue: number;
  #refused = 0;
  /** By the steady clock. */
  #cautiousUntil = Number.NEGATIVE_INFINITY;
  #alarm = (_text: string): void => {};
  #stopTimer = (): void => {};

  constructor({ clock, shared, user = '', ...limits }: BudgetOptions) {
    const { ipWeightPerMinute = 12_000, uidWeightPerMinute = 60_000, maxQueue = 1_000 } = limits;
    this.#clock = clock;
    this.#shared = shared;
    this.#user = user;
    this.#account = shared.accountOf?.(user);
    this.#maxQueue = maxQueue;
    const lengthMs = windowMs + clock.machine(jitterMs);
    this.#windows = {
      ip: rollingWindow(lengthMs, ipWeightPerMinute),
      uid: rollingWindow(lengthMs, uidWeightPerMinute),
    };
    this.#others = rollingWindow(lengthMs, ipWeightPerMinute);
  }

  readonly ports: Budget = {
    spend: Object.assign(
      (lane: Lane, cost: RequestCost, until?: number): Promise<boolean> => this.#spend(lane, cost, until),
      { isRoom: (lane: Lane, cost: RequestCost): boolean => this.#isRoom(lane, cost) },
    ),
    notice: (notice) => this.#heed(notice),
    meter: () => this.#meter(),
    onAlarm: (alarm) => {
      this.#alarm = alarm;
    },
    identify: (account) => this.#identify(account),
    stoppedUntil: () => this.#stoppedUntil(this.#shared.bans),
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

  /** False also when other processes may have spent something since the last read. */
  #isRoom(lane: Lane, cost: RequestCost): boolean {
    if (this.#shared.isNews() || lanes.some((one) => this.#queues.get(one)?.length !== 0)) return false;
    return this.#obstacle(lane, cost, this.#shared.bans) === undefined;
  }

  /** The most of the smaller window that a lane may ever use. */
  #most(lane: Lane): number {
    return laneShares[lane] * Math.min(this.#windows.ip.max, this.#windows.uid.max);
  }

  /** Lets everything go that may, the most urgent first, and sets the alarm for the rest. */
  #serve(): void {
    this.#stopTimer();
    let wakeAt = this.#expire();
    if (lanes.every((lane) => this.#queues.get(lane)?.length === 0)) return;
    wakeAt = Math.min(
      wakeAt,
      this.#shared.alone((tally) => this.#serveAlone(tally)),
    );
    if (wakeAt !== Number.POSITIVE_INFINITY) this.#stopTimer = this.#clock.at(wakeAt, () => this.#serve());
  }

  /** Returns when something that waits may go, as far as is known. */
  #serveAlone(tally: Tally): number {
    this.#count(tally.news);
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const lane of lanes) {
      const queue = this.#queues.get(lane) ?? [];
      let obstacle: Obstacle | undefined;
      for (let head = queue[0]; head !== undefined && obstacle === undefined; head = queue[0]) {
        obstacle = this.#obstacle(lane, head.cost, tally.bans);
        if (obstacle !== undefined) break;
        queue.shift();
        this.#take(head.cost, tally);
        head.resolve(true);
      }
      if (obstacle === undefined) continue;
      wakeAt = Math.min(wakeAt, obstacle.until);
      if (obstacle.shared) break;
    }
    return wakeAt;
  }

  /** What another key spent before this is known counts for itself: that errs for a minute at most, at the first start with a key. */
  #identify(account: string): void {
    if (this.#account !== account) this.#shared.belongs?.(this.#user, account);
    this.#account = account;
  }

  #isOurs(user: string): boolean {
    return user === this.#user || (this.#account !== undefined && this.#shared.accountOf?.(user) === this.#account);
  }

  /** Counts what others spent. */
  #count(news: readonly SpentBefore[]): void {
    const steady = this.#clock.monotonic();
    for (const { agoMs, user, weight, endpoint } of news) {
      const at = steady - this.#clock.machine(agoMs);
      this.#windows.ip.add(at, weight);
      this.#others.add(at, weight);
      if (!this.#isOurs(user)) continue;
      this.#windows.uid.add(at, weight);
      if (endpoint !== undefined) this.#callsOf(endpoint).add(at, 1);
    }
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

  #obstacle(
    lane: Lane,
    { weight, frequency }: RequestCost,
    { slowUntil, stopUntil, banUntil }: Bans,
  ): Obstacle | undefined {
    const now = this.#clock.now();
    const forbidden = Math.max(stopUntil, banUntil, lane === 'kill' ? 0 : slowUntil);
    if (now < forbidden) return { shared: true, until: forbidden };
    const steady = this.#clock.monotonic();
    for (const window of [this.#windows.ip, this.#windows.uid]) {
      if (window.used(steady) + weight <= this.#share(lane, steady) * window.max) continue;
      return { shared: true, until: now + ((window.nextRelease(steady) ?? this.#cautiousUntil) - steady) };
    }
    if (frequency === undefined) return undefined;
    const calls = this.#callsOf(frequency.endpoint);
    if (calls.used(steady) < frequency.max) return undefined;
    return { shared: false, until: now + ((calls.nextRelease(steady) ?? steady) - steady) };
  }

  /** How much of either window a lane may fill at the moment: who spends unseen is left half, but not by cancels. */
  #share(lane: Lane, steady: number): number {
    const isCautious = steady < this.#cautiousUntil && lane !== 'kill' && lane !== 'cancel';
    return laneShares[lane] * (isCautious ? halfOfWindow : 1);
  }

  /** Somebody spends what is not known here, if the exchange warns while there is room. */
  #suspect(): void {
    const steady = this.#clock.monotonic();
    const { ip, uid } = this.#windows;
    if ([ip, uid].some((window) => window.used(steady) > halfOfWindow * window.max)) return;
    this.#cautiousUntil = steady + cautionMs;
    this.#alarm(
      `the exchange returned 429, but Sluice has used only ${ip.used(steady)} of ${ip.max} (address) and ${uid.used(steady)} of ${uid.max} (account). Another program uses this address or account. For ten minutes Sluice uses half of each limit. Give the daemon its own address`,
    );
  }

  #take({ weight, frequency }: RequestCost, tally: Tally): void {
    const steady = this.#clock.monotonic();
    this.#windows.ip.add(steady, weight);
    this.#windows.uid.add(steady, weight);
    if (frequency !== undefined) this.#callsOf(frequency.endpoint).add(steady, 1);
    tally.spend({ user: this.#user, weight, endpoint: frequency?.endpoint });
  }

  #callsOf(endpoint: string): RollingWindow {
    const known = this.#endpoints.get(endpoint);
    if (known !== undefined) return known;
    const calls = rollingWindow(frequencyMs + this.#clock.machine(jitterMs), Number.POSITIVE_INFINITY);
    this.#endpoints.set(endpoint, calls);
    return calls;
  }

  #heed({ status, retryAfterMs }: LimitNotice): void {
    const now = this.#clock.now();
    const { bans, news } = this.#shared.read();
    this.#count(news);
    if (status === 429) this.#suspect();
    const heeded = status === 418 ? banned(bans, now, retryAfterMs ?? 0) : warned(bans, now, status, retryAfterMs);
    this.#shared.forbid(heeded);
    this.#serve();
  }

  #stoppedUntil({ stopUntil, banUntil }: Bans): number | undefined {
    const until = Math.max(stopUntil, banUntil);
    return until > this.#clock.now() ? until : undefined;
  }

  #meter(): Meter {
    const now = this.#clock.now();
    const steady = this.#clock.monotonic();
    const { ip, uid } = this.#windows;
    const { bans, news } = this.#shared.read();
    this.#count(news);
    const { slowUntil } = bans;
    return {
      ip: { used: ip.used(steady), max: ip.max },
      uid: { used: uid.used(steady), max: uid.max },
      others: this.#others.used(steady),
      waiting: lanes.reduce((sum, lane) => sum + (this.#queues.get(lane)?.length ?? 0), 0),
      stoppedUntil: this.#stoppedUntil(bans),
      slowedUntil: slowUntil > now ? slowUntil : undefined,
      refused: this.#refused,
    };
  }

  #close(): void {
    this.#stopTimer();
    for (const queue of this.#queues.values()) {
      for (const { resolve } of queue.splice(0)) resolve(false);
    }
    this.#shared.close();
  }
}
