/** When a backtest checks for missing take-profits of positions that were entered between two decisions; a live session does so every second. */

import type { Assembled } from '../../trading/assemble.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { PendingTakeProfits } from '../../trading/pending-take-profits.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { RunSeries } from '../run.ts';
import type { Stage } from './phases.ts';

export interface LateStage extends Stage {
  readonly targets: PendingTakeProfits;
}

/** Live within a second, ms. */
const soonMs = 1_000;

/** A strategy at one of its symbols. */
export interface LatePlace {
  readonly id: string;
  readonly symbol: string;
}

/** The strategies that trade a series by klines of a larger interval than its own. */
export const largerOn = (
  hosted: readonly NamedHosted[],
  { symbol, interval }: Pick<RunSeries, 'symbol' | 'interval'>,
): readonly LatePlace[] =>
  hosted.flatMap((one) =>
    marketsOf(one).some((at) => at.use === 'traded' && at.symbol === symbol && at.interval !== interval)
      ? [{ id: one.id, symbol }]
      : [],
  );

/** At the close of a kline, for strategies of a larger interval: those of the others have just been decided on. */
export function* placeLate(
  { targets, again, clock }: LateStage,
  larger: readonly LatePlace[],
): Generator<undefined, void, void> {
  for (const one of larger) {
    const signal = targets.due(one, clock.now());
    if (signal === undefined) continue;
    again(signal);
    yield;
  }
}

/** A second after each fill by trades or books. */
export function lookAfterFills(
  { targets, again, clock, assembled }: LateStage & { readonly assembled: Pick<Assembled, 'booked'> },
  isByTape: (symbol: string) => boolean,
): void {
  assembled.booked.subscribe(({ strategy, symbol }) => {
    const signal = assembled.planner.standing(strategy, symbol)?.signal;
    if (signal?.kind !== 'target' || signal.takeProfit === undefined || !isByTape(symbol)) return;
    clock.at(clock.now() + soonMs, () => {
      const leg = targets.due({ id: strategy, symbol }, clock.now());
      if (leg !== undefined) again(leg);
    });
  });
}
