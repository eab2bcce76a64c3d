/**
 * Which orders leave at one moment, and how they are kept apart on an account where nobody else trades: one, or
 * several quotes of one symbol in one request, which is off by default.
 */
import type { Decision } from '../domain/order.ts';
import type { Execution } from '../execution/context.ts';
import { likenessOf, unlike } from '../execution/reconcile/match-orders.ts';
import { takenLikenesses } from '../execution/reconcile/orders-without-id.ts';
import type { OrderDraft, Step } from '../portfolio/plan.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Sendable } from '../trader.ts';
import { mostInBatch } from '../venue/venue.ts';

/**
 * Gives the orders that leave with one: the others that the same decision needs. Only by themselves where batches are not switched on,
 * where the venue takes none, and where anybody else was ever seen to trade on the account: a batch can be told from others'
 * orders only by what it is.
 */
export function togetherWith(
  execution: Execution,
  planner: Planner,
  enabled: boolean,
): (decision: Decision, refused: readonly OrderDraft[], first: OrderDraft) => readonly Sendable[] {
  const { dedicated, foreign, notice, orders, portfolio } = execution;
  let isReported = false;
  /** An order that cannot be made distinct leaves as it is: if its outcome is unknown then, it is quarantined. */
  const alone = (planned: OrderDraft): readonly Sendable[] => {
    const at = portfolio.instrument(planned.symbol);
    const draft = dedicated ? unlike(planned, takenLikenesses(execution, planned.symbol), at) : undefined;
    return [{ draft: draft ?? planned, planned }];
  };
  return (decision, refused, first) => {
    if (!enabled || orders.batches === undefined || first.type === 'MARKET') return alone(first);
    if (foreign.size > 0) {
      if (!isReported)
        notice({
          level: 'warn',
          text: 'somebody else has orders on this account: no batches are created, orders leave one by one',
        });
      isReported = true;
      return alone(first);
    }
    const planned = [first];
    const next = (): Step | undefined => planner.plan(decision, [...refused, ...planned]);
    for (
      let step = next();
      step?.do === 'create' && step.draft.type === 'LIMIT' && planned.length < mostInBatch;
      step = next()
    )
      planned.push(step.draft);
    const some = planned.length === 1 ? [] : allUnlike(execution, planned);
    return some.length > 1 ? some : alone(first);
  };
}

/** Those that nothing of ours looks like, not even what is kept in mind as absent; the others wait for their own turn. */
function allUnlike(execution: Execution, drafts: readonly OrderDraft[]): readonly Sendable[] {
  const taken = takenLikenesses(execution, drafts[0]?.symbol ?? '');
  // Of several answers at once it must be plain which order each is about.
  for (const { intent } of execution.portfolio.orders()) taken.add(likenessOf(intent) ?? '');
  return drafts.flatMap((planned) => {
    const draft = unlike(planned, taken, execution.portfolio.instrument(planned.symbol));
    const likeness = draft === undefined ? undefined : likenessOf(draft);
    if (draft === undefined || likeness === undefined) return [];
    taken.add(likeness);
    return [{ draft, planned }];
  });
}
