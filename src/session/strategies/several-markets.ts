/** A strategy of several markets in a session: warm-up klines of each, then their feeds, joined. */
import { concatMap, defer, filter, finalize, from, map, mergeMap, Observable, toArray } from 'rxjs';
import { closeTime } from '../../domain/interval.ts';
import type { FeedGap, Kline } from '../../domain/market.ts';
import type { Decision } from '../../domain/order.ts';
import { hasList } from '../../strategy/contract.ts';
import type { HostedMarket } from '../../strategy/host.ts';
import {
  decisionsOfMarkets,
  type HostedMarkets,
  type JoinedMoment,
  type MarketsInputs,
} from '../../strategy/markets/several-markets-host.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';
import { type Held, held, source } from '../../trading/hot-streams.ts';
import { isCutOff } from '../../trading/restore.ts';
import { withHoldings } from '../../trading/seen-holding.ts';
import { queryUntilAnswered } from '../preflight/connect.ts';
import { Moments, maxMissed } from './moments.ts';
import { type Course, type Runner, remembering, threw, timingDecide, warmupKlines } from './running-strategy.ts';

/** Markets whose history is fetched at once: more of them only wait for one another's request weight. */
const atOnce = 4;
/** At least between two reports that a market has no klines, ms of the clock. */
const silenceEveryMs = 86_400_000;

export interface SeveralMarkets {
  /** Its decisions, beginning with history at each subscription. */
  readonly decisions: Observable<Decision>;
  /** Holes in a feed of klines that the exchange has by now: its indicators have to begin again. */
  readonly holes: Observable<unknown>;
}

export function severalMarkets(runner: Runner, one: HostedMarkets, course: Course): SeveralMarkets {
  const { exchange, clock } = runner;
  const { markets } = one;
  const warmed = markets.map(({ role, symbol, interval }) => {
    const needed = warmupOf(one.strategy, one.params, interval, role);
    return { strategy: one.id, symbol, interval, needed, mayBeEmpty: hasList(one.strategy) };
  });
  const silent = silences(runner, one);
  let reading: Moments | undefined;

  const decisions = defer(() => {
    const feeds = markets.map(({ symbol, interval }) => held(exchange.feed.klines(symbol, interval)));
    const closed = source<JoinedMoment>();
    const moments = new Moments({
      intervals: markets.map(({ interval }) => interval),
      clock,
      closed: (moment) => closed.emit(moment),
      silent,
    });
    reading = moments;
    return fewAtOnce(warmed, (market) => warmupKlines(runner, market)).pipe(
      mergeMap((histories) => {
        const history = moments.begin(histories);
        const arriving = feedsInto(runner, moments, feeds, closed.stream);
        return decisionsOfMarkets(one, {
          ...inputsOf(runner, one, course),
          ...withHoldings(runner.assembled.portfolio, one, {
            history,
            moments: arriving.pipe(timingDecide(runner, one.id, course)),
          }),
        });
      }),
      finalize(() => {
        moments.stop();
        for (const feed of feeds) feed.end();
      }),
    );
  });

  /** Whether klines of a hole were missed. Those that the exchange does not have, either, were rightly counted as missing. */
  async function wereMissed(gap: FeedGap): Promise<boolean> {
    const moments = reading;
    if (moments === undefined || course.isOver || course.isTooSlow) return false;
    moments.hold();
    for (const [index, { symbol, interval, needed }] of warmed.entries()) {
      if (symbol !== gap.symbol) continue;
      const klines = await queryUntilAnswered(runner.reaching, `klines of ${symbol}`, () =>
        exchange.feed.history(symbol, interval, liveHistory(needed)),
      );
      const isMissed = ({ openTime }: Kline): boolean =>
        openTime <= gap.to && closeTime(interval, openTime) > gap.from && !moments.hasSeen(index, openTime);
      if (klines.some(isMissed)) return true;
    }
    moments.release();
    return false;
  }

  const symbols = new Set(markets.map(({ symbol }) => symbol));
  const holes = exchange.feed.gaps.pipe(
    filter(({ symbol, channel, healed }) => symbols.has(symbol) && channel === 'klines' && !healed),
    concatMap(wereMissed),
    filter((isMissed) => isMissed),
  );
  return { decisions, holes };
}

/** Fetches of each, in their order. */
export const fewAtOnce = <T, R>(all: readonly T[], fetch: (one: T, index: number) => Promise<R>): Observable<R[]> =>
  from(all.entries()).pipe(
    mergeMap(async ([index, one]) => [index, await fetch(one, index)] as const, atOnce),
    toArray(),
    map((found) => found.sort(([a], [b]) => a - b).map(([, fetched]) => fetched)),
  );

/** The moments that the klines of feeds make. What came before the first subscription is among them. */
const feedsInto = (
  { screen }: Runner,
  moments: Moments,
  feeds: readonly Held<Kline>[],
  closed: Observable<JoinedMoment>,
): Observable<JoinedMoment> =>
  new Observable((out) => {
    const subscriptions = [closed.subscribe(out)];
    for (const [index, { stream }] of feeds.entries())
      subscriptions.push(
        stream.subscribe((kline) => {
          screen.addKline(kline);
          moments.arrive(index, kline);
        }),
      );
    moments.release();
    return () => {
      for (const each of subscriptions) each.unsubscribe();
    };
  });

function inputsOf(
  runner: Runner,
  one: HostedMarkets,
  course: Course,
): Omit<MarketsInputs, 'history' | 'moments' | 'holdings'> {
  const { portfolio, planner } = runner.assembled;
  const { id, markets } = one;
  const before = markets.flatMap(({ use, symbol }) => (use === 'traded' ? (planner.standing(id, symbol) ?? []) : []));
  return {
    equity: () => portfolio.poolEquity(id),
    before,
    isCutOff: () => before.some((leg) => isCutOff(runner.assembled, leg)),
    watcher: runner.indicators?.watch(one),
    ...remembering(runner, id),
    now: () => runner.clock.now(),
    failed: threw(runner, one, course),
  };
}

/** Reports markets that have no klines any more, each at most once a day: some are quiet again and again. */
function silences({ clock, notice }: Runner, { id, markets }: HostedMarkets) {
  const reportedAt = new Map<number, number>();
  const isReported = new Set<number>();
  return (index: number, isSilent: boolean): void => {
    const { symbol, interval } = markets[index] as HostedMarket;
    const last = reportedAt.get(index);
    if (!isSilent) {
      if (isReported.delete(index))
        notice({ level: 'info', text: `strategy ${id}: klines of ${symbol} ${interval} come again` });
    } else if (last === undefined || clock.now() - last >= silenceEveryMs) {
      reportedAt.set(index, clock.now());
      isReported.add(index);
      notice({
        level: 'warn',
        text: `strategy ${id}: the last ${maxMissed} klines of ${symbol} ${interval} are missing; its other markets wait for them no longer`,
      });
    }
  };
}
