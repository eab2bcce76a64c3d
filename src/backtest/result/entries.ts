/** Counts the entries that strategies asked for, and those denied or reduced by a rule or a lack of money: what was not bought is missing in the result. */
import { type Intent, type Leg, type Size, sameSize } from '../../domain/order.ts';
import { ByPosition } from '../../portfolio/by-position.ts';
import type { Judgement, OrderDraft } from '../../portfolio/plan.ts';
import type { EntryLosses } from '../../research/entry-losses.ts';
import type { PaperListener } from '../../venue/paper/account.ts';

/** The entry of a target. */
interface Entry {
  size: Size | undefined;
  /** Its orders so far: none, only denied ones by this rule, at least one that was sent, or that filled. */
  state: 'none' | 'sent' | 'filled' | { readonly deniedBy: string };
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
    if (entry === undefined || entry.state === 'sent' || entry.state === 'filled') return;
    if (entry.state === 'none') this.#asked++;
    else if (judged.kind === 'denied') return;
    else this.#of(entry.state.deniedBy).denied--;
    entry.state = judged.kind === 'denied' ? { deniedBy: judged.code } : 'sent';
    if (judged.kind === 'denied') this.#of(judged.code).denied++;
    else if (judged.kind === 'reduced') this.#of(judged.draft.reduced?.by.code ?? '').reduced++;
  }

  /** Sees what becomes of sent orders, before another listener. An entry that nothing paid for counts as denied until an order of it fills. */
  listening(next: PaperListener): PaperListener {
    return {
      fill: (trade, intent) => {
        const entry = this.#sent(intent);
        if (entry !== undefined) entry.state = 'filled';
        next.fill(trade, intent);
      },
      end: (report, intent) => next.end(report, intent),
      unpaid: (intent) => {
        const entry = this.#sent(intent);
        if (entry === undefined) return;
        entry.state = { deniedBy: 'money' };
        this.#of('money').denied++;
      },
    };
  }

  #sent({ purpose, strategy, symbol }: Intent): Entry | undefined {
    const entry = purpose === 'enter' ? this.#entries.get(strategy, symbol) : undefined;
    return entry?.state === 'sent' ? entry : undefined;
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
