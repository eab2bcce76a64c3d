/** What a run wished for and did not get: orders that a rule or the exchange refused, or that nothing filled. */
import { rowAt } from '../../data/klines.ts';
import { closeTime, type Interval } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { type Account, type Intent, type Signal, sameSize, sizeValue } from '../../domain/order.ts';
import { denialText } from '../../domain/words.ts';
import type { Rules } from '../../fill/rules.ts';
import type { DenialEntry } from '../../journal/entries.ts';
import { ByPosition } from '../../portfolio/by-position.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { NewTargets } from '../../research/re-entry-lockout.ts';

/** Why, whose, how often, and when first (UTC ms). */
export interface Refused {
  /**
   * A risk rule's name, `rejected` by the exchange, `unfilled`: a MARKET order for which there was no money or no volume, `waiting`: one that
   * nothing had filled at the end, `short` on spot, or `stop`: one on the wrong side of the price, which leaves at once.
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
export const isShort = (signal: Signal): boolean => signal.kind === 'target' && sizeValue(signal.size) < 0;

/** The klines of a run. */
interface Prices {
  readonly series: readonly {
    readonly symbol: string;
    readonly interval: Interval;
    readonly columns: Pick<Columns, 'openTime' | 'close'>;
  }[];
}

/** Whether a wish has its stop where the price is already. */
function isStoppedOut({ series }: Prices, { signal, symbol, at }: Whose & { readonly signal: Signal }): boolean {
  if (signal.kind !== 'target' || signal.stop === undefined) return false;
  const size = sizeValue(signal.size);
  const price = size === 0 ? undefined : closeAt(series, symbol, at);
  return price !== undefined && (size > 0 ? signal.stop >= price : signal.stop <= price);
}

/** The close of a symbol's kline that closes at UTC ms; undefined where none does. */
function closeAt(series: Prices['series'], symbol: string, at: number): number | undefined {
  const own = series.find((one) => one.symbol === symbol);
  if (own === undefined) return undefined;
  const { interval, columns } = own;
  const row = rowAt(columns.openTime, at) - 1;
  const opens = columns.openTime[row];
  return opens !== undefined && closeTime(interval, opens) === at ? columns.close[row] : undefined;
}

/** Whether a signal has the goal of the one before: what a stop has closed stays closed then, and a stop that moves beyond the price is an exit. */
const isRepeated = (before: Signal | undefined, signal: Signal): boolean =>
  before?.kind === 'target' && signal.kind === 'target' && sameSize(before.size, signal.size);

/** When each strategy said another goal at a symbol than before. */
export function newTargets(signals: Iterable<Whose & { readonly signal: Signal }>): NewTargets {
  const known = new ByPosition<{ signal: Signal; readonly said: { at: number; isNothing: boolean }[] }>();
  for (const { strategy, symbol, at, signal } of signals) {
    const before = known.get(strategy, symbol);
    if (before !== undefined && isRepeated(before.signal, signal)) before.signal = signal;
    else {
      const said = before?.said ?? [];
      said.push({ at, isNothing: signal.kind === 'target' && sizeValue(signal.size) === 0 });
      known.set(strategy, symbol, { signal, said });
    }
  }
  return (strategy, symbol) => known.get(strategy, symbol)?.said ?? [];
}

/** Of whom, and when (UTC ms). */
interface Whose {
  readonly strategy: string;
  readonly symbol: string;
  readonly at: number;
}

/** Counts refusals. */
export class Refusals {
  readonly #known = new Map<string, { -readonly [key in keyof Refused]: Refused[key] }>();
  /** The last of each strategy. */
  readonly #wishes = new Map<string, Signal>();

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
    this.add(entry.code, entry, () => `${entry.draft}: ${denialText(entry).replace(/\.$/, '')}`);
  }

  /** A wish to be short, of which spot makes being flat; and one whose stop is hit as soon as anything is held. */
  wish(account: Account, signal: Whose & { readonly signal: Signal }, run: Prices): void {
    const before = this.#wishes.get(signal.strategy);
    this.#wishes.set(signal.strategy, signal.signal);
    if (account === 'spot' && isShort(signal.signal)) this.add('short', signal);
    else if (!isRepeated(before, signal.signal) && isStoppedOut(run, signal)) this.add('stop', signal);
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
