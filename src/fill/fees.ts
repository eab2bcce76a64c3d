/** The fee of a fill. */
import type { Instrument } from '../domain/instrument.ts';
import { baseUnits, feeOn, max, minus, notional, noUnits, plus, type Rate, type Units } from '../domain/money.ts';
import type { SimFill } from './orders.ts';
import type { FeeRates, Fees, Rules } from './rules.ts';

/**
 * The fee of a fill and its asset, rounded up to 8 decimals: from the received asset (base for a BUY,
 * quote for a SELL), or in quote for rulesets that say so. `value` is price × quantity, for those who know it.
 */
export function feeOf(
  fill: Pick<SimFill, 'side' | 'price' | 'quantity' | 'maker'>,
  fees: FeeRates,
  feeIn: Rules['feeIn'],
  at: Instrument,
  value: Units = notional(fill.price, fill.quantity, at),
): { readonly fee: Units; readonly feeAsset: string } {
  const feeRate = fill.maker ? fees.maker : fees.taker;
  return fill.side === 'BUY' && feeIn === 'received'
    ? { fee: feeOn(baseUnits(fill.quantity, at), feeRate), feeAsset: at.base }
    : { fee: feeOn(value, feeRate), feeAsset: at.quote };
}

/** The rates that hold for a symbol once so much was traded in the last 30 days, in quote. */
export function ratesOf(fees: Fees, symbol: string, traded: Units): FeeRates {
  const own = fees.bySymbol?.[symbol];
  return own ?? fees.tiers?.findLast(({ volume }) => traded >= volume) ?? fees;
}

/** The highest rate that can come to be charged. */
export const maxRate = (fees: Fees): Rate =>
  [fees, ...Object.values(fees.bySymbol ?? {}), ...(fees.tiers ?? [])]
    .map(({ maker, taker }) => max(maker, taker))
    .reduce((highest, one) => max(highest, one));

/** All rates twice as high. */
export function doubled(fees: Fees): Fees {
  const twice = <T extends FeeRates>(rates: T): T => ({
    ...rates,
    maker: plus(rates.maker, rates.maker),
    taker: plus(rates.taker, rates.taker),
  });
  const { bySymbol, tiers } = fees;
  return {
    ...twice(fees),
    ...(bySymbol !== undefined && {
      bySymbol: Object.fromEntries(Object.entries(bySymbol).map(([symbol, rates]) => [symbol, twice(rates)])),
    }),
    ...(tiers !== undefined && { tiers: tiers.map(twice) }),
  };
}

const dayMs = 86_400_000;
const tierDays = 30;

/** What was traded on the 30 whole days (UTC) before a day, in quote: fee tiers change at midnight. */
export class Turnover {
  #days: { readonly day: number; value: Units }[] = [];
  #sum = noUnits;

  /** Counts a fill; `time` (UTC ms) never falls by a day. */
  add(time: number, value: Units): void {
    const day = Math.floor(time / dayMs);
    const last = this.#days.at(-1);
    if (last?.day === day) last.value = plus(last.value, value);
    else this.#days.push({ day, value });
    this.#sum = plus(this.#sum, value);
  }

  before(time: number): Units {
    const today = Math.floor(time / dayMs);
    for (let first = this.#days[0]; first !== undefined && first.day < today - tierDays; first = this.#days[0]) {
      this.#sum = minus(this.#sum, first.value);
      this.#days.shift();
    }
    const last = this.#days.at(-1);
    return last?.day === today ? minus(this.#sum, last.value) : this.#sum;
  }
}
