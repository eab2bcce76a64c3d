/**
 * What disables a strategy until a human says otherwise: entering too often, losing too often in a row, or being refused too
 * often. Counted from fills and verdicts; what was counted survives a restart, `sluice resume` begins anew.
 */
import { minus, plus, type Units, units, unitsText } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { movementOf } from '../domain/position.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Limits } from './context.ts';

/** Why a strategy is disabled: who kills, and the reason in words. */
export interface Disabling {
  readonly by: 'entries' | 'losses' | 'denials';
  readonly reason: string;
}

/** How far entries and refusals are looked back on, ms of the clock. */
export const throttleMs = 600_000;

/** Refusals that say nothing about the strategy: what is killed, halted or without fresh data is refused whoever asks. */
const blameless = new Set(['killed', 'halted', 'blocked', 'staleData', 'bookAge', 'move']);

interface Place {
  /** The portfolio's count of entries at the last look. */
  entries: number;
  /** Closed profit less fees when the position was entered; undefined while flat. */
  enteredWith: Units | undefined;
}

interface Count {
  entries: number[];
  losses: number;
  denials: number[];
  readonly places: Map<string, Place>;
}

/** As it is kept over a restart. */
interface Kept {
  readonly entries: readonly number[];
  readonly losses: number;
  readonly entered: Readonly<Record<string, string>>;
}

export interface ThrottleOptions {
  readonly limits: Limits;
  readonly portfolio: Portfolio;
  /** What an earlier run kept, JSON by strategy. */
  readonly kept: ReadonlyMap<string, string>;
  readonly keep: (strategy: string, json: string) => void;
}

export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: ThrottleOptions) {
    this.#options = options;
    for (const [strategy, json] of options.kept) this.#restore(strategy, JSON.parse(json) as Kept);
  }

  /** Counts a fill that the portfolio has just booked; says why its strategy must be disabled. */
  booked(fill: Fill): Disabling | undefined {
    const { strategy, symbol, time } = fill;
    const { portfolio, limits } = this.#options;
    if (limits.maxEntries === undefined && limits.maxStraightLosses === undefined) return undefined;
    const count = this.#of(strategy);
    const place = count.places.get(symbol) ?? {
      entries: portfolio.entries(strategy, symbol) - 1,
      enteredWith: undefined,
    };
    count.places.set(symbol, place);
    const entries = portfolio.entries(strategy, symbol);
    const { realised, fees } = portfolio.position(strategy, symbol);
    const closed = minus(realised, fees);
    const isFlat = portfolio.isFlat(strategy, symbol);
    const isEntry = entries !== place.entries && !isFlat;
    if (!isEntry && !isFlat) return undefined;
    if (place.enteredWith !== undefined) count.losses = closed < place.enteredWith ? count.losses + 1 : 0;
    if (isEntry) count.entries = [...count.entries.filter((at) => time - at < throttleMs), time];
    place.entries = entries;
    // What the entry cost belongs to what comes of it.
    place.enteredWith = isFlat ? undefined : plus(closed, movementOf(fill, portfolio.instrument(symbol)).feeValue);
    this.#keep(strategy, count);
    return this.#tooMuch(count);
  }

  #tooMuch({ entries, losses }: Count): Disabling | undefined {
    const { maxEntries, maxStraightLosses } = this.#options.limits;
    if (maxEntries !== undefined && entries.length >= maxEntries)
      return { by: 'entries', reason: `entered ${entries.length} positions within ten minutes` };
    if (maxStraightLosses !== undefined && losses >= maxStraightLosses)
      return { by: 'losses', reason: `lost ${losses} times in a row` };
    return undefined;
  }

  /** Counts a refusal by a rule; says why its strategy must be disabled. */
  denied(strategy: string, code: string, now: number): Disabling | undefined {
    const { maxDenials } = this.#options.limits;
    if (maxDenials === undefined || blameless.has(code)) return undefined;
    const count = this.#of(strategy);
    if (now - (count.denials[0] ?? now) >= throttleMs)
      count.denials = count.denials.filter((at) => now - at < throttleMs);
    count.denials.push(now);
    if (count.denials.length < maxDenials) return undefined;
    count.denials = [];
    return { by: 'denials', reason: `was refused ${maxDenials} times within ten minutes, at last by ${code}` };
  }

  /** Counts anew, for one strategy or all. */
  forget(strategy: string | undefined): void {
    for (const [id, count] of this.#counts) {
      if (strategy !== undefined && strategy !== id) continue;
      count.entries = [];
      count.denials = [];
      count.losses = 0;
      this.#keep(id, count);
    }
  }

  #of(strategy: string): Count {
    const known = this.#counts.get(strategy);
    if (known !== undefined) return known;
    const made: Count = { entries: [], losses: 0, denials: [], places: new Map() };
    this.#counts.set(strategy, made);
    return made;
  }

  #keep(strategy: string, { entries, losses, places }: Count): void {
    const entered: Record<string, string> = {};
    for (const [symbol, { enteredWith }] of places)
      if (enteredWith !== undefined) entered[symbol] = unitsText(enteredWith);
    this.#options.keep(strategy, JSON.stringify({ entries, losses, entered } satisfies Kept));
  }

  #restore(strategy: string, { entries, losses, entered }: Kept): void {
    const { portfolio } = this.#options;
    const count = this.#of(strategy);
    count.entries = [...entries];
    count.losses = losses;
    for (const [symbol, closed] of Object.entries(entered))
      if (portfolio.instruments.has(symbol))
        count.places.set(symbol, { entries: portfolio.entries(strategy, symbol), enteredWith: units(closed) });
  }
}
