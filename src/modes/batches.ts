/** Which orders leave together: several quotes of one symbol that a wish lacks at one moment (order-protocol §3.6). Off by default. */
import type { Signal } from '../domain/order.ts';
import type { Execution } from '../execution/desk.ts';
import { likenessOf, unlike } from '../execution/likeness.ts';
import type { Draft, Step } from '../portfolio/plan.ts';
import type { Planner } from '../portfolio/planner.ts';
import { mostInBatch } from '../venue/venue.ts';

/** An order that would be sent, and what was wished: its quantity can be a few lots less, so that nothing else looks like it. */
export interface Together {
  readonly draft: Draft;
  readonly wished: Draft;
}

/**
 * Gives the orders that leave with one: the others that the same wish lacks. Only by themselves where batches are not switched on,
 * where the venue takes none, and where anybody else was ever seen to trade on the account: a batch can be told from others'
 * orders only by what it is.
 */
export function togetherWith(
  execution: Execution,
  planner: Planner,
  enabled: boolean,
): (signal: Signal, refused: readonly Draft[], first: Draft) => readonly Together[] {
  const { foreign, notice, orders } = execution;
  let told = false;
  return (signal, refused, first) => {
    const alone = [{ draft: first, wished: first }];
    if (!enabled || orders.batches === undefined || likenessOf(first) === undefined) return alone;
    if (foreign.size > 0) {
      if (!told)
        notice({
          level: 'warn',
          text: 'somebody else has orders on this account: no batches are created, orders leave one by one',
        });
      told = true;
      return alone;
    }
    const wished = [first];
    const next = (): Step | undefined => planner.plan(signal, [...refused, ...wished]);
    for (let step = next(); step?.do === 'create' && wished.length < mostInBatch; step = next())
      wished.push(step.draft);
    const some = wished.length === 1 ? [] : allUnlike(execution, wished);
    return some.length > 1 ? some : alone;
  };
}

/** Those that nothing of ours looks like, not even what is kept in mind as absent; the others wait for their own turn. */
function allUnlike({ portfolio, givenUp }: Execution, wished: readonly Draft[]): readonly Together[] {
  const taken = new Set<string>();
  for (const { intent } of [...portfolio.orders(), ...givenUp.values()]) {
    const likeness = likenessOf(intent);
    if (likeness !== undefined) taken.add(likeness);
  }
  return wished.flatMap((wish) => {
    const draft = unlike(wish, taken, portfolio.instrument(wish.symbol));
    const likeness = draft === undefined ? undefined : likenessOf(draft);
    if (draft === undefined || likeness === undefined) return [];
    taken.add(likeness);
    return [{ draft, wished: wish }];
  });
}
