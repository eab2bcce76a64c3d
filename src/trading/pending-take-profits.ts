/**
 * Take-profits of entries since the last signal of a strategy. Its next kline may be a day away. Until then no take-profit would rest,
 * while the stop is watched from the first fill on.
 */
import type { Leg, Signal } from '../domain/order.ts';
import { ByPosition } from '../portfolio/by-position.ts';
import type { TradingComponents } from './components.ts';
import type { TradedSymbol } from './lanes.ts';

interface Asked {
  readonly signal: Signal;
  readonly position: string;
  readonly times: number;
  readonly nextAt: number;
}

const firstWaitMs = 2_000;
const maxWaitMs = 600_000;

/**
 * Pause after so many refusals, ms. An unknown price refuses it for a moment; longer refusals count against the strategy each time
 * (`risk.maxDenials`).
 */
export const waitMs = (times: number): number => Math.min(firstWaitMs * 8 ** (times - 1), maxWaitMs);

export class PendingTakeProfits {
  readonly #book: Pick<TradingComponents, 'planner' | 'portfolio'>;
  readonly #waitMs: (times: number) => number;
  readonly #asked = new ByPosition<Asked>();

  /** `wait`: the pause in ms of the clock. */
  constructor(book: Pick<TradingComponents, 'planner' | 'portfolio'>, wait = waitMs) {
    this.#book = book;
    this.#waitMs = wait;
  }

  /** The standing leg whose next step at UTC ms `now` is a take-profit order. */
  due({ id, symbol }: TradedSymbol, now: number): Leg | undefined {
    const { planner, portfolio } = this.#book;
    const leg = planner.standing(id, symbol);
    if (leg?.signal.kind !== 'target' || leg.signal.takeProfit === undefined) return undefined;
    if (portfolio.isFlat(id, symbol) || planner.settled(id, symbol) !== undefined) return undefined;
    const position = `${portfolio.entryNumber(id, symbol)} ${portfolio.position(id, symbol).base}`;
    const asked = this.#asked.get(id, symbol);
    const { signal } = leg;
    const before = asked?.signal === signal && asked.position === position ? asked : undefined;
    if (before !== undefined && now < before.nextAt) return undefined;
    const step = planner.plan({ legs: [leg] });
    if (step?.do !== 'create' || step.draft.purpose !== 'takeProfit') return undefined;
    const times = (before?.times ?? 0) + 1;
    this.#asked.set(id, symbol, { signal, position, times, nextAt: now + this.#waitMs(times) });
    return { ...leg, at: now };
  }

  /** A kill or halt cancels resting orders: they are placed again when it is over. */
  forget({ id, symbol }: TradedSymbol): void {
    this.#asked.delete(id, symbol);
  }
}
