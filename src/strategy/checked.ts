/** What a strategy says, before anything is done about it. */
import type { Goal, Want } from '../domain/order.ts';
import { WantError } from './fault.ts';

/** A want that could not be carried out honestly is the strategy's fault, as a throw is. Throws a `WantError` for one. */
export function checked(want: Want): Want {
  if (want?.kind !== 'quotes' && (want?.kind !== 'target' || typeof want.goal !== 'object'))
    throw new WantError(`neither a target nor quotes: ${JSON.stringify(want)}; use hold(), flat() or quote()`);
  // Asked at every kline, so nothing is made here unless something is wrong.
  const isSound =
    want.kind === 'quotes'
      ? want.quotes.every(({ price, quantity }) => isLevel(price) && isLevel(quantity))
      : mayBeLevel(want.limit) &&
        mayBeLevel(want.stop) &&
        mayBeLevel(want.takeProfit) &&
        mayBeLevel(want.trailing) &&
        mayBeLevel(want.exitAfterMs);
  if (!isSound) throw new WantError(`a ${want.kind} with a number that is not finite or is negative: ${shown(want)}`);
  if (want.kind === 'target' && !Number.isFinite(sizeOf(want.goal)))
    throw new WantError(`a target without a finite goal: ${shown(want)}`);
  if (want.kind === 'target' && isSeveral(want.goal)) throw severalGoals(want.goal);
  return want;
}

/** A goal is one of them: of two, one would be dropped without a word. */
export const isSeveral = (goal: Goal): boolean =>
  'quantity' in goal ? 'amount' in goal || 'share' in goal : 'amount' in goal && 'share' in goal;

export const severalGoals = (goal: Goal): WantError =>
  new WantError(`a target with more than one goal: ${JSON.stringify(goal)}; say quantity, amount or share`);

/** As JSON, but with NaN and Infinity, which are what is wrong. */
const shown = (want: Want): string =>
  JSON.stringify(want, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );

const isLevel = (value: number): boolean => Number.isFinite(value) && value >= 0;
const mayBeLevel = (value: number | undefined): boolean => value === undefined || isLevel(value);
const sizeOf = (goal: Goal): number =>
  'quantity' in goal ? goal.quantity : 'amount' in goal ? goal.amount : goal.share;
