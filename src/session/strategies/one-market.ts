/** A strategy of one market in a session: warm-up klines, then the feed. */
import { defer, filter, finalize, mergeMap, type Observable } from 'rxjs';
import type { Kline } from '../../domain/market.ts';
import type { Decision } from '../../domain/order.ts';
import { decisionsOf, type Inputs } from '../../strategy/host.ts';
import { warmupOf } from '../../strategy/warmup.ts';
import { held } from '../../trading/hot-streams.ts';
import { withHolding } from '../../trading/seen-holding.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { type Course, type Runner, remembering, threw, timingDecide, warmupKlines } from './running-strategy.ts';

/** Its decisions, beginning with history. */
export const oneMarket = (runner: Runner, one: NamedHosted, course: Course): Observable<Decision> =>
  defer(() => {
    const { id: strategy, symbol, interval } = one;
    const klines = held(runner.exchange.feed.klines(symbol, interval));
    const needed = warmupOf(one.strategy, one.params, interval);
    return defer(() => warmupKlines(runner, { strategy, symbol, interval, needed })).pipe(
      mergeMap((history) => decisionsOf(one, inputsOf(runner, one, history, klines.stream, course))),
      finalize(() => klines.end()),
    );
  });

function inputsOf(
  runner: Runner,
  one: NamedHosted,
  history: readonly Kline[],
  klines: Observable<Kline>,
  course: Course,
): Inputs {
  const { exchange, assembled, screen, clock } = runner;
  const { feed } = exchange;
  // The chart shows them whether or not the strategy reads them. A second strategy on the symbol repeats them without effect.
  klines.subscribe((kline) => screen.addKline(kline));
  const last = history.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY;
  const timed = <T>(stream: Observable<T>): Observable<T> => stream.pipe(timingDecide(runner, one.id, course));
  return {
    ...withHolding(assembled.portfolio, one, {
      history,
      klines: timed(klines.pipe(filter((kline) => kline.openTime > last))),
    }),
    trades: timed(feed.trades(one.symbol)),
    depth: timed(feed.depth(one.symbol)),
    ticker: timed(feed.ticker(one.symbol)),
    gaps: timed(feed.gaps.pipe(filter((gap) => gap.symbol === one.symbol))),
    fills: timed(assembled.booked.pipe(filter((fill) => fill.strategy === one.id))),
    before: assembled.planner.standing(one.id, one.symbol)?.signal,
    watcher: runner.indicators?.watch(one),
    ...remembering(runner, one.id),
    now: () => clock.now(),
    failed: threw(runner, one, course),
  };
}
