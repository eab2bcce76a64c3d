/** A tradable symbol: its assets, steps and minimums. */
import {
  type Lots,
  lots,
  noLots,
  noUnits,
  type Precision,
  quantityText,
  steppedLots,
  steppedPrice,
  type Ticks,
  type Units,
} from './money.ts';

export interface Instrument extends Precision {
  /** Upper case, without separator: `BTCUSDT`. */
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  /** Least quantity of a LIMIT order or a MARKET SELL; zero means no minimum is published. */
  readonly minQuantity: Lots;
  /** Least price × quantity, or amount of a MARKET BUY, in the quote asset; zero means no minimum is published. */
  readonly minNotional: Units;
  /** Decimals of an order, where the exchange takes fewer than the instrument's steps have. */
  readonly orderPlaces?: { readonly price: number; readonly quantity: number };
}

type Given = Pick<Instrument, 'symbol' | 'base' | 'quote' | 'pricePrecision' | 'quantityPrecision'> &
  Partial<Instrument>;

/** Checks that price × quantity stays exact at 18 decimals, which bounds the two precisions together. */
export function instrument(given: Given): Instrument {
  const { pricePrecision, quantityPrecision } = given;
  for (const [name, value] of Object.entries({ pricePrecision, quantityPrecision })) {
    if (!Number.isInteger(value) || value < 0)
      throw new RangeError(`${given.symbol}: ${name} must be a whole number, not ${value}`);
  }
  if (pricePrecision + quantityPrecision > 18) {
    throw new RangeError(
      `${given.symbol}: pricePrecision + quantityPrecision is ${pricePrecision + quantityPrecision}, at most 18 can be kept exact`,
    );
  }
  return { minQuantity: noLots, minNotional: noUnits, ...given };
}

/** The listed instrument in its earlier, finer steps: amounts that were written in them stay valid. */
export function inStepsOf(before: Precision, listed: Instrument): Instrument {
  const { pricePrecision, quantityPrecision } = before;
  const { orderPlaces: _, ...plain } = listed;
  const same = pricePrecision === listed.pricePrecision && quantityPrecision === listed.quantityPrecision;
  if (same) return plain;
  return {
    ...plain,
    pricePrecision,
    quantityPrecision,
    minQuantity: lots(quantityText(listed.minQuantity, listed), before),
    orderPlaces: { price: listed.pricePrecision, quantity: listed.quantityPrecision },
  };
}

/** A quantity in the steps of orders, rounded towards zero. */
export const orderLots = (quantity: Lots, { orderPlaces, quantityPrecision }: Instrument): Lots =>
  orderPlaces === undefined ? quantity : steppedLots(quantity, quantityPrecision - orderPlaces.quantity);

/** A price in the steps of orders: rounded up for a BUY, down for a SELL. */
export const orderPrice = (side: 'BUY' | 'SELL', price: Ticks, { orderPlaces, pricePrecision }: Instrument): Ticks =>
  orderPlaces === undefined
    ? price
    : steppedPrice(price, pricePrecision - orderPlaces.price, side === 'BUY' ? 'up' : 'down');
