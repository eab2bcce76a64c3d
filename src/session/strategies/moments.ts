/**
 * Klines of several markets as they arrive, joined by the moments at which they close. Feeds answer one after another, so a moment waits for
 * the markets of which a kline is due.
 */
import type { Clock } from '../../clock/clock.ts';
import { closeTime, type Interval, lastOpenBefore } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import type { JoinedMoment } from '../../strategy/markets/several-markets-host.ts';

/**
 * How long a moment waits for klines after its first one, real ms. The feed knows a kline to be closed when 2.2 s have passed. In doubt it asks
 * REST, which may lag, up to five times within 10 s (venue/exchange/market/kline-stream.ts). Later than that it reports a hole.
 */
export const missingAfterMs = 12_000;
/** Klines in a row that a market may miss before the others stop waiting for it. */
export const maxMissed = 3;
/** Moments that may wait at once; beyond that the oldest pass without a decision. */
const maxWaiting = 1_000;
/** Open times that are remembered of each market: as many klines as a feed fills in at once. */
const maxRemembered = 3_000;

export interface MomentsOptions {
  /** The interval of each market. */
  readonly intervals: readonly Interval[];
  readonly clock: Clock;
  readonly closed: (moment: JoinedMoment) => void;
  /** The others no longer wait for a market, or do again. */
  readonly silent?: (market: number, isSilent: boolean) => void;
}

interface Waiting {
  readonly time: number;
  readonly klines: (Kline | undefined)[];
  /** By the monotonic clock. */
  readonly until: number;
  isNew: boolean;
}

interface Market {
  readonly interval: Interval;
  /** Open time of its newest kline. */
  last: number | undefined;
  /** Klines missed in a row. */
  missed: number;
  /** Open times of its newest klines, oldest first. */
  readonly seen: number[];
}

/** Begins on hold: nothing passes before `release`. */
export class Moments {
  readonly #options: MomentsOptions;
  readonly #markets: readonly Market[];
  /** In the order of time. */
  readonly #waiting: Waiting[] = [];
  readonly #byTime = new Map<number, Waiting>();
  #passed = Number.NEGATIVE_INFINITY;
  #isHeld = true;
  #stopTimer = (): void => {};

  constructor(options: MomentsOptions) {
    this.#options = options;
    this.#markets = options.intervals.map((interval) => ({ interval, last: undefined, missed: 0, seen: [] }));
  }

  /**
   * The moments of history, by market, up to the first at which a market may still get its kline over its feed; later ones wait. Call it once,
   * first of all.
   */
  begin(histories: readonly (readonly Kline[])[]): readonly JoinedMoment[] {
    for (const [index, history] of histories.entries()) {
      const { interval } = this.#markets[index] as Market;
      for (const kline of history) this.#add(index, kline, closeTime(interval, kline.openTime), false);
    }
    this.#waiting.sort((a, b) => a.time - b.time);
    const due = this.#markets.flatMap(({ interval, last }) =>
      last === undefined ? [] : [closeTime(interval, closeTime(interval, last))],
    );
    const first = Math.min(...due);
    const count = this.#waiting.findIndex(({ time }) => time >= first);
    const passed = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    this.#passed = passed.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
    for (const { time } of passed) this.#byTime.delete(time);
    return passed.map(({ time, klines }) => ({ time, klines, isNew: false, isLate: false }));
  }

  /** Takes a kline of a feed; repeats have no effect. */
  arrive(index: number, kline: Kline): void {
    const market = this.#markets[index] as Market;
    if (kline.openTime <= (market.last ?? Number.NEGATIVE_INFINITY)) return;
    const time = closeTime(market.interval, kline.openTime);
    if (time <= this.#passed) {
      this.#remember(market, kline.openTime);
      const klines = this.#markets.map((_, other) => (other === index ? kline : undefined));
      this.#arrived(index);
      this.#options.closed({ time: this.#passed, klines, isNew: true, isLate: true });
      return;
    }
    const isBehind = (this.#waiting.at(-1)?.time ?? Number.NEGATIVE_INFINITY) > time;
    this.#add(index, kline, time, true);
    if (isBehind) this.#waiting.sort((a, b) => a.time - b.time);
    this.#pass();
  }

  /** Lets no moment pass until it is released, such as while klines are read again. */
  hold(): void {
    this.#isHeld = true;
    this.#stopTimer();
  }

  release(): void {
    this.#isHeld = false;
    this.#pass();
  }

  /** Whether a kline has arrived; older ones than are remembered count as having done so. */
  hasSeen(index: number, openTime: number): boolean {
    const { seen } = this.#markets[index] as Market;
    return openTime < (seen[0] ?? Number.POSITIVE_INFINITY) || seen.includes(openTime);
  }

  stop(): void {
    this.hold();
    this.#waiting.length = 0;
    this.#byTime.clear();
  }

  #add(index: number, kline: Kline, time: number, isNew: boolean): void {
    this.#remember(this.#markets[index] as Market, kline.openTime);
    let waiting = this.#byTime.get(time);
    if (waiting === undefined) {
      const { clock } = this.#options;
      const until = clock.monotonic() + clock.machine(missingAfterMs);
      waiting = { time, klines: this.#markets.map(() => undefined), until, isNew };
      this.#byTime.set(time, waiting);
      this.#waiting.push(waiting);
    }
    waiting.klines[index] = kline;
    waiting.isNew ||= isNew;
  }

  #remember(market: Market, openTime: number): void {
    market.last = openTime;
    if (market.seen.push(openTime) > maxRemembered * 2) market.seen.splice(0, maxRemembered);
  }

  /** Passes the moments that are complete or have waited long enough, in the order of time. */
  #pass(): void {
    this.#stopTimer();
    while (this.#waiting.length > maxWaiting) this.#next(false);
    for (let first = this.#waiting[0]; first !== undefined && !this.#isHeld; first = this.#waiting[0]) {
      const missing = this.#missingAt(first);
      const { clock } = this.#options;
      const left = first.until - clock.monotonic();
      if (missing.length > 0 && left > 0) {
        this.#stopTimer = clock.at(clock.now() + left, () => this.#pass());
        return;
      }
      for (const index of missing) this.#missed(index);
      for (const [index, kline] of first.klines.entries()) if (kline !== undefined) this.#arrived(index);
      this.#next(first.isNew);
    }
  }

  #next(isNew: boolean): void {
    const { time, klines } = this.#waiting.shift() as Waiting;
    this.#byTime.delete(time);
    this.#passed = time;
    this.#options.closed({ time, klines, isNew, isLate: false });
  }

  /** The markets that are waited for. */
  #missingAt({ time, klines }: Waiting): readonly number[] {
    const missing: number[] = [];
    for (const [index, market] of this.#markets.entries())
      if (klines[index] === undefined && market.missed < maxMissed && isDue(market, time)) missing.push(index);
    return missing;
  }

  #missed(index: number): void {
    const market = this.#markets[index] as Market;
    market.missed++;
    if (market.missed === maxMissed) this.#options.silent?.(index, true);
  }

  #arrived(index: number): void {
    const market = this.#markets[index] as Market;
    if (market.missed >= maxMissed) this.#options.silent?.(index, false);
    market.missed = 0;
  }
}

/** Whether a kline of a market should close at a time; one that has had later ones will not get it any more. */
function isDue({ interval, last }: Market, time: number): boolean {
  // A market that never had a kline begins with its first.
  if (last === undefined) return false;
  const next = closeTime(interval, last);
  return next < time && closeTime(interval, lastOpenBefore(interval, time, next)) === time;
}
