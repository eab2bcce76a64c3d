/** The trader of a live session, assembled for recorded trades and depth. */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Intent } from '../../domain/order.ts';
import { defaultTiming } from '../../execution/context.ts';
import type { Entry } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import { emptyLoaded } from '../../journal/load.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Assembled, assemble } from '../../trading/assemble.ts';
import { aloneRules, lanesOf } from '../../trading/lanes.ts';
import type { OrderEntry } from '../../venue/venue.ts';
import { planTerms, type RunInput } from '../run.ts';

/** A result has signals, denials, orders and fills; the steps of an order's life and cursors serve restarts. */
export const isResult = ({ kind }: Entry): boolean => kind !== 'event' && kind !== 'cursor';

export function deskOf(
  input: RunInput,
  clock: SimClock,
  book: Journal,
  orders: OrderEntry,
  maxSendDelayMs: number,
): Assembled {
  return assemble({
    clock,
    journal: book,
    identity: undefined,
    loaded: emptyLoaded,
    orders,
    ...planTerms(input),
    instruments: input.instruments,
    allocations: input.allocations,
    limits: input.limits,
    ...(input.newVersions !== undefined && { newVersions: input.newVersions }),
    timing: defaultTiming,
    maxSendDelayMs,
    laneOf: lanesOf(input.hosted),
    aloneRules: aloneRules(input.hosted),
    notice: () => {},
  });
}

/**
 * Sweeps a symbol when the venue reports a change, and once more after an order during whose sending it reported one. An order can end as
 * it arrives, as the one of a stop does. The sweep that the venue asked for may then run before its answer has said whose order that is,
 * and no other would follow. A cancel that the venue does not report takes klines to arrive. The lane does not wait for it, as it does
 * not for an answer to an order: otherwise it would carry out a signal that the next kline has replaced.
 */
export function sweepsOnChange(clock: SimClock, of: () => Assembled) {
  let changes = 0;
  return {
    changed: (symbol: string): void => {
      changes++;
      void clock.track(of().sweeps.sweep(symbol));
    },
    execute: async (intent: Intent) => {
      const { trader, sweeps } = of();
      const before = changes;
      const carried = await trader.execute(intent);
      if (changes !== before) await sweeps.sweep(intent.symbol);
      return carried;
    },
    cancel: (order: WorkingOrder): Promise<void> => {
      const before = changes;
      const cancelling = of().trader.cancel(order);
      if (changes !== before) return cancelling;
      void clock.track(cancelling);
      return Promise.resolve();
    },
  };
}
