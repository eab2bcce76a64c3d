/**
 * Closed klines from a socket that never says "closed": each exactly once, in order, holes filled over REST.
 *
 *     {"channel":"market_btcusdt_kline_1min","ts":1790134142000,"tick":{"id":1790134140,"open":86650.6,"high":86651,
 *      "low":86649.2,"close":86650,"vol":3.2,"amount":277280.1,"ds":"2026-09-23 11:29:00"}}
 *
 * Every frame is the whole kline so far. It is closed when a later id comes, or when its interval and a grace have passed by the
 * clock. What we saw of it counts as its final state only when we listened without a break: the first frame after a (re)subscription
 * may be stale, and after one that is old more may have been missed. In doubt REST says what it became.
 */
import type { Clock } from '../../clock/clock.ts';
import { closeTime, type Interval } from '../../domain/interval.ts';
import type { Answer } from '../venue.ts';
import type { Count } from './counters.ts';
import { closeGraceMs } from './kline-history.ts';
import { type RawKline, readKline } from './read-market.ts';
import type { Hole, Listener } from './socket.ts';

export interface KlineStreamOptions {
  readonly clock: Clock;
  readonly interval: Interval;
  readonly count: Count;
  /** The last `count` closed klines over REST. */
  readonly fetch: (count: number) => Promise<Answer<readonly RawKline[]>>;
  readonly closed: (kline: RawKline) => void;
  readonly gap: (hole: Hole, healed: boolean) => void;
  /** Asks for the channel's subscription anew. */
  readonly again: () => void;
}

interface Seen {
  readonly kline: RawKline;
  /** True when what we saw of it is known to be all there was. */
  readonly sure: boolean;
  /** By the monotonic clock. */
  readonly at: number;
}

/** Klines to fetch, by open time; without `before`, whatever there is. */
interface Wanted {
  readonly from: number;
  readonly before: number | undefined;
  /** What to report when it is done; undefined where nothing was missed if REST has the kline. */
  readonly hole: Hole | undefined;
}

/** Real ms after which the last frame of a kline is too old to be trusted as its final state. */
const freshMs = 15_000;
/** REST may lag behind the socket: so many attempts, at growing distance (real ms), then the hole stays and is said. */
const maxAttempts = 5;
const attemptMs = 1_000;
/** Of longer holes only the newest part is filled. */
const maxHealed = 3_000;

