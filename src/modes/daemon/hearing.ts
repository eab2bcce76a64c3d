/** What a strategy of a session hears: its warm-up klines, then the feed, and a fresh start after a hole. */
import {
  defer,
  filter,
  finalize,
  type MonoTypeOperatorFunction,
  mergeMap,
  Observable,
  startWith,
  switchMap,
} from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Kline } from '../../domain/market.ts';
import type { Signal } from '../../domain/order.ts';
import type { Notice } from '../../execution/desk.ts';
import { isStreaming } from '../../strategy/contract.ts';
import { type Inputs, signalsOf } from '../../strategy/host.ts';
import { warmupOf } from '../../strategy/needs.ts';
import type { MarketFeed } from '../../venue/venue.ts';
import type { Assembled } from '../assemble.ts';
import { held } from '../source.ts';
import type { NamedHosted } from '../strategies.ts';
import { type Reaching, reach } from './reach.ts';
import type { Screen } from './screen.ts';

export interface Ears {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'machine'>;
  readonly exchange: { readonly feed: MarketFeed };
  readonly assembled: Pick<Assembled, 'booked' | 'portfolio' | 'planner'> & {
    readonly risk: Pick<Assembled['risk'], 'thought'>;
  };
  readonly screen: Pick<Screen, 'addKline' | 'failed'>;
  readonly reaching: Reaching;
  readonly notice: (notice: Notice) => void;
}

/** Klines that the chart begins with, also where a strategy needs fewer. */
const charted = 300;

/**
 * A strategy's signals, from the moment that its warm-up klines are there. A hole that could not be healed is like a restart:
 * indicators that have missed klines would be wrong for as long as they remember, so they begin again from history. A strategy
 * that reads streams by itself is told of the hole and decides.
 */
export function signalsHeard(ears: Ears, one: NamedHosted): Observable<Signal> {
  const fresh = defer(() => {
    const klines = held(ears.exchange.feed.klines(one.symbol, one.interval));
    return defer(() => warmupKlines(ears, one)).pipe(
      mergeMap((history) => signalsOf(one, inputsOf(ears, one, history, klines.stream))),
      finalize(() => klines.end()),
    );
  });
  if (isStreaming(one.strategy)) return fresh;
  const holes = ears.exchange.feed.gaps.pipe(
    filter(({ symbol, channel, healed }) => symbol === one.symbol && channel === 'klines' && !healed),
  );
  return holes.pipe(
    startWith(undefined),
    switchMap(() => fresh),
  );
}

async function warmupKlines({ exchange, screen, reaching, notice }: Ears, one: NamedHosted): Promise<readonly Kline[]> {
  const needed = warmupOf(one.strategy, one.params, one.interval);
  const count = Math.max(needed, charted);
  const history = await reach(reaching, `klines of ${one.symbol}`, () =>
    exchange.feed.history(one.symbol, one.interval, count),
  );
  for (const kline of history.slice(-charted)) screen.addKline(kline);
  if (history.length < needed)
    notice({
      level: 'warn',
      text: `strategy ${one.id} needs ${needed} klines of ${one.symbol} ${one.interval} before it can say anything and the exchange has ${history.length}: it is silent for ${needed - history.length} more`,
    });
  return history;
}

/** Measures how long a strategy keeps the program busy with each thing that it is shown: meanwhile nobody else is served. */
const thinking =
  <T>({ clock, assembled: { risk } }: Ears, strategy: string): MonoTypeOperatorFunction<T> =>
  (shown) =>
    new Observable((out) =>
      shown.subscribe({
        next(one) {
          const from = clock.monotonic();
          out.next(one);
          risk.thought(strategy, (clock.monotonic() - from) / clock.machine(1));
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );

function inputsOf(ears: Ears, one: NamedHosted, history: readonly Kline[], klines: Observable<Kline>): Inputs {
  const { exchange, assembled, screen, clock, notice } = ears;
  const { feed } = exchange;
  // Shown whether the strategy looks at them or not; two strategies on one symbol show them twice, which changes nothing.
  klines.subscribe((kline) => screen.addKline(kline));
  const last = history.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY;
  const timed = <T>(stream: Observable<T>): Observable<T> => stream.pipe(thinking(ears, one.id));
  return {
    history,
    klines: timed(klines.pipe(filter((kline) => kline.openTime > last))),
    trades: timed(feed.trades(one.symbol)),
    depth: timed(feed.depth(one.symbol)),
    ticker: timed(feed.ticker(one.symbol)),
    gaps: feed.gaps.pipe(filter((gap) => gap.symbol === one.symbol)),
    fills: assembled.booked.pipe(filter((fill) => fill.strategy === one.id)),
    holding: assembled.portfolio.holding(one.id, one.symbol),
    before: assembled.planner.standing(one.id, one.symbol)?.want,
    now: () => clock.now(),
    failed(error) {
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      screen.failed(one.id, text);
      notice({
        level: 'error',
        text: `strategy ${one.id} threw and is stopped; its resting orders are cancelled, its stop stays in force: ${text}`,
      });
    },
  };
}
