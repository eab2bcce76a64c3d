/** What a run wished for and did not get: orders that a rule or the exchange refused, or that nothing filled. */
import type { Account, Intent, Want } from '../../domain/order.ts';
import type { Rules } from '../../fill/rules.ts';
import type { DenialEntry } from '../../journal/entries.ts';
import { denialText } from '../../ops/words.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';

/** Why, whose, how often, and when first (UTC ms). */
export interface Refused {
  /**
   * A risk rule's name, `rejected` by the exchange, `unfilled`: a MARKET order for which there was no money or no volume, `waiting`: one that
   * nothing had filled at the end, or `short` on spot.
   */
  readonly code: string;
  readonly strategy: string;
  readonly symbol: string;
  readonly times: number;
  readonly firstAt: number;
  /** What a rule refused first, and by which numbers. */
  readonly example?: string;
}

/** Whether a wish is to be short. */
export const isShort = (want: Want): boolean =>
  want.kind === 'target' && Object.values(want.goal).some((size) => size < 0);

/** Of whom, and when (UTC ms). */
interface Whose {
  readonly strategy: string;
  readonly symbol: string;
  readonly at: number;
}

/** Counts refusals. */
export class Refusals {
  readonly #known = new Map<string, { -readonly [key in keyof Refused]: Refused[key] }>();

  add(code: string, { strategy, symbol, at }: Whose, exampleOf?: () => string): void {
    const key = keyOf({ code, strategy, symbol });
    const known = this.#known.get(key);
    if (known === undefined) {
      const example = exampleOf?.();
      this.#known.set(key, {
        ...{ code, strategy, symbol, times: 1, firstAt: at },
        ...(example !== undefined && { example }),
      });
      return;
    }
    known.times++;
    known.firstAt = Math.min(known.firstAt, at);
  }

  denied(entry: DenialEntry): void {
    this.add(entry.code, entry, () => `${entry.wanted}: ${denialText(entry).replace(/\.$/, '')}`);
  }

  /** A wish to be short, of which spot makes being flat. */
  wish(account: Account, { want, ...whose }: Whose & { readonly want: Want }): void {
    if (account === 'spot' && isShort(want)) this.add('short', whose);
  }

  /** A MARKET order that is open when the run ends, UTC ms, unless it had not arrived yet. */
  open(
    { type, strategy, symbol, createdAt }: Pick<Intent, 'type' | 'strategy' | 'symbol' | 'createdAt'>,
    end: number,
    { feedLatencyMs, entryLatencyMs }: Pick<Rules, 'feedLatencyMs' | 'entryLatencyMs'>,
  ): void {
    if (type === 'MARKET' && createdAt + feedLatencyMs + entryLatencyMs < end)
      this.add('waiting', { strategy, symbol, at: createdAt });
  }

  list(): readonly Refused[] {
    return sorted([...this.#known.values()]);
  }
}

/** By code, then by whose they are: also those of several runs, which have no strategy in common. */
export const sorted = (all: readonly Refused[]): readonly Refused[] =>
  all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const keyOf = ({ code, strategy, symbol }: Pick<Refused, 'code' | 'strategy' | 'symbol'>): string =>
  `${code} ${strategy} ${symbol}`;

/** Why an order that is over counts as refused; undefined where it does not. */
export function refusalOf({
  intent,
  filled,
  state,
}: Pick<WorkingOrder, 'intent' | 'filled' | 'state'>): string | undefined {
  if (state === 'rejected') return state;
  return state === 'canceled' && intent.type === 'MARKET' && filled === 0n ? 'unfilled' : undefined;
}
