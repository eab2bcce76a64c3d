/**
 * How much evidence makes an order absent or quarantined: pure functions and a table, which `docs/reference/order-states.md` shows.
 */
import type { OrderState } from '../../domain/order.ts';
import type { Proof } from './balance-proof.ts';

/** Unexplained proofs in a row with the same facts, the sweep gap apart: the account may lag behind the lists. */
export const maxUnexplained = 3;
/** Proofs without a quiet moment: an account that changes for so long needs a human. */
export const maxMoving = 60;

/** The result of a proof. `again`: it proves nothing yet. */
export type Verdict = 'absence' | 'doubt' | 'again';

/** The verdict of each kind of proof, at once or after that many. */
export const proofs: Readonly<
  Record<Proof['kind'], { readonly means: string; readonly verdict: Verdict; readonly after?: number }>
> = {
  explained: { means: 'the balances match exactly without the order', verdict: 'absence' },
  unexplained: {
    means: 'a difference in the balances stays unexplained',
    verdict: 'doubt',
    after: maxUnexplained,
  },
  moving: { means: 'the account was never quiet enough to compare', verdict: 'doubt', after: maxMoving },
  impossible: { means: 'no balances, no baseline, or an order that may match', verdict: 'doubt' },
  failed: { means: 'a request failed', verdict: 'again' },
};

/** The proofs so far. */
export interface Weighed {
  /** The facts of the last unexplained one, and how many in a row had the same. */
  readonly facts: string;
  readonly same: number;
  readonly moving: number;
}
export const nothingWeighed: Weighed = { facts: '', same: 0, moving: 0 };

/** Adds a proof. */
export function weigh(was: Weighed, { kind, text }: Proof): { readonly now: Weighed; readonly verdict: Verdict } {
  const now: Weighed =
    kind === 'unexplained'
      ? { ...was, facts: text, same: text === was.facts ? was.same + 1 : 1 }
      : kind === 'moving'
        ? { ...was, moving: was.moving + 1 }
        : was;
  const { verdict, after = 1 } = proofs[kind];
  const times = kind === 'unexplained' ? now.same : kind === 'moving' ? now.moving : 1;
  return { now, verdict: times >= after ? verdict : 'again' };
}

/** The action on a verdict: of a quarantined order, only absence changes the state. */
export function actOn(verdict: Verdict, state: OrderState): Verdict {
  if (state === 'unknown') return verdict;
  return state === 'quarantined' && verdict === 'absence' ? 'absence' : 'again';
}

/** Complete sweeps that began after the horizon: the start of the first and the last one, UTC ms. */
export interface CleanSweeps {
  readonly first: number;
  readonly last: number;
}

/** True after two such sweeps at least the gap apart: only then is a missing order evidence (§3.4, step 5). */
export const isMissed = (clean: CleanSweeps | undefined, gapMs: number): boolean =>
  clean !== undefined && clean.last >= clean.first + gapMs;

/** Adds a sweep; one that was incomplete or too early has no `cleanAt` and changes nothing. */
export const afterSweep = (clean: CleanSweeps | undefined, cleanAt: number | undefined): CleanSweeps | undefined =>
  cleanAt === undefined ? clean : { first: clean?.first ?? cleanAt, last: cleanAt };

/** Reasons that a proof of absence can end: the exchange never showed the order. */
const endedByAbsence: ReadonlySet<string> = new Set(['unproven', 'forgotten', 'human']);

/** Whether a quarantined order may prove to be absent. One with an exchange id was at the exchange. */
export const mayBeAbsent = ({
  orderId,
  quarantineReason,
}: {
  readonly orderId: string | undefined;
  readonly quarantineReason: string | undefined;
}): boolean => orderId === undefined && quarantineReason !== undefined && endedByAbsence.has(quarantineReason);
