/** What a planner needs. */
import type { KeptState } from '../domain/memory.ts';
import type { Lots, Rate } from '../domain/money.ts';
import type { Account, Denial, Leg } from '../domain/order.ts';
import type { Flattening } from './flattening.ts';
import type { OrderDraft, Situation } from './plan.ts';
import type { Portfolio } from './portfolio.ts';
import type { Best } from './post-only.ts';
import type { Protection } from './protection.ts';
import type { KeptEntry } from './standing.ts';
import type { Sizing } from './target-size.ts';

export interface PlannerOptions {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  readonly account: Account;
  readonly marketBuyIn: 'amount' | 'lots';
  readonly feeInBase: Rate;
  /** By the price alone if absent. */
  readonly sizing?: Sizing;
  /** Where strategies may borrow: most that one may hold or be short of, as a multiple of its equity. */
  readonly maxLeverage?: Rate | undefined;
  /** Called for each signal that differs from the one before, with its size and the number of its decision. */
  readonly changed: (leg: Leg, lots: Lots | undefined, decision: number) => void;
  /** Called with what is new of what is kept with a signal, when that is journalled or was before. */
  readonly remembered?: (strategy: string, changed: KeptState) => void;
  /** Called with what has to be kept of an entry beside its signal. */
  readonly entryKept?: (leg: Leg, entry: KeptEntry) => void;
  /** The best prices on a symbol; the last price counts as both where there are none. */
  readonly best?: (symbol: string) => Best | undefined;
  /** Whether a decision may change signals now, asked once with its first leg that does; always if absent. */
  readonly mayChange?: (leg: Leg) => boolean;
  /** Positions that an operator closes; none if absent. */
  readonly flattening?: () => Pick<Flattening, 'of' | 'step' | 'givesWay'>;
  /** What a strategy may do while it is paused or killed, and why; undefined while it is neither. */
  readonly restriction?: (strategy: string) => Restriction | undefined;
  /** Called once for an order that is not planned, being too small for the exchange or of a strategy that is stopped, until it no longer is. */
  readonly unsent: (draft: OrderDraft, denial: Denial) => void;
}

export interface Restriction {
  readonly may: Exclude<Situation['may'], 'all'>;
  readonly denial: Denial;
}
