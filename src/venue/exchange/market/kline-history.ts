/** Closed klines over REST: what indicators warm up with, and what heals a hole in the stream. */
import type { Clock } from '../../../clock/clock.ts';
import { closeTime, type ExchangeInterval } from '../../../domain/interval.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { endpoints } from '../rest/endpoints.ts';
import type { Rest } from '../rest/rest.ts';
import { canOpenAt, closedOnly, type RawKline, readKlines } from './read-market.ts';

/** The most klines that one call gives (specification §8). */
const pageLimit = 300;
/** 300,000 klines at most, so that a mistaken count cannot use up the budget. */
const maxPages = 1_000;

/**
 * How long after its end a kline may still change, ms of the clock: two seconds of the exchange's time for its last prints, and
 * 200 ms of real time for their way to us.
 */
export const closeGraceMs = (clock: Clock): number => 2_000 + clock.machine(200);

/** An empty list is suspicious: it is also what a wrong interval or symbol gives, without an error. */
export const noKlines = (symbol: string, interval: ExchangeInterval): string =>
  `the exchange has none for ${symbol} ${interval}; is the interval spelled correctly?`;

interface Newest {
  readonly answer: Answer<readonly RawKline[]>;
  readonly asked: () => number;
}

/** When this call was, by what the clock knows later: the exchange's time may be corrected meanwhile. */
export const moment = (clock: Clock): (() => number) => {
  const from = clock.monotonic();
  return () => clock.now() - (clock.monotonic() - from);
};

export type KlineHistory = (
  symbol: string,
  interval: ExchangeInterval,
  count: number,
) => Promise<Answer<readonly RawKline[]>>;

/** Queries a page of klines, the newest or one up to a time, UTC ms. */
export const klinePages =
  (rest: Rest, clock: Clock, count: Count) =>
  (
    symbol: string,
    interval: ExchangeInterval,
    endTime?: number,
    limit = pageLimit,
  ): Promise<Answer<readonly RawKline[]>> =>
    rest.ask(
      { endpoint: endpoints.klines, lane: 'market', query: { symbol, interval, limit, endTime } },
      (value) => readKlines(value, canOpenAt(interval, clock), count) ?? 'the answer is not a list',
    );

/**
 * The last `count` closed klines, oldest first; fewer only when the exchange has no more. Where the newest one has just ended and
 * nothing proves that it is final, the call waits out the grace, so that a stream begun before it leaves no hole between.
 */
export function klineHistory(rest: Rest, clock: Clock, count: Count): KlineHistory {
  const page = klinePages(rest, clock, count);

  /** The newest page with nothing undecided at its end, and when it was asked for: it shows the market of that moment. */
  async function newest(symbol: string, interval: ExchangeInterval): Promise<Newest> {
    const asked = moment(clock);
    const answer = await page(symbol, interval);
    const last = answer.kind === 'ok' ? answer.value.at(-1) : undefined;
    if (last === undefined) return { answer, asked };
    const endsAt = closeTime(interval, last.openTime);
    const finalAt = endsAt + closeGraceMs(clock);
    if (clock.now() < endsAt || asked() >= finalAt) return { answer, asked };
    await clock.sleep(Math.max(0, finalAt - clock.now()));
    const again = moment(clock);
    return { answer: await page(symbol, interval), asked: again };
  }

  return async (symbol, interval, limit) => {
    const { answer, asked } = await newest(symbol, interval);
    if (answer.kind === 'failed') return answer;
    if (answer.value.length === 0) {
      return { ...failed(`klines: ${noKlines(symbol, interval)}`), isEmpty: true };
    }
    let rows = answer.value;
    const closed = () => closedOnly(rows, interval, asked(), closeGraceMs(clock));
    for (let pages = 1; closed().length < limit && pages < maxPages; pages++) {
      const oldest = rows[0]?.openTime ?? 0;
      const older = await page(symbol, interval, oldest - 1);
      if (older.kind === 'failed') return older;
      const fresh = older.value.filter(({ openTime }) => openTime < oldest);
      if (fresh.length === 0) break;
      rows = [...fresh, ...rows];
    }
    return ok(limit === 0 ? [] : closed().slice(-limit));
  };
}
