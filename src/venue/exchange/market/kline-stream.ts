/**
 * Closed klines from a socket that never says "closed": each exactly once, in order, holes filled over REST.
 *
 *     {"channel":"market_btcusdt_kline_1min","ts":1790134142000,"tick":{"id":1790134140,"open":86650.6,"high":86651,
 *      "low":86649.2,"close":86650,"vol":3.2,"amount":277280.1,"ds":"2026-09-23 11:29:00"}}
 *
 * Every frame is the whole kline so far. It is closed when a later id comes, or when its interval and a grace have passed by the
 * clock. What we saw of it counts as its final state only when we listened without a break, and by the clock only when something came
 * over the socket that was sent a second after its end: the first frame after a (re)subscription may be stale, after one that is old more may have
 * been missed, and a dead or slow socket is indistinguishable from a quiet market. In doubt REST decides, or else the socket's history.
 */
import type { Clock } from '../../../clock/clock.ts';
import { closeTime, type Interval, lastOpenBefore } from '../../../domain/interval.ts';
import type { Answer } from '../../venue.ts';
import type { Count } from '../counters.ts';
import type { Fields } from '../rest/json.ts';
import { closeGraceMs } from './kline-history.ts';
import { type CanOpen, canOpenAt, type RawKline, readKline } from './read-market.ts';
import type { Hole, Listener } from './socket.ts';

export interface KlineStreamOptions {
  readonly clock: Clock;
  readonly interval: Interval;
  readonly count: Count;
  /** The last `count` closed klines over REST. */
  readonly fetch: (count: number) => Promise<Answer<readonly RawKline[]>>;
  /** The same over the socket, for when REST does not have them. */
  readonly past: (count: number) => Promise<Answer<readonly RawKline[]>>;
  readonly closed: (kline: RawKline) => void;
  /** Whether the last frame over the socket was sent at or after a time, UTC ms. */
  readonly receivedSince: (time: number) => boolean;
  readonly gap: (hole: Hole, healed: boolean) => void;
  /** Asks for the channel's subscription anew. */
  readonly again: () => void;
}

interface Seen {
  readonly kline: RawKline;
  /** True when no frame of it can have been missed. */
  readonly sure: boolean;
  /** By the monotonic clock. */
  readonly at: number;
}

/** Klines to fetch, by open time; without `before`, whatever there is. */
interface MissingRange {
  readonly from: number;
  readonly before: number | undefined;
  /** What to report when it is done; undefined where nothing was missed if REST has the kline. */
  readonly hole: Hole | undefined;
}

/** Real ms after which the last frame of a kline is too old to be trusted as its final state. */
const freshMs = 15_000;
/**
 * Exchanges of this kind push a kline once a second at most (market ms): the last word on it can be sent so long after its end, and what
 * another channel sends before that proves nothing.
 */
const lastWordMs = 1_000;
/** REST may lag behind the socket: this many attempts, at growing intervals (real ms), then the hole stays and is reported. */
const maxAttempts = 5;
const attemptMs = 1_000;
/** Only the newest part of a longer hole is filled. */
const maxHealed = 3_000;

export class KlineStream implements Listener {
  readonly #options: KlineStreamOptions;
  readonly #clock: Clock;
  readonly #canOpen: CanOpen;
  #current: Seen | undefined;
  /** Up to this open time every kline was delivered or given up. */
  #decided: number | undefined;
  /** The last frame came without a break before it. */
  #continuous = false;
  #broken: Hole | undefined;
  /** While REST is being asked, the latest frame of each kline waits here. */
  #waiting: Map<number, Seen> | undefined;
  /** A kline that is in doubt only because nothing followed it; undefined after a break. */
  #quiet: RawKline | undefined;
  #probeAt = 0;
  #stopped = false;
  #stopTimer = (): void => {};

  constructor(options: KlineStreamOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#canOpen = canOpenAt(options.interval, options.clock);
  }

