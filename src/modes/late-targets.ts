/**
 * Take-profits of what was entered since a strategy was heard. A strategy says its wish again with each kline of its own, which may be a day
 * away: until then nothing would take its profit, while its stop is watched from the first fill on.
 */
import type { Signal } from '../domain/order.ts';
import { ByPlace } from '../portfolio/by-place.ts';
import type { Book } from './book.ts';

interface Place {
  readonly id: string;
  readonly symbol: string;
}

export class LateTargets {
  readonly #book: Pick<Book, 'planner' | 'portfolio'>;
  /** The positions whose take-profit was asked for: one that is refused is asked for again when the strategy says so. */
  readonly #asked = new ByPlace<string>();

  constructor(book: Pick<Book, 'planner' | 'portfolio'>) {
    this.#book = book;
  }

  /** The standing wish, where its next step is to let a take-profit rest that was not asked for since the position changed. */
  due({ id, symbol }: Place): Signal | undefined {
    const { planner, portfolio } = this.#book;
    const signal = planner.standing(id, symbol);
    if (signal?.want.kind !== 'target' || signal.want.takeProfit === undefined) return undefined;
    if (portfolio.isFlat(id, symbol) || portfolio.ordersOf(id, symbol).length > 0) return undefined;
    const position = `${portfolio.entries(id, symbol)} ${portfolio.position(id, symbol).base}`;
    if (this.#asked.get(id, symbol) === position) return undefined;
    const step = planner.plan(signal);
    if (step?.do !== 'create' || step.draft.purpose !== 'takeProfit') return undefined;
    this.#asked.set(id, symbol, position);
    return signal;
  }
}
