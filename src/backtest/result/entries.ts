/** Counts the entries that strategies asked for, and those that a rule denied or reduced: what was not bought is missing in the result. */
import { type Leg, type Size, sameSize } from '../../domain/order.ts';
import { ByPosition } from '../../portfolio/by-position.ts';
import type { Judgement, OrderDraft } from '../../portfolio/plan.ts';
import type { EntryLosses } from '../../research/entry-losses.ts';

/** The entry of a target. */
interface Entry {
  size: Size | undefined;
  /** Its orders so far: none, only denied ones by this rule, or at least one that was sent. */
  state: 'none' | 'sent' | { readonly deniedBy: string };
}

export class EntryCounts {
  readonly #entries = new ByPosition<Entry>();
  readonly #rules = new Map<string, { denied: number; reduced: number }>();
  #asked = 0;

  /** A strategy emitted a signal: another size is another entry. */
  changed({ strategy, symbol, signal }: Leg): void {
    const size = signal.kind === 'target' ? signal.size : undefined;
    const entry = this.#entries.get(strategy, symbol);
    if (entry === undefined) this.#entries.set(strategy, symbol, { size, state: 'none' });
    else if (!sameSize(entry.size, size)) [entry.size, entry.state] = [size, 'none'];
  }

  /** An order was judged. A target whose order is denied at each kline is one entry, and not denied once an order of it was sent. */
  judged({ purpose, strategy, symbol }: OrderDraft, judged: Judgement): void {
    const entry = purpose === 'enter' ? this.#entries.get(strategy, symbol) : undefined;
    if (entry === undefined || entry.state === 'sent') return;
    if (entry.state === 'none') this.#asked++;
    else if (judged.kind === 'denied') return;
    else this.#of(entry.state.deniedBy).denied--;
    entry.state = judged.kind === 'denied' ? { deniedBy: judged.code } : 'sent';
    if (judged.kind === 'denied') this.#of(judged.code).denied++;
    else if (judged.kind === 'reduced') this.#of(judged.draft.reduced?.by.code ?? '').reduced++;
  }

  #of(code: string): { denied: number; reduced: number } {
    const known = this.#rules.get(code) ?? { denied: 0, reduced: 0 };
    this.#rules.set(code, known);
    return known;
  }

  list(): EntryLosses {
    const rules = [...this.#rules].map(([code, counts]) => ({ code, ...counts }));
    return { asked: this.#asked, rules: rules.filter(({ denied, reduced }) => denied + reduced > 0) };
  }
}
