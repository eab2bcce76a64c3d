/**
 * Take-profits of what was entered since a strategy was heard. A strategy says its wish again with each kline of its own, which may be a day
 * away: until then nothing would take its profit, while its stop is watched from the first fill on.
 */
import type { Signal, Want } from '../domain/order.ts';
import { ByPosition } from '../portfolio/by-position.ts';
import type { Book } from './components.ts';

interface Place {
  readonly id: string;
  readonly symbol: string;
}

interface Asked {
  /** What its strategy said last. */
  readonly want: Want;
  /** Which position it was. */
  readonly position: string;
  readonly times: number;
  readonly nextAt: number;
}

const firstWaitMs = 2_000;
const mostWaitMs = 600_000;

/**
 * How long one that was asked for so many times and does not rest is let be, ms. A price that is not known yet refuses it for a moment; what is
 * refused for longer counts against its strategy each time (`risk.maxDenials`).
 */
export const waitMs = (times: number): number => Math.min(firstWaitMs * 8 ** (times - 1), mostWaitMs);

export class PendingTakeProfits {
  readonly #book: Pick<Book, 'planner' | 'portfolio'>;
  readonly #waitMs: (times: number) => number;
  readonly #asked = new ByPosition<Asked>();

  /** `wait`: the same in ms of the clock that moments are told by. */
  constructor(book: Pick<Book, 'planner' | 'portfolio'>, wait = waitMs) {
    this.#book = book;
    this.#waitMs = wait;
  }

  /** The standing wish, where its next step at UTC ms `now` is to let a take-profit rest. */
  due({ id, symbol }: Place, now: number): Signal | undefined {
    const { planner, portfolio } = this.#book;
    const signal = planner.standing(id, symbol);
    if (signal?.want.kind !== 'target' || signal.want.takeProfit === undefined) return undefined;
    if (portfolio.isFlat(id, symbol) || portfolio.ordersOf(id, symbol).length > 0) return undefined;
    const position = `${portfolio.entries(id, symbol)} ${portfolio.position(id, symbol).base}`;
    const asked = this.#asked.get(id, symbol);
    const { want } = signal;
    const before = asked?.want === want && asked.position === position ? asked : undefined;
    if (before !== undefined && now < before.nextAt) return undefined;
    const step = planner.plan(signal);
    if (step?.do !== 'create' || step.draft.purpose !== 'takeProfit') return undefined;
    const times = (before?.times ?? 0) + 1;
    this.#asked.set(id, symbol, { want, position, times, nextAt: now + this.#waitMs(times) });
    return { ...signal, at: now };
  }

  /** What forbids orders at the moment takes those that rest away: they are asked for again when it is over. */
  forget({ id, symbol }: Place): void {
    this.#asked.delete(id, symbol);
  }
}
