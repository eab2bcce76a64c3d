/** What a run wished for and did not get: orders that a rule or the exchange refused, or that nothing filled. */
import type { Account, Want } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';

/** Why, how often, and when first (UTC ms). */
export interface Refused {
  /** A risk rule's name, `rejected` by the exchange, `unfilled`: a MARKET order for which there was no money or no volume, or `short` on spot. */
  readonly code: string;
  readonly times: number;
  readonly firstAt: number;
}

/** Whether a wish is to be short. */
export const isShort = (want: Want): boolean =>
  want.kind === 'target' && Object.values(want.goal).some((size) => size < 0);

/** Counts refusals. */
export class Refusals {
  readonly #byCode = new Map<string, { times: number; firstAt: number }>();

  add(code: string, at: number): void {
    const known = this.#byCode.get(code);
    if (known === undefined) {
      this.#byCode.set(code, { times: 1, firstAt: at });
      return;
    }
    known.times++;
    known.firstAt = Math.min(known.firstAt, at);
  }

  /** A wish to be short, of which spot makes being flat. */
  wish(account: Account, want: Want, at: number): void {
    if (account === 'spot' && isShort(want)) this.add('short', at);
  }

  /** By code. */
  list(): readonly Refused[] {
    return [...this.#byCode]
      .map(([code, counts]) => ({ code, ...counts }))
      .toSorted((a, b) => (a.code < b.code ? -1 : 1));
  }
}

/** Those of several runs as one. */
export const refusedTogether = (all: readonly Refused[]): readonly Refused[] =>
  [...Map.groupBy(all, ({ code }) => code)]
    .map(([code, some]) => ({
      code,
      times: some.reduce((sum, { times }) => sum + times, 0),
      firstAt: Math.min(...some.map(({ firstAt }) => firstAt)),
    }))
    .toSorted((a, b) => (a.code < b.code ? -1 : 1));

/** Why an order that is over counts as refused; undefined where it does not. */
export function refusalOf({
  intent,
  filled,
  state,
}: Pick<WorkingOrder, 'intent' | 'filled' | 'state'>): string | undefined {
  if (state === 'rejected') return state;
  return state === 'canceled' && intent.type === 'MARKET' && filled === 0n ? 'unfilled' : undefined;
}