  data(tick: Fields): void {
    const kline = readKline(tick, tick['id']);
    if (kline === undefined) this.#options.count('unreadable kline', tick);
    else if (!this.#canOpen(kline.openTime)) this.#options.count('kline at an impossible time', tick);
    else {
      this.#accept({ kline, sure: this.#continuous, at: this.#clock.monotonic() });
      this.#continuous = true;
      return;
    }
    // It may have been the last word on the kline that it should have been of.
    this.lost();
  }

  hole(hole: Hole): void {
    this.#broken = { ...hole, from: this.#broken?.from ?? hole.from };
    this.lost();
  }

  lost(): void {
    this.#continuous = false;
    this.#quiet = undefined;
    if (this.#current !== undefined) this.#current = { ...this.#current, sure: false };
    for (const [openTime, seen] of this.#waiting ?? []) this.#waiting?.set(openTime, { ...seen, sure: false });
  }

  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }

  #next(openTime: number): number {
    return closeTime(this.#options.interval, openTime);
  }

  #accept(seen: Seen): void {
    if (this.#waiting === undefined) this.#take(seen);
    else this.#waiting.set(seen.kline.openTime, seen);
  }

  #take(seen: Seen): void {
    const { openTime } = seen.kline;
    const decided = this.#decided;
    const finished = this.#current;
    if (openTime <= (decided ?? 0) || openTime < (finished?.kline.openTime ?? 0)) {
      this.#options.count('kline after its close', seen.kline);
      return;
    }
    this.#current = seen;
    if (finished !== undefined && finished.kline.openTime < openTime) this.#closeBefore(finished, openTime);
    else if (finished === undefined && decided !== undefined && this.#next(decided) < openTime) {
      const from = this.#next(decided);
      this.#heal({ from, before: openTime, hole: this.#takeHole(from) });
    } else if (this.#broken !== undefined) {
      // The same kline goes on, and its frames are whole: nothing was missed.
      this.#options.gap(this.#takeHole(openTime), true);
    }
    this.#arm();
  }

  #closeBefore({ kline, sure }: Seen, openTime: number): void {
    if (sure) this.#deliver(kline);
    const from = sure ? this.#next(kline.openTime) : kline.openTime;
    const missed = this.#broken !== undefined || this.#next(kline.openTime) < openTime;
    if (from < openTime) this.#heal({ from, before: openTime, hole: missed ? this.#takeHole(from) : undefined });
  }

  #deliver(kline: RawKline): void {
    if (this.#decided !== undefined && kline.openTime <= this.#decided) return;
    this.#decided = kline.openTime;
    this.#options.closed(kline);
  }

