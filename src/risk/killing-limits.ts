/**
 * Limits that kill beside the daily loss. A strategy is disabled until an operator resumes it when it enters too often, loses too often in a
 * row or is denied too often. All creation is killed when the equity falls too far from its highest.
 */

import {
  cut,
  minus,
  part,
  plus,
  type Rate,
  rateNumber,
  type Units,
  units,
  unitsNumber,
  unitsText,
} from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { movementOf } from '../domain/position.ts';
import { counted } from '../domain/words.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Limits } from './context.ts';
import type { KillingLimit } from './kill.ts';

/** Why a strategy is disabled: which limit kills, and the reason in words. */
export interface Disabling {
  readonly by: KillingLimit;
  readonly reason: string;
}

/** For how long entries and denials count, ms of the clock. */
const countedMs = 600_000;

/** Denials that are not the strategy's fault: under a kill, a pause, a halt or without fresh data every strategy is denied. */
const blameless = new Set(['killed', 'paused', 'halted', 'blocked', 'staleData', 'depthAge', 'move']);

interface CountedPosition {
  /** The portfolio's count of entries at the last fill. */
  entries: number;
  /** Closed profit less fees when the position was entered; undefined while flat. */
  enteredWith: Units | undefined;
}

interface Count {
  entries: number[];
  losses: number;
  denials: number[];
  /** By symbol. */
  readonly positions: Map<string, CountedPosition>;
}

/** What counts against a strategy: entries and denials of the last ten minutes, and losses in a row. */
export interface StrategyCount {
  readonly entries: number;
  readonly losses: number;
  readonly denials: number;
}

/** As it is kept over a restart. */
interface KeptCounts {
  readonly entries: readonly number[];
  readonly losses: number;
  readonly entered: Readonly<Record<string, string>>;
}

interface StrategyCountsOptions {
  /** Those in force now. */
  readonly limits: () => Limits;
  readonly portfolio: Portfolio;
  /** What an earlier run kept, JSON by strategy. */
  readonly kept: ReadonlyMap<string, string>;
  readonly keep: (strategy: string, json: string) => void;
}

/** Entries, losses and denials of each strategy. They survive a restart; a resume resets them. */
export class StrategyCounts {
  readonly #options: StrategyCountsOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: StrategyCountsOptions) {
    this.#options = options;
    for (const [strategy, json] of options.kept) this.#restore(strategy, JSON.parse(json) as KeptCounts);
  }

  /** Counts a fill that the portfolio has just booked; returns why its strategy must be disabled. */
  booked(fill: Fill): Disabling | undefined {
    const { strategy, symbol, time } = fill;
    const { portfolio } = this.#options;
    const limits = this.#options.limits();
    if (limits.maxEntries === undefined && limits.maxConsecutiveLosses === undefined) return undefined;
    const count = this.#of(strategy);
    const before = count.positions.get(symbol) ?? {
      entries: portfolio.entryNumber(strategy, symbol) - 1,
      enteredWith: undefined,
    };
    count.positions.set(symbol, before);
    const entries = portfolio.entryNumber(strategy, symbol);
    const { realised, fees } = portfolio.position(strategy, symbol);
    const closed = minus(realised, fees);
    const isFlat = portfolio.isFlat(strategy, symbol);
    const isEntry = entries !== before.entries && !isFlat;
    if (!isEntry && !isFlat) return undefined;
    if (before.enteredWith !== undefined) count.losses = closed < before.enteredWith ? count.losses + 1 : 0;
    if (isEntry) count.entries = [...count.entries.filter((at) => time - at < countedMs), time];
    before.entries = entries;
    // The fee of an entry belongs to its round trip.
    before.enteredWith = isFlat ? undefined : plus(closed, movementOf(fill, portfolio.instrument(symbol)).feeValue);
    this.#keep(strategy, count);
    return this.#tooMuch(count);
  }

  #tooMuch({ entries, losses }: Count): Disabling | undefined {
    const { maxEntries, maxConsecutiveLosses } = this.#options.limits();
    if (maxEntries !== undefined && entries.length >= maxEntries)
      return { by: 'entries', reason: `entered ${counted(entries.length, 'position')} within ten minutes` };
    if (maxConsecutiveLosses !== undefined && losses >= maxConsecutiveLosses)
      return { by: 'losses', reason: `lost ${losses} times in a row` };
    return undefined;
  }

  /** Counts a denial; returns why its strategy must be disabled. */
  denied(strategy: string, code: string, now: number): Disabling | undefined {
    const { maxDenials } = this.#options.limits();
    if (maxDenials === undefined || blameless.has(code)) return undefined;
    const count = this.#of(strategy);
    if (now - (count.denials[0] ?? now) >= countedMs)
      count.denials = count.denials.filter((at) => now - at < countedMs);
    count.denials.push(now);
    if (count.denials.length < maxDenials) return undefined;
    count.denials = [];
    return { by: 'denials', reason: `was refused ${maxDenials} times within ten minutes, at last by ${code}` };
  }

  /** As of a time, UTC ms. */
  now(strategy: string, time: number): StrategyCount {
    const count = this.#counts.get(strategy);
    const recent = (times: readonly number[] = []): number => times.filter((at) => time - at < countedMs).length;
    return { entries: recent(count?.entries), losses: count?.losses ?? 0, denials: recent(count?.denials) };
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
    const made: Count = { entries: [], losses: 0, denials: [], positions: new Map() };
    this.#counts.set(strategy, made);
    return made;
  }

  #keep(strategy: string, { entries, losses, positions }: Count): void {
    const entered: Record<string, string> = {};
    for (const [symbol, { enteredWith }] of positions)
      if (enteredWith !== undefined) entered[symbol] = unitsText(enteredWith);
    this.#options.keep(strategy, JSON.stringify({ entries, losses, entered } satisfies KeptCounts));
  }

  #restore(strategy: string, { entries, losses, entered }: KeptCounts): void {
    const { portfolio } = this.#options;
    const count = this.#of(strategy);
    count.entries = [...entries];
    count.losses = losses;
    for (const [symbol, closed] of Object.entries(entered))
      if (portfolio.instruments.has(symbol))
        count.positions.set(symbol, { entries: portfolio.entryNumber(strategy, symbol), enteredWith: units(closed) });
  }
}

