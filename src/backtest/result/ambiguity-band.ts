/** The range of the final equity from ambiguous klines, and the impact of large orders. */
import { absolute, minus, notional, noUnits, plus, ticks, type Units } from '../../domain/money.ts';
import { couldBeBetterBy, couldBeWorseBy } from '../../fill/ambiguity.ts';
import type { PaperListener } from '../../venue/paper/account.ts';
import type { PaperTrade } from '../../venue/paper/records.ts';
import type { ImpactSums, RunInput, RunResult } from '../run.ts';

export interface Band {
  readonly listener: PaperListener;
  /** In quote. */
  sums(): Pick<RunResult, 'couldBeBetterBy' | 'couldBeWorseBy' | 'impact'>;
}

/** Sums over a run: by how much ambiguous klines could be better, or under a chosen path worse. */
export function bandOf(input: RunInput): Band {
  let better: Units = noUnits;
  let worse: Units = noUnits;
  let impact: ImpactSums | undefined;
  return {
    listener: {
      fill(made, intent) {
        const { dayShare, unmoved } = made.evidence;
        if (dayShare !== undefined || unmoved !== undefined) impact = withFill(impact, made, input);
        if (made.bestPrice === undefined && made.worstPrice === undefined) return;
        const at = input.instruments.get(made.symbol);
        if (at === undefined) return;
        const fill = { ...made, order: intent };
        better = plus(better, couldBeBetterBy(fill, input.fees, at));
        worse = plus(worse, couldBeWorseBy(fill, input.fees, at));
      },
      end: () => {},
    },
    sums: () => ({ couldBeBetterBy: better, couldBeWorseBy: worse, ...(impact !== undefined && { impact }) }),
  };
}

/** A taking order fills once, so each such fill is an order. */
function withFill(
  sums: ImpactSums = { orders: 0, cost: noUnits, largestShare: 0, unknownOrders: 0, largestUnknownShare: 0 },
  { symbol, price, quantity, evidence: { dayShare = 0, unmoved } }: PaperTrade,
  { instruments }: RunInput,
): ImpactSums {
  const at = instruments.get(symbol);
  if (unmoved === undefined || at === undefined)
    return {
      ...sums,
      unknownOrders: sums.unknownOrders + 1,
      largestUnknownShare: Math.max(sums.largestUnknownShare, dayShare),
    };
  const paid = absolute(minus(notional(price, quantity, at), notional(ticks(unmoved, at), quantity, at)));
  const { orders: moved, cost, largestShare } = sums;
  return { ...sums, orders: moved + 1, cost: plus(cost, paid), largestShare: Math.max(largestShare, dayShare) };
}

/** Of several runs; `worthOf` converts a cost of one of them to the currency of the equity. */
export function impactTogether(
  all: readonly { readonly impact: ImpactSums | undefined; readonly worthOf: (cost: Units) => Units }[],
): Pick<RunResult, 'impact'> {
  let sum: ImpactSums | undefined;
  for (const { impact, worthOf } of all) {
    if (impact === undefined) continue;
    const { orders: moved, cost, largestShare, unknownOrders: unknown, largestUnknownShare } = impact;
    sum = {
      orders: moved + (sum?.orders ?? 0),
      cost: plus(worthOf(cost), sum?.cost ?? noUnits),
      largestShare: Math.max(largestShare, sum?.largestShare ?? 0),
      unknownOrders: unknown + (sum?.unknownOrders ?? 0),
      largestUnknownShare: Math.max(largestUnknownShare, sum?.largestUnknownShare ?? 0),
    };
  }
  return sum === undefined ? {} : { impact: sum };
}
