/** The standing signal of a strategy at a symbol. */
import type { Lots } from '../domain/money.ts';
import type { Leg, Target } from '../domain/order.ts';
import type { Situation } from './plan.ts';
import type { SubAccount } from './sub-account.ts';

/** What a journal keeps of an entry beside its signal. */
export type KeptEntry = Partial<Pick<Standing, 'expiresAt' | 'movedTo'>>;

/** One object for as long as a planner works: whoever reads it often may keep it. */
export interface Standing {
  readonly subAccount: SubAccount;
  leg: Leg;
  /** Number of the decision that changed it last. */
  decision: number;
  /** Sized once, at the first known price: a share of equity is not rebalanced with every price. */
  lots: Lots | undefined;
  /** Its entry was ordered as an amount: what it buys is the size. */
  byAmount: boolean;
  /** When its entry expires, UTC ms; infinity where it does not, or did. */
  expiresAt: number;
  isExpired: boolean;
  /** Where its limit was moved to so that it does not take. */
  movedTo: number | undefined;
  /** Set when the last plan found nothing to do. */
  settled: Settled | undefined;
}

/** Nothing has to be done about a target or quotes while these numbers stay and the price lies between the two. */
export interface Settled {
  /** Of its sub-account. */
  readonly revision: number;
  readonly from: number;
  readonly to: number;
  /** What the strategy might do then. */
  readonly may: Situation['may'];
  /** That stays so when only its exits move, and when its limit does. */
  readonly mayMoveExits: boolean;
  readonly mayMoveLimit: boolean;
}

/** Whether nothing is left to do about a target of the same size as the one before. */
export function mayMove({ settled }: Standing, before: Target, signal: Target): boolean {
  if (settled === undefined || (before.limit === undefined) !== (signal.limit === undefined)) return false;
  return before.limit === signal.limit ? settled.mayMoveExits : settled.mayMoveLimit;
}
