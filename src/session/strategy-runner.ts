/** Runs a strategy of a session: warm-up klines, then the feed, and a fresh start after a hole. */
import {
  defer,
  filter,
  finalize,
  type MonoTypeOperatorFunction,
  merge,
  mergeMap,
  NEVER,
  Observable,
  startWith,
  switchMap,
  type Unsubscribable,
} from 'rxjs';
import { type Clock, pause } from '../clock/clock.ts';
import type { Kline } from '../domain/market.ts';
import type { Decision } from '../domain/order.ts';
import type { Notice } from '../execution/context.ts';
import { isStreaming } from '../strategy/contract.ts';
import { errorText } from '../strategy/fault.ts';
import { decisionsOf, type Inputs } from '../strategy/host.ts';
import { liveHistory, warmupOf } from '../strategy/warmup.ts';
import type { Assembled } from '../trading/assemble.ts';
import { clipped } from '../trading/format.ts';
import { held, type Source, source } from '../trading/hot-streams.ts';
import type { NamedHosted } from '../trading/strategies.ts';
import type { MarketFeed } from '../venue/venue.ts';
import { type ConnectOptions, queryUntilAnswered } from './preflight/connect.ts';
import type { Screen } from './view/view.ts';

/** The name of those that stopped by themselves in the journal. */
export const stoppedName = 'stopped';

/** One that threw, at a time in UTC ms. */
export interface StoppedStrategy {
  readonly strategy: string;
  readonly at: number;
  readonly error: string;
}

export interface Runner {
  readonly clock: Clock;
  readonly exchange: { readonly feed: MarketFeed };
  readonly assembled: Pick<Assembled, 'booked' | 'portfolio' | 'planner'> & {
    readonly risk: Pick<Assembled['risk'], 'thought' | 'switch' | 'limits'>;
  };
  readonly screen: Pick<Screen, 'addKline'>;
  readonly failed: (strategy: string, error: string) => void;
  readonly reaching: ConnectOptions;
  readonly notice: (notice: Notice) => void;
}

/** Klines that the chart begins with, also where a strategy needs fewer. */
const charted = 300;

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
    isTooSlow: inForce.some(({ strategy, by }) => strategy === one.id && by === 'thinking'),
    stopped: source(),
  };
  let charting: Unsubscribable | undefined;
  // Its symbol's chart goes on without it.
  const chart = (): void => {
    charting ??= exchange.feed.klines(one.symbol, one.interval).subscribe((kline) => runner.screen.addKline(kline));
  };
  const fresh = defer(() => {
    const klines = held(exchange.feed.klines(one.symbol, one.interval));
    return defer(() => warmupKlines(runner, one)).pipe(
      mergeMap((history) => decisionsOf(one, inputsOf(runner, one, history, klines.stream, course))),
      finalize(() => {
        klines.end();
        if (course.isOver || course.isTooSlow) chart();
      }),
    );
  });
  const awake = new Observable<void>((out) => {
    const ended = new AbortController();
    const wait = async (): Promise<void> => {
      while (!ended.signal.aborted && assembled.risk.switch.of(one.id) !== undefined)
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
  const holes = exchange.feed.gaps.pipe(
    filter(({ symbol, channel, healed }) => symbol === one.symbol && channel === 'klines' && !healed),
  );
  return merge(isStreaming(one.strategy) ? NEVER : holes, course.stopped.stream).pipe(
    // What threw is stopped, whatever comes.
    filter(() => !course.isOver),
    startWith(undefined),
    switchMap(() => awake.pipe(switchMap(() => fresh))),
    finalize(() => charting?.unsubscribe()),
  );
}

interface Course {
  /** It threw. */
  isOver: boolean;
  isTooSlow: boolean;
  /** Ends its inputs. */
  readonly stopped: Source<void>;
}

async function warmupKlines(
  { exchange, screen, reaching, notice }: Runner,
  one: NamedHosted,
): Promise<readonly Kline[]> {
  const needed = warmupOf(one.strategy, one.params, one.interval);
  const history = await queryUntilAnswered(reaching, `klines of ${one.symbol}`, () =>
    exchange.feed.history(one.symbol, one.interval, liveHistory(needed)),
  );
  for (const kline of history.slice(-charted)) screen.addKline(kline);
  if (history.length < needed)
    notice({
      level: 'warn',
      text: `strategy ${one.id} needs ${needed} klines of ${one.symbol} ${one.interval} and the exchange has ${history.length}. It emits no signal for ${needed - history.length} more klines`,
    });
  return history;
}

/** Measures how long a strategy keeps the program busy with each thing that it is shown: meanwhile nobody else is served. */
const thinking =
  <T>({ clock, assembled: { risk } }: Runner, strategy: string, course: Course): MonoTypeOperatorFunction<T> =>
  (shown) =>
    new Observable((out) =>
      shown.subscribe({
        next(one) {
          const from = clock.monotonic();
          out.next(one);
          const ms = (clock.monotonic() - from) / clock.machine(1);
          risk.thought(strategy, ms);
          if (ms <= (risk.limits.maxThinkingMs ?? Number.POSITIVE_INFINITY)) return;
          course.isTooSlow = true;
          course.stopped.emit();
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );

function inputsOf(
  runner: Runner,
  one: NamedHosted,
  history: readonly Kline[],
  klines: Observable<Kline>,
  course: Course,
): Inputs {
  const { exchange, assembled, screen, clock, notice } = runner;
  const { feed } = exchange;
  // The chart shows them whether or not the strategy reads them. A second strategy on the symbol repeats them without effect.
  klines.subscribe((kline) => screen.addKline(kline));
  const last = history.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY;
  const timed = <T>(stream: Observable<T>): Observable<T> => stream.pipe(thinking(runner, one.id, course));
  return {
    history,
    klines: timed(klines.pipe(filter((kline) => kline.openTime > last))),
    trades: timed(feed.trades(one.symbol)),
    depth: timed(feed.depth(one.symbol)),
    ticker: timed(feed.ticker(one.symbol)),
    gaps: timed(feed.gaps.pipe(filter((gap) => gap.symbol === one.symbol))),
    fills: timed(assembled.booked.pipe(filter((fill) => fill.strategy === one.id))),
    holding: assembled.portfolio.holding(one.id, one.symbol),
    before: assembled.planner.standing(one.id, one.symbol)?.signal,
    now: () => clock.now(),
    failed(error) {
      course.isOver = true;
      const text = clipped(errorText(error));
      runner.failed(one.id, text);
      notice({
        level: 'error',
        text: `strategy ${one.id} threw and was stopped; its resting orders are cancelled, its stop stays in force: ${text}`,
      });
    },
  };
}
