/** The trailing loss limit: how far the equity has fallen from its highest since somebody resumed. */
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
import type { Portfolio } from '../portfolio/portfolio.ts';

const one = units('1');
/** An amount for the eye: whole cents, or eight decimals of what is worth less than one, as in a run that counts in BTC. */
export const shortText = (amount: Units): string => unitsText(cut(amount, amount < one ? 8 : 2));

/** A new highest is remembered once it is so much higher, as a fraction: not with every price. */
const rememberedStep = 0.0005;

export class Drawdown {
  readonly #most: Rate;
  readonly #portfolio: Portfolio;
  readonly #remember: (json: string) => void;
  /** The highest profit: an allocation that is raised or lowered between two runs must not look like a gain or a loss. */
  #profit: Units | undefined;
  #remembered = Number.NaN;
  /** The highest equity as a number, for looks that need no more. */
  #peak = Number.NaN;
  #tripped = false;

  /** `tripped`: an earlier run killed for this, and nobody has resumed: it is not reported again. */
  constructor(
    most: Rate,
    portfolio: Portfolio,
    { kept, tripped }: { readonly kept: string | undefined; readonly tripped: boolean },
    remember: (json: string) => void,
  ) {
    this.#tripped = tripped;
    this.#most = most;
    this.#portfolio = portfolio;
    this.#remember = remember;
    if (kept !== undefined && kept !== 'null') this.#rise(units(JSON.parse(kept) as string));
  }

  /** Looks at the equity; the reason once it has fallen too far. Nothing is judged while a held symbol has no price. */
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
    const most = part(peak, this.#most, 'down');
    if (fall < most || most <= 0n) return undefined;
    this.#tripped = true;
    return `fell by ${shortText(fall)} from the highest equity of ${shortText(peak)}, the limit is ${shortText(most)}`;
  }

  /** While the estimated equity stays above the first and up to the second, `watch` would find nothing new. */
  get calm(): { readonly above: number; readonly upTo: number } {
    if (this.#tripped) return { above: Number.NEGATIVE_INFINITY, upTo: Number.POSITIVE_INFINITY };
    const edge = this.#peak * (1 - rateNumber(this.#most));
    return { above: edge + Math.abs(edge) * 1e-9, upTo: this.#peak };
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