  #takeHole(from: number): Hole {
    const hole = this.#broken ?? { from, to: this.#clock.now(), cause: 'klines were missing in the stream' };
    this.#broken = undefined;
    return hole;
  }

  /** Wakes when the current kline is over by the clock; without one, when the one after the last would be. */
  #arm(): void {
    this.#stopTimer();
    if (this.#waiting !== undefined || this.#stopped) return;
    const graceMs = closeGraceMs(this.#clock);
    if (this.#current !== undefined) {
      const endsAt = this.#next(this.#current.kline.openTime);
      this.#stopTimer = this.#clock.at(endsAt + graceMs, () => this.#overByClock());
    } else if (this.#decided !== undefined) {
      const endsAt = this.#next(this.#next(this.#decided));
      this.#stopTimer = this.#clock.at(Math.max(endsAt + graceMs, this.#probeAt), () => this.#probe());
    }
  }

  #overByClock(): void {
    if (this.#current === undefined) return;
    const { kline, sure, at } = this.#current;
    // The clock was set back since the timer was armed: it is not over yet.
    if (this.#clock.now() < this.#next(kline.openTime) + closeGraceMs(this.#clock)) {
      this.#arm();
      return;
    }
    this.#current = undefined;
    const isSure = sure && this.#clock.monotonic() - at <= this.#clock.machine(freshMs);
    const endsAt = this.#next(kline.openTime);
    if (isSure && this.#isOver(endsAt)) {
      this.#deliver(kline);
      this.#arm();
      return;
    }
    if (isSure) this.#quiet = kline;
    this.#heal({ from: kline.openTime, before: endsAt, hole: undefined });
  }

  /** Nothing came for a whole interval: a quiet market, or a subscription that died alone. REST knows. */
  #probe(): void {
    if (this.#decided === undefined) return;
    const from = this.#next(this.#decided);
    this.#probeAt = this.#clock.now() + this.#next(from) - from;
    this.#heal({ from, before: undefined, hole: undefined });
  }

  #heal(missing: MissingRange): void {
    this.#stopTimer();
    this.#waiting = new Map(this.#current === undefined ? [] : [[this.#current.kline.openTime, this.#current]]);
    this.#current = undefined;
    void this.#clock.track(this.#fill(missing)).then(() => {
      const frames = [...(this.#waiting?.values() ?? [])].sort((a, b) => a.kline.openTime - b.kline.openTime);
      this.#waiting = undefined;
      if (this.#stopped) return;
      for (const seen of frames) this.#accept(seen);
      this.#arm();
    });
  }

  async #fill({ from, before, hole }: MissingRange): Promise<void> {
    const last = before === undefined ? undefined : lastOpenBefore(this.#options.interval, before, from);
    const rows = last === undefined ? await this.#closedFrom(from) : await this.#closedThrough(last, from);
    if (this.#stopped) return;
    const fresh = rows.filter(({ openTime }) => before === undefined || openTime < before);
    for (const kline of fresh) this.#deliver(kline);
    const isSaid = this.#isSaidSince();
    const to = this.#clock.now();
    if (last === undefined) {
      if (fresh.length === 0) return;
      this.#options.gap({ from, to, cause: 'the subscription went silent' }, true);
      this.#options.again();
      return;
    }
    this.#decided = Math.max(this.#decided ?? last, last);
    const healed = isSaid || this.#isWhole(fresh, from, last);
    if (hole !== undefined) this.#options.gap(hole, healed);
    else if (!healed) this.#options.gap({ from, to, cause: 'a closed kline could not be fetched' }, false);
  }

  /** Everything that was to be said of the kline that ends then has come. */
  #isOver(endsAt: number): boolean {
    return this.#options.receivedSince(endsAt + lastWordMs);
  }

  /** Delivers a kline that was in doubt only because nothing followed it, once something did. */
  #isSaidSince(): boolean {
    const kline = this.#quiet;
    this.#quiet = undefined;
    if (kline === undefined || kline.openTime <= (this.#decided ?? 0)) return false;
    if (!this.#isOver(this.#next(kline.openTime))) return false;
    this.#deliver(kline);
    return true;
  }

  /** Closed klines from `from` on, asked for until the one that opened at `last` is among them. */
  async #closedThrough(last: number, from: number): Promise<readonly RawKline[]> {
    for (let attempt = 1; ; attempt++) {
      const rows = await this.#closedFrom(from);
      const found = (all: readonly RawKline[]): boolean => all.some(({ openTime }) => openTime === last);
      if (this.#stopped || found(rows)) return rows;
      if (attempt === maxAttempts) {
        const asked = await this.#closedFrom(from, this.#options.past);
        return found(asked) ? asked : rows;
      }
      await this.#clock.sleep(this.#clock.machine(attemptMs * attempt));
    }
  }

  async #closedFrom(from: number, fetch = this.#options.fetch): Promise<readonly RawKline[]> {
    let limit = 2;
    for (let open = from; open < this.#clock.now() && limit < maxHealed; open = this.#next(open)) limit++;
    const answer = await fetch(limit);
    if (answer.kind === 'ok') return answer.value.filter(({ openTime }) => openTime >= from);
    this.#options.count('klines could not be fetched', answer.cause);
    return [];
  }

  #isWhole(rows: readonly RawKline[], from: number, last: number): boolean {
    let expected = from;
    for (const { openTime } of rows) {
      if (openTime !== expected) return false;
      expected = this.#next(openTime);
    }
    return expected > last;
  }
}
