/**
 * Orders that are large for their market: what their size does to their price. Nearly all orders are
 * small, and those cost one comparison within a day.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  type Lots,
  lotsOf,
  max,
  min,
  noRate,
  priceText,
  quantityNumber,
  type Ticks,
  worsened,
} from '../domain/money.ts';
import type { Evidence } from '../domain/order.ts';
import { dayShareOf, type ImpactModel, impactOf, type Liquidity, type UsualDay } from './impact.ts';

/** A price at which an order takes from the market, and by what evidence. */
export interface Priced {
  readonly price: Ticks;
  readonly evidence: Evidence;
}

/** An order that takes, and where. */
export interface Taking {
  readonly side: Side;
  readonly quantity: Lots;
  /** Of a LIMIT: worse than this it pays in no case. */
  readonly limit?: Ticks;
  /** UTC ms. */
  readonly time: number;
  /** Base quantity of the kline or the print in which it trades; undefined where neither is known. */
  readonly klineVolume: number | undefined;
}

const dayMs = 86_400_000;

export class LargeOrders {
  readonly #model: ImpactModel | undefined;
  readonly #usual: UsualDay | undefined;
  readonly #at: Instrument;
  /** The UTC day that is known, what usually trades then, and the fewest lots that can be large. */
  #from = Number.NaN;
  #liquidity: Liquidity | undefined;
  #smallest: Lots | undefined;

  constructor(model: ImpactModel | undefined, usual: UsualDay | undefined, at: Instrument) {
    this.#model = model;
    this.#usual = usual;
    this.#at = at;
  }

  /** What an order gets where a small one gets `small`: the same, unless it is large. */
  sized(taking: Taking, small: Priced): Priced {
    const model = this.#model;
    if (model === undefined) return small;
    if (model.kind === 'volumeShare')
      return taking.klineVolume === undefined ? small : this.#moved(model, taking, small, {});
    const { time, quantity } = taking;
    if (!(time >= this.#from && time < this.#from + dayMs)) this.#know(time, model.from);
    if (this.#smallest === undefined || quantity < this.#smallest || this.#liquidity === undefined) return small;
    const dayShare = dayShareOf(quantityNumber(quantity, this.#at), this.#liquidity);
    if (dayShare < model.from) return small;
    return this.#liquidity.deviation === undefined
      ? { price: small.price, evidence: { ...small.evidence, dayShare } }
      : this.#moved(model, taking, small, { dayShare });
  }

  #moved(
    model: ImpactModel,
    { side, quantity, limit, klineVolume = 0 }: Taking,
    { price, evidence }: Priced,
    more: Pick<Evidence, 'dayShare'>,
  ): Priced {
    const impact = impactOf(model, quantityNumber(quantity, this.#at), { liquidity: this.#liquidity, klineVolume });
    const moved = impact === noRate ? price : worsened(side, price, impact);
    const capped = limit === undefined ? moved : side === 'BUY' ? min(limit, moved) : max(limit, moved);
    return { price: capped, evidence: { ...evidence, ...more, unmoved: priceText(price, this.#at) } };
  }

  #know(time: number, from: number): void {
    this.#from = Math.floor(time / dayMs) * dayMs;
    this.#liquidity = this.#usual?.(time);
    this.#smallest = this.#liquidity && lotsOf(this.#liquidity.volume * from, this.#at, 'down');
  }
}
