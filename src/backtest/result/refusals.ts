/** Counts orders that a rule or the exchange refused, or that nothing filled. */
import { closeTime, type Interval } from '../../domain/interval.ts';
import { type Columns, rowAt } from '../../domain/market.ts';
import { type Account, type Intent, type Signal, sameSize, sizeValue } from '../../domain/order.ts';
import { denialText } from '../../domain/words.ts';
import type { Rules } from '../../fill/rules.ts';
import type { DenialEntry } from '../../journal/entries.ts';
import { ByPosition } from '../../portfolio/by-position.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import type { NewTargets } from '../../research/re-entry-lockout.ts';
import type { RefusedRow } from '../../research/summary.ts';

export const isShort = (signal: Signal): boolean => signal.kind === 'target' && sizeValue(signal.size) < 0;

interface Prices {
  readonly series: readonly {
    readonly symbol: string;
    readonly interval: Interval;
    readonly columns: Pick<Columns, 'openTime' | 'close'>;
  }[];
}

/** Whether the stop of a target lies beyond the price, so that it is hit at once. */
function isStoppedOut({ series }: Prices, { signal, symbol, at }: Event & { readonly signal: Signal }): boolean {
  if (signal.kind !== 'target' || typeof signal.stop !== 'number') return false;
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

/** Whether a signal repeats the target before it: then a closed position stays closed, and a stop beyond the price is an exit. */
const isRepeated = (before: Signal | undefined, signal: Signal): boolean =>
  before?.kind === 'target' && signal.kind === 'target' && sameSize(before.size, signal.size);

/** When each strategy changed its target at a symbol. */
export function newTargets(signals: Iterable<Event & { readonly signal: Signal }>): NewTargets {
  const known = new ByPosition<{ signal: Signal; readonly changes: { at: number; isFlat: boolean }[] }>();
  for (const { strategy, symbol, at, signal } of signals) {
    const before = known.get(strategy, symbol);
    if (before !== undefined && isRepeated(before.signal, signal)) before.signal = signal;
    else {
      const changes = before?.changes ?? [];
      changes.push({ at, isFlat: signal.kind === 'target' && sizeValue(signal.size) === 0 });
      known.set(strategy, symbol, { signal, changes });
    }
  }
  return (strategy, symbol) => known.get(strategy, symbol)?.changes ?? [];
}

/** When (UTC ms), and by whom. */
interface Event {
  readonly strategy: string;
  readonly symbol: string;
  readonly at: number;
}

interface Repeated {
  readonly times?: number;
  /** What was refused, for the first of its kind. */
  readonly exampleOf?: () => string;
}

export class Refusals {
  readonly #known = new Map<string, { -readonly [key in keyof RefusedRow]: RefusedRow[key] }>();
  /** The last of each strategy in each market. */
  readonly #signals = new ByPosition<Signal>();

  add(code: string, { strategy, symbol, at }: Event, { times = 1, exampleOf }: Repeated = {}): void {
    const key = keyOf({ code, strategy, symbol });
    const known = this.#known.get(key);
    if (known === undefined) {
      const example = exampleOf?.();
      this.#known.set(key, {
        ...{ code, strategy, symbol, times, firstAt: at },
        ...(example !== undefined && { example }),
      });
      return;
    }
    known.times += times;
    known.firstAt = Math.min(known.firstAt, at);
  }

  denied(entry: DenialEntry): void {
    const exampleOf = (): string => `${entry.draft}: ${denialText(entry).replace(/\.$/, '')}`;
    this.add(entry.code, entry, { exampleOf, times: 1 + (entry.repeated?.times ?? 0) });
  }

  /** Counts short targets on spot, which count as flat there, and targets whose stop is hit at once. */
  signal(account: Account, signal: Event & { readonly signal: Signal }, run: Prices): void {
    const before = this.#signals.get(signal.strategy, signal.symbol);
    this.#signals.set(signal.strategy, signal.symbol, signal.signal);
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

  list(): readonly RefusedRow[] {
    return sorted([...this.#known.values()]);
  }
}

/** By code, then by strategy and symbol. */
export const sorted = (all: readonly RefusedRow[]): readonly RefusedRow[] =>
  all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const keyOf = ({ code, strategy, symbol }: Pick<RefusedRow, 'code' | 'strategy' | 'symbol'>): string =>
  `${code} ${strategy} ${symbol}`;

/** The code of an order that is over and counts as refused; undefined where it does not. */
export function refusalOf({
  state,
  type,
  isUnfilled,
}: Pick<WorkingOrder, 'state'> & Pick<Intent, 'type'> & { readonly isUnfilled: boolean }): string | undefined {
  if (state === 'rejected') return state;
  return state === 'canceled' && type === 'MARKET' && isUnfilled ? 'unfilled' : undefined;
}
