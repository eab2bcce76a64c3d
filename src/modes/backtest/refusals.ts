/** What a run wished for and did not get: orders that a rule or the exchange refused, or that nothing filled. */
import type { Account, Want } from '../../domain/order.ts';
import { grouped } from '../../ops/words.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { momentText } from '../../report/figures.ts';

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

/** What to do about the commonest. */
const hints: Readonly<Record<string, string>> = {
  belowMinimum: 'wished for, and too small for the instrument: nothing was sent',
  allocation: 'asked for more than it has: more cash, or a smaller goal',
  holdings: 'sold more than it holds',
  minimum: 'below the least that the instrument takes',
  orderValue: 'above risk.maxOrderValue',
  position: 'above risk.maxPosition',
  rejected: 'too small for the instrument, or not paid for',
  short: 'wished to be short, which spot cannot be: taken for flat; account: margin can',
  unfilled: 'at market without the money for price and fee, or without volume',
};

/** `12: allocation 10 (…), rejected 2 (…); the first 2020-03-12 08:00 UTC`. */
export function refusedText(refused: readonly Refused[]): string {
  const all = refused.reduce((sum, { times }) => sum + times, 0);
  const parts = refused
    .toSorted((a, b) => b.times - a.times)
    .map(({ code, times }) => {
      const hint = hints[code];
      return `${code} ${grouped(times)}${hint === undefined ? '' : ` (${hint})`}`;
    });
  return `${grouped(all)}: ${parts.join(', ')}; the first ${momentText(Math.min(...refused.map(({ firstAt }) => firstAt)))} UTC`;
}

/** Why an order that is over counts as refused; undefined where it does not. */
export function refusalOf({
  intent,
  filled,
  state,
}: Pick<WorkingOrder, 'intent' | 'filled' | 'state'>): string | undefined {
  if (state === 'rejected') return state;
  return state === 'canceled' && intent.type === 'MARKET' && filled === 0n ? 'unfilled' : undefined;
}
