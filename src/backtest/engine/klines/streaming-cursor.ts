/** Feeds the klines of a series to a strategy made of streams, and collects its signals synchronously. */

import type { Observable, Subscription } from 'rxjs';
import type { SimClock } from '../../../clock/sim-clock.ts';
import type { Decision, Fill } from '../../../domain/order.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import { withStrategy } from '../../../strategy/fault.ts';
import { decisionsOf } from '../../../strategy/host.ts';
import { withHolding } from '../../../trading/seen-holding.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import { RecordedSeries } from '../../../venue/recorded/recorded.ts';
import { type RunSeries, upToEnd } from '../../run.ts';
import { strategyKlines } from '../larger-klines.ts';
import { absent } from '../missing-data.ts';

/** What a streaming strategy is given, and where what it says goes. */
export interface StreamingParts {
  readonly portfolio: Portfolio;
  readonly fills: Observable<Fill>;
  readonly now: () => number;
  /** Called with each decision. */
  readonly decided: (decision: Decision) => void;
  /** What it threw. */
  readonly faults: unknown[];
  /** Data that it listens to and that are not there. */
  readonly missed: unknown[];
}

export class StreamingCursor {
  readonly hosted: NamedHosted;
  readonly #series: RecordedSeries;
  readonly #listening: Subscription;

  constructor(
    hosted: NamedHosted,
    series: RunSeries,
    { portfolio, fills, now, decided, faults, missed }: StreamingParts,
  ) {
    const { interval } = series;
    this.hosted = hosted;
    this.#series = new RecordedSeries(upToEnd(series));
    this.#listening = decisionsOf(hosted, {
      ...withHolding(
        portfolio,
        hosted,
        strategyKlines(this.#series.before(this.#series.row), this.#series.klines, interval, hosted.interval),
      ),
      trades: absent('trades', hosted, missed),
      depth: absent('depth', hosted, missed),
      ticker: absent('ticker', hosted, missed),
      gaps: this.#series.gaps,
      fills,
      atOnce: true,
      now,
      failed: (error) => void faults.push(withStrategy(error, { id: hosted.id, now: now() })),
    }).subscribe(decided);
  }

  /** Gives it the next kline. */
  push(): void {
    const kline = this.#series.next();
    if (kline !== undefined) this.#series.push(kline);
  }

  end(): void {
    this.#listening.unsubscribe();
  }
}

/** Waits for what promises of streaming strategies still have to say, and ends their streams. */
export async function endStreams(
  series: readonly { readonly strategies: readonly object[] }[],
  clock: SimClock,
): Promise<void> {
  const streaming = series.flatMap(({ strategies }) => strategies.filter((one) => one instanceof StreamingCursor));
  if (streaming.length > 0) await clock.loop();
  for (const one of streaming) one.end();
}