export function klineStream(options: KlineStreamOptions): Listener & { stop(): void } {
  const { clock, interval, count } = options;
  const next = (openTime: number): number => closeTime(interval, openTime);
  let current: Seen | undefined;
  /** Up to this open time every kline was delivered or given up. */
  let decided: number | undefined;
  /** The last frame came without a break before it. */
  let continuous = false;
  let broken: Hole | undefined;
  /** While REST is being asked, the latest frame of each kline waits here. */
  let waiting: Map<number, Seen> | undefined;
  let probeAt = 0;
  let stopped = false;
  let stopTimer = (): void => {};

  function accept(seen: Seen): void {
    if (waiting === undefined) take(seen);
    else waiting.set(seen.kline.openTime, seen);
  }

  function take(seen: Seen): void {
    const { openTime } = seen.kline;
    if (openTime <= (decided ?? 0) || openTime < (current?.kline.openTime ?? 0)) {
      count('kline after its close', seen.kline);
      return;
    }
    const finished = current;
    current = seen;
    if (finished !== undefined && finished.kline.openTime < openTime) closeBefore(finished, openTime);
    else if (finished === undefined && decided !== undefined && next(decided) < openTime) {
      heal({ from: next(decided), before: openTime, hole: takeHole(next(decided)) });
    } else if (broken !== undefined) {
      // The same kline goes on, and its frames are whole: nothing was missed.
      options.gap(takeHole(openTime), true);
    }
    arm();
  }

  function closeBefore({ kline, sure }: Seen, openTime: number): void {
    if (sure) deliver(kline);
    const from = sure ? next(kline.openTime) : kline.openTime;
    const missed = broken !== undefined || next(kline.openTime) < openTime;
    if (from < openTime) heal({ from, before: openTime, hole: missed ? takeHole(from) : undefined });
  }

  function deliver(kline: RawKline): void {
    if (decided !== undefined && kline.openTime <= decided) return;
    decided = kline.openTime;
    options.closed(kline);
  }

  function takeHole(from: number): Hole {
    const hole = broken ?? { from, to: clock.now(), cause: 'klines were missing in the stream' };
    broken = undefined;
    return hole;
  }

  /** Wakes when the current kline is over by the clock; without one, when the one after the last would be. */
  function arm(): void {
    stopTimer();
    if (waiting !== undefined || stopped) return;
    if (current !== undefined) stopTimer = clock.at(next(current.kline.openTime) + closeGraceMs(clock), overByClock);
    else if (decided !== undefined) {
      stopTimer = clock.at(Math.max(next(next(decided)) + closeGraceMs(clock), probeAt), probe);
    }
  }

  function overByClock(): void {
    if (current === undefined) return;
    const { kline, sure, at } = current;
    current = undefined;
    if (!sure || clock.monotonic() - at > clock.machine(freshMs)) {
      heal({ from: kline.openTime, before: next(kline.openTime), hole: undefined });
    } else {
      deliver(kline);
      arm();
    }
  }

  /** Nothing came for a whole interval: a quiet market, or a subscription that died alone. REST knows. */
  function probe(): void {
    if (decided === undefined) return;
    const from = next(decided);
    probeAt = clock.now() + next(from) - from;
    heal({ from, before: undefined, hole: undefined });
  }

  function heal(wanted: Wanted): void {
    stopTimer();
    waiting = new Map(current === undefined ? [] : [[current.kline.openTime, current]]);
    current = undefined;
    void clock.track(fill(wanted)).then(() => {
      const frames = [...(waiting?.values() ?? [])].sort((a, b) => a.kline.openTime - b.kline.openTime);
      waiting = undefined;
      if (stopped) return;
      for (const seen of frames) accept(seen);
      arm();
    });
  }

  async function fill({ from, before, hole }: Wanted): Promise<void> {
    const last = before === undefined ? undefined : lastBefore(before, from);
    const rows = last === undefined ? await closedFrom(from) : await closedThrough(last, from);
    if (stopped) return;
    const fresh = rows.filter(({ openTime }) => before === undefined || openTime < before);
    for (const kline of fresh) deliver(kline);
    if (last === undefined) {
      if (fresh.length === 0) return;
      options.gap({ from, to: clock.now(), cause: 'the subscription went silent' }, true);
      options.again();
      return;
    }
    decided = Math.max(decided ?? last, last);
    const healed = isWhole(fresh, from, last);
    if (hole !== undefined) options.gap(hole, healed);
    else if (!healed) options.gap({ from, to: clock.now(), cause: 'a closed kline could not be fetched' }, false);
  }

  /** Closed klines from `from` on, asked for until the one that opened at `last` is among them. */
  async function closedThrough(last: number, from: number): Promise<readonly RawKline[]> {
    for (let attempt = 1; ; attempt++) {
      const rows = await closedFrom(from);
      if (stopped || attempt === maxAttempts || rows.some(({ openTime }) => openTime === last)) return rows;
      await clock.sleep(clock.machine(attemptMs * attempt));
    }
  }

  async function closedFrom(from: number): Promise<readonly RawKline[]> {
    let wanted = 2;
    for (let open = from; open < clock.now() && wanted < maxHealed; open = next(open)) wanted++;
    const answer = await options.fetch(wanted);
    if (answer.kind === 'ok') return answer.value.filter(({ openTime }) => openTime >= from);
    count('klines could not be fetched', answer.cause);
    return [];
  }

  function lastBefore(before: number, from: number): number {
    let last = from;
    while (next(last) < before) last = next(last);
    return last;
  }

  function isWhole(rows: readonly RawKline[], from: number, last: number): boolean {
    let expected = from;
    for (const { openTime } of rows) {
      if (openTime !== expected) return false;
      expected = next(openTime);
    }
    return expected > last;
  }

  return {
    data(tick) {
      const kline = readKline(tick, tick['id']);
      if (kline === undefined) count('unreadable kline', tick);
      else accept({ kline, sure: continuous, at: clock.monotonic() });
      continuous = kline !== undefined;
    },
    hole(hole) {
      continuous = false;
      broken = { ...hole, from: broken?.from ?? hole.from };
      if (current !== undefined) current = { ...current, sure: false };
      for (const [openTime, seen] of waiting ?? []) waiting?.set(openTime, { ...seen, sure: false });
    },
    stop() {
      stopped = true;
      stopTimer();
    },
  };
}
