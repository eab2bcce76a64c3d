/** The trader of a live session, assembled for recorded trades and depth. */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Intent } from '../../domain/order.ts';
import { defaultTiming } from '../../execution/context.ts';
import type { Entry } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import { emptyLoaded } from '../../journal/load.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Assembled, assemble } from '../../trading/assemble.ts';
import type { OrderEntry } from '../../venue/venue.ts';
import { planTerms, type RunInput } from '../run.ts';

/** A result has signals, denials, orders and fills; the steps of an order's life and cursors serve restarts. */
export const isResult = ({ kind }: Entry): boolean => kind !== 'event' && kind !== 'cursor';

export function deskOf(
  input: RunInput,
  clock: SimClock,
  book: Journal,
  orders: OrderEntry,
  orderLifeMs: number,
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
    timing: defaultTiming,
    orderLifeMs,
    notice: () => {},
  });
}

/**
 * Looks when the venue says that something happened, and once more after an order in whose sending it said so. An order can end in its
 * arrival, as one of a stop does: the look that the venue asks for then may come before its answer has said whose order that is, and nobody
 * would look again. A cancel of which the venue says nothing takes klines to arrive: its symbol's lane waits for none, as for no answer to
 * an order, or it would carry out a signal that the next kline has overtaken.
 */
export function looksOnNews(clock: SimClock, of: () => Assembled) {
  let news = 0;
  return {
    changed: (symbol: string): void => {
      news++;
      void clock.track(of().sweeps.sweep(symbol));
    },
    execute: async (intent: Intent) => {
      const { trader, sweeps } = of();
      const before = news;
      const carried = await trader.execute(intent);
      if (news !== before) await sweeps.sweep(intent.symbol);
      return carried;
    },
    cancel: (order: WorkingOrder): Promise<void> => {
      const before = news;
      const cancelling = of().trader.cancel(order);
      if (news !== before) return cancelling;
      void clock.track(cancelling);
      return Promise.resolve();
    },
  };
}
