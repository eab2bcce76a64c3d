/** Runs a strategy of a session: it begins with history, again after a hole, and rests while it was too slow. */
import { filter, finalize, map, merge, NEVER, Observable, startWith, switchMap, type Unsubscribable } from 'rxjs';
import { pause } from '../../clock/clock.ts';
import type { Decision } from '../../domain/order.ts';
import { redactWords } from '../../domain/redaction.ts';
import { isStreaming } from '../../strategy/contract.ts';
import { hasMarkets } from '../../strategy/markets/several-markets-host.ts';
import { source } from '../../trading/hot-streams.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { oneMarket } from './one-market.ts';
import type { Course, Runner } from './running-strategy.ts';
import { type SeveralMarkets, severalMarkets } from './several-markets.ts';

/** Between two checks whether a strategy that was too slow may go on, real ms. */
const wakeMs = 1_000;

/**
 * A strategy's signals, from the moment that its warm-up klines are there. A hole that could not be healed is like a restart:
 * indicators that have missed klines would be wrong for as long as they remember, so they begin again from history. A strategy
 * that reads streams by itself receives the hole and decides. One that kept the program busy for too long receives nothing until it is
 * resumed, since it would do so again, and then begins again from history, too.
 */
export function strategySignals(runner: Runner, one: NamedHosted): Observable<Decision> {
  const { assembled, exchange, clock, notice } = runner;
  const { inForce } = assembled.risk.switch;
  const course: Course = {
    isOver: false,
    isTooSlow: inForce.some(({ strategy, by }) => strategy === one.id && by === 'decideTime'),
    stopped: source(),
  };
  let charting: readonly Unsubscribable[] | undefined;
  // The charts of its symbols go on without it.
  const chart = (): void => {
    charting ??= marketsOf(one).map(({ symbol, interval }) =>
      exchange.feed.klines(symbol, interval).subscribe((kline) => runner.screen.addKline(kline)),
    );
  };
  const { decisions, holes } = hasMarkets(one) ? severalMarkets(runner, one, course) : onlyMarket(runner, one, course);
  const fresh = decisions.pipe(
    map(redactWords),
    finalize(() => {
      if (course.isOver || course.isTooSlow) chart();
    }),
  );
  const awake = new Observable<void>((out) => {
    const ended = new AbortController();
    const wait = async (): Promise<void> => {
      while (!ended.signal.aborted && assembled.risk.switch.of(one.id)?.kind === 'kill')
        await pause(clock, clock.machine(wakeMs), ended.signal);
      if (ended.signal.aborted) return;
      notice({ level: 'info', text: `strategy ${one.id} was resumed and warms up again from recent klines` });
      course.isTooSlow = false;
      out.next();
      out.complete();
    };
    if (course.isTooSlow) {
      chart();
      wait().catch((error: unknown) => out.error(error));
    } else out.next();
    return () => ended.abort();
  });
  return merge(holes, course.stopped.stream).pipe(
    // What threw is stopped, whatever comes.
    filter(() => !course.isOver),
    startWith(undefined),
    switchMap(() => awake.pipe(switchMap(() => fresh))),
    finalize(() => {
      for (const each of charting ?? []) each.unsubscribe();
    }),
  );
}

function onlyMarket(runner: Runner, one: NamedHosted, course: Course): SeveralMarkets {
  const holes = runner.exchange.feed.gaps.pipe(
    filter(({ symbol, channel, healed }) => symbol === one.symbol && channel === 'klines' && !healed),
  );
  return { decisions: oneMarket(runner, one, course), holes: isStreaming(one.strategy) ? NEVER : holes };
}
