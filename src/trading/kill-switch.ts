/** What an operator or a limit does to all that trades. */
import { unitsText } from '../domain/money.ts';
import type { Execution } from '../execution/context.ts';
import type { Journal } from '../journal/journal.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { type Kill, letsThrough } from '../risk/kill.ts';
import type { Risk } from '../risk/risk.ts';
import type { TradingComponents } from './components.ts';
import type { Orders } from './orders.ts';

export interface Controls {
  /** Stops creation, durably, by all of these or none, and cancels what they do not let rest; returns those orders, as they are then. */
  readonly kill: (...kills: readonly Kill[]) => Promise<readonly WorkingOrder[]>;
  resume(strategy: string | undefined, by: string, reason: string): Promise<void>;
  /** Cancels resting orders, of one strategy or all; returns them as they are then: what was filled before the cancel came is filled. */
  cancelAll(strategy?: string): Promise<readonly WorkingOrder[]>;
  /** Cancels these, and returns them as they are then. */
  cancelOrders(orders: readonly WorkingOrder[]): Promise<readonly WorkingOrder[]>;
}

export function controls(
  { portfolio, risk, flattening }: TradingComponents,
  execution: Execution,
  orders: Pick<Orders, 'cancelAll'>,
): Controls {
  const { journal, clock } = execution;
  async function cancelResting(
    lane: 'kill' | 'cancel',
    strategy: string | undefined,
    unless: (order: WorkingOrder) => boolean = () => false,
  ): Promise<readonly WorkingOrder[]> {
    const resting = [...portfolio.orders()].filter(
      (order) =>
        order.state === 'open' && (strategy === undefined || order.intent.strategy === strategy) && !unless(order),
    );
    await orders.cancelAll(resting, lane);
    return resting;
  }
  return {
    async kill(...kills) {
      for (const kill of kills) {
        if (!risk.switch.inForce.includes(kill)) risk.switch.kill(kill);
        journal.append({ ...kill, strategy: kill.strategy ?? null });
        if (kill.everything) flattening.stop(kill.strategy, killedText(kill));
      }
      await journal.durable();
      const cancelled = kills.map((kill) =>
        cancelResting(
          'kill',
          kill.strategy,
          ({ intent }) => letsThrough(kill, intent.purpose) && flattening.against(intent) === undefined,
        ),
      );
      return (await Promise.all(cancelled)).flat();
    },
    async resume(strategy, by, reason) {
      // The row of the resume comes first: loading a journal discards what was remembered before it.
      const scope = { strategy: strategy ?? null, everything: false };
      journal.append({ kind: 'resume', at: clock.now(), ...scope, by, reason });
      risk.resume(strategy);
      flattening.stop(strategy, `resumed by ${by}: ${reason}`);
      if (strategy === undefined) execution.halts.resume();
      noteDay(risk, journal);
      await journal.durable();
    },
    cancelAll: (strategy) => cancelResting('cancel', strategy),
    async cancelOrders(resting) {
      await orders.cancelAll(resting, 'cancel');
      return resting;
    },
  };
}

const killedText = ({ by, reason }: Kill): string => `killed by ${by}: ${reason}`;

/** Ends the flattens of an earlier run whose strategy was killed with everything, or resumed, or whose time ran out, while no daemon ran. */
export function endOldFlattens({ flattening, risk }: Pick<TradingComponents, 'flattening' | 'risk'>): void {
  for (const flatten of flattening.active) {
    const later = risk.switch.ofEverything(flatten.strategy)[flatten.inSpiteOf];
    if (later !== undefined) flattening.end(flatten, killedText(later));
    else if (risk.switch.of(flatten.strategy) === undefined) flattening.end(flatten, 'resumed');
    else if (flattening.isOver(flatten))
      flattening.end(flatten, 'its time ran out while no daemon ran; repeat sluice flatten');
  }
}

/** Why the exit of a position cannot be sent at this moment; undefined where it can. */
export const exitBlocked =
  ({ portfolio }: Pick<TradingComponents, 'portfolio'>, orders: Pick<Orders, 'against'>) =>
  (strategy: string, symbol: string): string | undefined =>
    orders.against({ strategy, symbol, purpose: 'stop' }) ??
    (portfolio.isUndecided(symbol) ? 'the outcome of an order is not known' : undefined);

/** Whether a stop could act at this moment: its price is fresh, and nothing holds its exit up. */
export function canExit(
  { portfolio, risk }: Pick<TradingComponents, 'portfolio' | 'risk'>,
  clock: Execution['clock'],
  blocked: ReturnType<typeof exitBlocked>,
): (strategy: string, symbol: string) => boolean {
  const maxAgeMs = clock.machine(risk.limits.maxDataAgeMs);
  return (strategy, symbol) => {
    const mark = portfolio.lastMark(symbol);
    const isFresh = mark !== undefined && clock.now() - mark.at <= maxAgeMs;
    return isFresh && blocked(strategy, symbol) === undefined;
  };
}

/** Writes down what the day's loss is measured from, once that is known. */
export function noteDay({ dayStart: { day, equity } }: Risk, journal: Journal): void {
  if (!Number.isNaN(day)) journal.append({ kind: 'day', day, equity: unitsText(equity) });
}
