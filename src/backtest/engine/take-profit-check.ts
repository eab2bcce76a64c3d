/** When a backtest checks for missing take-profits of positions that were entered between two decisions; a live session does so every second. */

import type { Assembled } from '../../trading/assemble.ts';
import type { PendingTakeProfits } from '../../trading/pending-take-profits.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import type { Stage } from './phases.ts';

export interface LateStage extends Stage {
  readonly targets: PendingTakeProfits;
}

/** Live within a second, ms. */
const soonMs = 1_000;

/** At the close of a kline, for strategies of a larger interval: those of the others have just been decided on. */
export function* placeLate(
  { targets, again, clock }: LateStage,
  larger: readonly NamedHosted[],
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
  hosted: readonly NamedHosted[],
  isByTape: (symbol: string) => boolean,
): void {
  assembled.booked.subscribe(({ strategy, symbol }) => {
    const one = hosted.find(({ id }) => id === strategy);
    const signal = assembled.planner.standing(strategy, symbol)?.signal;
    if (one === undefined || signal?.kind !== 'target' || signal.takeProfit === undefined || !isByTape(symbol)) return;
    clock.at(clock.now() + soonMs, () => {
      const signal = targets.due(one, clock.now());
      if (signal !== undefined) again(signal);
    });
  });
}
