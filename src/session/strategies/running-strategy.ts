/** What a strategy of a session runs with, and how long it keeps the program busy. */

import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Kline } from '../../domain/market.ts';
import type { KeptState } from '../../domain/memory.ts';
import { redact } from '../../domain/redaction.ts';
import type { Notice } from '../../journal/entries.ts';
import { errorText } from '../../strategy/fault.ts';
import type { Hosted, Inputs } from '../../strategy/host.ts';
import { liveHistory } from '../../strategy/warmup.ts';
import type { Assembled } from '../../trading/assemble.ts';
import { clipped } from '../../trading/format.ts';
import type { Source } from '../../trading/hot-streams.ts';
import { tradedBy } from '../../trading/lanes.ts';
import { type MarketFeed, ok } from '../../venue/venue.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type ConnectOptions, queryUntilAnswered } from '../preflight/connect.ts';
import type { IndicatorCharts } from '../view/indicator-charts.ts';
import type { Screen } from '../view/view.ts';

export interface Runner {
  readonly clock: Clock;
  readonly exchange: { readonly feed: MarketFeed };
  readonly assembled: Pick<Assembled, 'booked' | 'portfolio' | 'protection'> & {
    readonly planner: Pick<Assembled['planner'], 'standing' | 'at' | 'plan'> & {
      readonly memories: Pick<Assembled['planner']['memories'], 'get' | 'keep'>;
    };
    readonly risk: Pick<Assembled['risk'], 'decideTook' | 'switch' | 'limits'>;
  };
  readonly screen: Pick<Screen, 'addKline' | 'addHistory'>;
  /** Keeps the values of its indicators for the charts. */
  readonly indicators?: Pick<IndicatorCharts, 'watch'> | undefined;
  readonly metrics?: Pick<Metrics, 'took'> | undefined;
  readonly failed: (strategy: string, error: string) => void;
  readonly reaching: ConnectOptions;
  readonly notice: (notice: Notice) => void;
}

export interface Course {
  /** It threw. */
  isOver: boolean;
  isTooSlow: boolean;
  /** Ends its inputs. */
  readonly stopped: Source<void>;
}

/** A market of a strategy, and how many of its klines the strategy needs before its first signal. */
export interface Warmed {
  readonly strategy: string;
  readonly symbol: string;
  readonly interval: Kline['interval'];
  readonly needed: number;
  /** One of a list, which may have no klines yet. */
  readonly mayBeEmpty?: boolean;
}

/** The klines that a market's indicators begin with, oldest first; they are charted, too. Warns where there are too few. */
export async function warmupKlines(
  { exchange, screen, reaching, notice }: Pick<Runner, 'exchange' | 'screen' | 'reaching' | 'notice'>,
  { strategy, symbol, interval, needed, mayBeEmpty = false }: Warmed,
): Promise<readonly Kline[]> {
  const history = await queryUntilAnswered(reaching, `klines of ${symbol}`, async () => {
    const answer = await exchange.feed.history(symbol, interval, liveHistory(needed));
    return mayBeEmpty && answer.kind === 'failed' && answer.isEmpty === true ? ok([]) : answer;
  });
  screen.addHistory(history);
  if (mayBeEmpty && history.length === 0)
    notice({
      level: 'warn',
      text: `strategy ${strategy} leaves out ${symbol} until it has klines: the exchange has none of ${interval}`,
    });
  else if (history.length < needed)
    notice({
      level: 'warn',
      text: `strategy ${strategy} needs ${needed} klines of ${symbol} ${interval} and the exchange has ${history.length}. It emits no signal for ${needed - history.length} more klines`,
    });
  return history;
}

/** Measures how long a strategy keeps the program busy with each thing that it is shown: meanwhile nobody else is served. */
export const timingDecide =
  <T>({ clock, metrics, assembled: { risk } }: Runner, strategy: string, course: Course): MonoTypeOperatorFunction<T> =>
  (shown) =>
    new Observable((out) =>
      shown.subscribe({
        next(one) {
          const from = clock.monotonic();
          out.next(one);
          const ms = (clock.monotonic() - from) / clock.machine(1);
          metrics?.took('decide', ms);
          risk.decideTook(strategy, ms);
          if (ms <= (risk.limits.maxDecideMs ?? Number.POSITIVE_INFINITY)) return;
          course.isTooSlow = true;
          course.stopped.emit();
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );

/** What the journal keeps of a strategy now, and where that goes which comes without a signal. */
export const remembering = (
  { assembled: { planner } }: Runner,
  strategy: string,
): KeptState & Required<Pick<Inputs, 'remember'>> => ({
  ...planner.memories.get(strategy),
  remember: (kept) => planner.memories.keep(strategy, kept),
});

/** What happens when a strategy throws. */
export const threw =
  (runner: Runner, one: Hosted, course: Course) =>
  (error: unknown): void => {
    course.isOver = true;
    const text = clipped(redact(errorText(error)));
    runner.failed(one.id, text);
    runner.notice({
      level: 'error',
      topic: 'strategyStopped',
      text: `strategy ${one.id} threw and was stopped; its resting orders are cancelled${leftOpen(runner, one)}: ${text}`,
    });
  };

/** What it still holds, by whether something would leave that. */
function leftOpen({ assembled: { portfolio, protection } }: Runner, one: Hosted): string {
  const held = tradedBy(one).filter((symbol) => !portfolio.isFlat(one.id, symbol));
  const guarded = held.filter((symbol) => protection.isGuarded(one.id, symbol));
  const bare = held.filter((symbol) => !guarded.includes(symbol));
  return [
    ...(guarded.length === 0 ? [] : [`, its exits of ${guarded.join(', ')} stay in force`]),
    ...(bare.length === 0 ? [] : [`, its position of ${bare.join(', ')} has no stop`]),
  ].join('');
}
