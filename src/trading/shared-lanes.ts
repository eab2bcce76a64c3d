/**
 * Requests of a lane that several symbols share. An outcome that stays unknown, or a cancel that takes long, holds up its own symbol alone: the
 * stop of another must not wait for it. What it was about is planned again once it is decided.
 */
import type { Clock } from '../clock/clock.ts';
import type { Intent, Leg, SubmitResult } from '../domain/order.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio, WorkingOrder } from '../portfolio/portfolio.ts';
import type { Trader } from '../trader.ts';
import type { Orders } from './orders.ts';

/** A cancel that takes longer no longer holds up its lane, real ms. */
const cancelMs = 1_000;

export interface SharedLanes {
  readonly clock: Clock;
  readonly portfolio: Pick<Portfolio, 'subAccount'>;
  readonly planner: Pick<Planner, 'standing'>;
  readonly orders: Pick<Orders, 'execute' | 'cancel'>;
  /** Whether a symbol shares its lane with others. */
  readonly isShared: (symbol: string) => boolean;
  /** Plans what stands of a strategy again. */
  readonly again: (legs: readonly [Leg, ...Leg[]]) => void;
}

export function sharedLanes(options: SharedLanes): Pick<Trader, 'execute' | 'cancel'> {
  const { clock, orders, isShared } = options;
  /** Goes on as soon as `early` does; whatever `work` comes to is planned then. */
  function goOn<T>(work: Promise<T>, early: Promise<T>, intent: Intent): Promise<T> {
    let isEarly = false;
    const whole = work.then((done) => {
      if (isEarly) again(options, intent);
      return done;
    });
    void clock.track(
      whole.then(
        () => undefined,
        (error: unknown) => {
          // A bug after the lane has moved on: the rejection is not caught, so it ends the program.
          if (isEarly) throw error;
        },
      ),
    );
    return Promise.race([
      whole,
      early.then((done) => {
        isEarly = true;
        return done;
      }),
    ]);
  }
  return {
    execute(intent) {
      if (!isShared(intent.symbol)) return orders.execute(intent);
      const { promise, resolve } = Promise.withResolvers<SubmitResult>();
      return goOn(
        orders.execute(intent, () => resolve('unknown')),
        promise,
        intent,
      );
    },
    cancel(order: WorkingOrder) {
      if (!isShared(order.intent.symbol)) return orders.cancel(order);
      return goOn(orders.cancel(order), clock.sleep(clock.machine(cancelMs)), order.intent);
    },
  };
}

/** All that stands of its strategy: another leg may have waited for the money. */
function again({ portfolio, planner, again: plan }: SharedLanes, { strategy, symbol }: Intent): void {
  const [first, ...others] = portfolio
    .subAccount(strategy, symbol)
    .pool.subAccounts.flatMap(({ instrument }) => planner.standing(strategy, instrument.symbol) ?? []);
  if (first !== undefined) plan([first, ...others]);
}