const one = units('1');
/** An amount for messages: in cents, or with eight decimals below one, as in a run in BTC. */
export const shortText = (amount: Units): string => unitsText(cut(amount, amount < one ? 8 : 2));

/** A new highest is saved once it is higher by this fraction, not with every price. */
const rememberedStep = 0.0005;

/** The trailing loss limit: the fall of the equity from its highest since the last resume. */
export class Drawdown {
  /** The limit: a fraction of the highest equity. */
  limit: Rate;
  readonly #portfolio: Portfolio;
  readonly #remember: (json: string) => void;
  /** The highest profit: an allocation that is raised or lowered between two runs must not count as a gain or a loss. */
  #profit: Units | undefined;
  #remembered = Number.NaN;
  /** The highest equity as a number, for the quick comparison. */
  #peak = Number.NaN;
  #tripped = false;

  /** `tripped`: an earlier run killed for this, and nobody has resumed: it is not reported again. */
  constructor(
    limit: Rate,
    portfolio: Portfolio,
    { kept, tripped }: { readonly kept: string | undefined; readonly tripped: boolean },
    remember: (json: string) => void,
  ) {
    this.#tripped = tripped;
    this.limit = limit;
    this.#portfolio = portfolio;
    this.#remember = remember;
    if (kept !== undefined && kept !== 'null') this.#rise(units(JSON.parse(kept) as string));
  }

  /** Compares the equity; returns the reason once it has fallen too far. Nothing is judged while a held symbol has no price. */
  watch(): string | undefined {
    if (this.#tripped) return undefined;
    const estimate = this.#portfolio.equityEstimate();
    const { above, upTo } = this.calm;
    if (estimate <= upTo && estimate > above) return undefined;
    if (!this.#portfolio.isPriced()) return undefined;
    const allotted = this.#portfolio.allotted();
    const profit = minus(this.#portfolio.totalEquity(), allotted);
    if (this.#profit === undefined || profit > this.#profit) {
      this.#rise(profit);
      return undefined;
    }
    const peak = plus(allotted, this.#profit);
    const fall = minus(this.#profit, profit);
    const allowed = part(peak, this.limit, 'down');
    if (fall < allowed || allowed <= 0n) return undefined;
    this.#tripped = true;
    return `fell by ${shortText(fall)} from the highest equity of ${shortText(peak)}, the limit is ${shortText(allowed)}`;
  }

  /** While the estimated equity stays above the first and up to the second, `watch` would find nothing new. */
  get calm(): { readonly above: number; readonly upTo: number } {
    if (this.#tripped) return { above: Number.NEGATIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };
    const edge = this.#peak * (1 - rateNumber(this.limit));
    return { above: edge + Math.abs(edge) * 1e-9, upTo: this.#peak };
  }

  /** The fall from the highest equity, and the fall that kills; undefined before the highest is known. */
  now(): { readonly fall: Units; readonly allowed: Units } | undefined {
    if (this.#profit === undefined) return undefined;
    const allotted = this.#portfolio.allotted();
    const fall = minus(this.#profit, minus(this.#portfolio.totalEquity(), allotted));
    return { fall, allowed: part(plus(allotted, this.#profit), this.limit, 'down') };
  }

  #rise(profit: Units): void {
    this.#profit = profit;
    this.#peak = unitsNumber(plus(this.#portfolio.allotted(), profit));
    if (this.#peak < this.#remembered * (1 + rememberedStep)) return;
    this.#remembered = this.#peak;
    this.#remember(JSON.stringify(unitsText(profit)));
  }

  /** An amount was paid in or out: the profit is what it was. */
  moved(amount: Units): void {
    this.#peak += unitsNumber(amount);
  }

  /** The highest is what there is from now on. */
  beginAnew(): void {
    this.#tripped = false;
    this.#profit = undefined;
    this.#peak = Number.NaN;
    this.#remembered = Number.NaN;
    this.#remember('null');
  }
}
