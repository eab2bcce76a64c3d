/** The gate between a plan and an order: the rules, what they look back on, and the daily loss limit. */
import type { Clock } from '../clock/clock.ts';
import { cut, minus, noUnits, part, rateNumber, type Units, units, unitsNumber, unitsText } from '../domain/money.ts';
import type { Denial, Verdict } from '../domain/order.ts';
import type { Draft } from '../portfolio/plan.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { type Kill, KillSwitch } from './kill.ts';
import { type Created, firstDenial, type Limits, type Scene, weighed } from './rules.ts';

const dayMs = 86_400_000;
const one = units('1');
/** An amount for the eye: whole cents, or eight decimals of what is worth less than one, as in a run that counts in BTC. */
const shortText = (amount: Units): string => unitsText(cut(amount, amount < one ? 8 : 2));

export interface RiskOptions {
  readonly limits: Limits;
  readonly portfolio: Portfolio;
  readonly clock: Clock;
  readonly kills?: readonly Kill[];
  /** The equity a UTC day began with, when a journal knows it. */
  readonly dayStart?: { readonly day: number; readonly equity: Units };
}

export class Risk {
  readonly limits: Limits;
  readonly switch: KillSwitch;
  readonly #portfolio: Portfolio;
  readonly #clock: Clock;
  readonly #maxDataAgeMs: number;
  readonly #keepMs: number;
  #recent: Created[] = [];
  #day: number;
  #dayEquity: Units;
  #tripped = false;
  /** An estimated equity above this cannot have passed the limit. */
  #clearlyAbove = Number.NaN;

  constructor({ limits, portfolio, clock, kills, dayStart }: RiskOptions) {
    this.limits = limits;
    this.switch = new KillSwitch(kills);
    this.#portfolio = portfolio;
    this.#clock = clock;
    this.#maxDataAgeMs = clock.machine(limits.maxDataAgeMs);
    this.#keepMs = Math.max(1_000, limits.duplicateMs);
    this.#day = dayStart?.day ?? Number.NaN;
    this.#dayEquity = noUnits;
    this.#base(dayStart?.equity ?? portfolio.totalEquity());
    this.#tripped = this.#isKilledToday();
  }

  /** Judges an order that is about to be created. */
  judge(draft: Draft): Verdict {
    const now = this.#clock.now();
    this.#forget(now);
    const denial = firstDenial(this.#scene(draft, now));
    return denial === undefined ? { kind: 'approved' } : { kind: 'denied', ...denial };
  }

  /** The numbers of an approval; to be asked before the order counts as exposure itself. */
  weigh(draft: Draft): Denial['facts'] {
    return weighed(this.#scene(draft, this.#clock.now()));
  }

  #scene(draft: Draft, now: number): Scene {
    return {
      draft,
      portfolio: this.#portfolio,
      limits: this.limits,
      now,
      maxDataAgeMs: this.#maxDataAgeMs,
      kill: this.switch.of(draft.strategy),
      recent: this.#recent,
    };
  }

  /** Counts an order that is being created. */
  created(draft: Draft): void {
    this.#recent.push({ at: this.#clock.now(), draft });
  }

  /** The equity this UTC day began with; before it is known its day is not a number. */
  get dayStart(): { readonly day: number; readonly equity: Units } {
    return { day: this.#day, equity: this.#dayEquity };
  }

  /** An equity that is clearly above the daily loss limit, for a loop that need not ask while it is. */
  get safeEquity(): number {
    return this.#clearlyAbove;
  }

  /**
   * Looks at the equity once prices moved. Returns the kill when the daily loss limit has just been passed; the caller
   * writes it down and cancels what rests. A new UTC day starts anew but lifts nothing. Nothing is judged while a held
   * symbol has no price yet, as after a restart: without it an open profit would look like a loss.
   */
  watchLoss(): Kill | undefined {
    const now = this.#clock.now();
    if (!(now - this.#day < dayMs)) {
      if (!this.#portfolio.isPriced()) return undefined;
      this.#beginDay(Math.floor(now / dayMs) * dayMs);
    }
    if (this.#tripped || this.#portfolio.equityEstimate() > this.#clearlyAbove) return undefined;
    if (!this.#portfolio.isPriced()) return undefined;
    const most = part(this.#dayEquity, this.limits.maxDailyLoss, 'down');
    const loss = minus(this.#dayEquity, this.#portfolio.totalEquity());
    if (loss < most || most <= 0n) return undefined;
    this.#tripped = true;
    const kill: Kill = {
      at: now,
      strategy: undefined,
      by: 'dailyLoss',
      reason: `lost ${shortText(loss)} since midnight UTC, the limit is ${shortText(most)}`,
    };
    this.switch.kill(kill);
    return kill;
  }

  #beginDay(day: number): void {
    this.#day = day;
    this.#base(this.#portfolio.totalEquity());
    this.#tripped = this.#isKilledToday();
  }

  /** A kill for today's loss that a restart finds in force is not told of again. */
  #isKilledToday(): boolean {
    return this.switch.inForce.some(({ by, at }) => by === 'dailyLoss' && at >= this.#day);
  }

  /** Losses are counted from this equity on. */
  #base(equity: Units): void {
    this.#dayEquity = equity;
    this.#tripped = false;
    const start = unitsNumber(equity);
    this.#clearlyAbove = start * (1 - rateNumber(this.limits.maxDailyLoss)) + Math.abs(start) * 1e-9;
  }

  /** Lifts kills; the daily loss is measured anew from now on, or from when every held symbol has a price: it would trip again at once. */
  resume(strategy: string | undefined): void {
    this.switch.resume(strategy);
    if (this.#portfolio.isPriced()) this.#base(this.#portfolio.totalEquity());
    else this.#day = Number.NaN;
  }

  #forget(now: number): void {
    const oldest = this.#recent[0];
    if (oldest === undefined || now - oldest.at < this.#keepMs) return;
    const keep = this.#recent.findIndex((created) => now - created.at < this.#keepMs);
    if (keep > 0) this.#recent = this.#recent.slice(keep);
    else if (keep < 0) while (this.#recent.length > 0) this.#recent.pop();
  }
}
