/**
 * What evidence is enough to call an order absent, or to give up proving it, apart from how it is got: pure,
 * and a table. `docs/reference/order-states.md` shows it.
 */
import type { OrderState } from '../../domain/order.ts';
import type { Proof } from './balance-proof.ts';

/** Proofs that balances do not bear out, in a row and by the same facts, the sweep gap apart: the account may lag behind the lists. */
export const mostUnexplained = 3;
/** Proofs for which there was no quiet moment: an account that never rests for so long needs a human. */
export const mostMoving = 60;

/** What a proof comes to. `again`: it proves nothing yet. */
export type Verdict = 'absence' | 'doubt' | 'again';

/** What each kind of proof means, and what comes of it: at once, or when it is the last of so many. */
export const proofs: Readonly<
  Record<Proof['kind'], { readonly means: string; readonly verdict: Verdict; readonly after?: number }>
> = {
  explained: { means: 'the balances match exactly without the order', verdict: 'absence' },
  unexplained: {
    means: 'a difference in the balances stays unexplained',
    verdict: 'doubt',
    after: mostUnexplained,
  },
  moving: { means: 'the account was never quiet enough to compare', verdict: 'doubt', after: mostMoving },
  impossible: { means: 'no balances, no baseline, or an order that may match', verdict: 'doubt' },
  failed: { means: 'a request failed', verdict: 'again' },
};

/** Which proofs there were. */
export interface Weighed {
  /** The facts of the last one that was not borne out, and how many in a row had the same. */
  readonly facts: string;
  readonly same: number;
  readonly moving: number;
}
export const nothingWeighed: Weighed = { facts: '', same: 0, moving: 0 };

/** Takes one more proof into account. */
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

/** What is done about a verdict: one that is quarantined already can only be healed by it. */
export function actOn(verdict: Verdict, state: OrderState): Verdict {
  if (state === 'unknown') return verdict;
  return state === 'quarantined' && verdict === 'absence' ? 'absence' : 'again';
}

/** A complete look, all of it after the horizon, by when it began, UTC ms. */
export interface Clean {
  readonly first: number;
  readonly last: number;
}

/** Two complete looks the gap apart: only then does not seeing an order mean anything (§3.4, step 5). */
export const isMissed = (clean: Clean | undefined, gapMs: number): boolean =>
  clean !== undefined && clean.last >= clean.first + gapMs;

/** Takes one more look into account; one that was incomplete or too early changes nothing. */
export const afterLook = (clean: Clean | undefined, cleanAt: number | undefined): Clean | undefined =>
  cleanAt === undefined ? clean : { first: clean?.first ?? cleanAt, last: cleanAt };

/** Doubts that a proof of absence can end: nothing the exchange ever said speaks for the order. */
const healable: ReadonlySet<string> = new Set(['unproven', 'forgotten', 'human']);

/** Whether an order that is quarantined may turn out to be absent. One that had an id was at the exchange. */
export const mayHeal = ({
  orderId,
  quarantineReason,
}: {
  readonly orderId: string | undefined;
  readonly quarantineReason: string | undefined;
}): boolean => orderId === undefined && quarantineReason !== undefined && healable.has(quarantineReason);
