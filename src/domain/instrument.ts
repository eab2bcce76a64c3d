/** A tradable symbol: its assets, its steps and the least it accepts. */
import { type Lots, noLots, noUnits, type Precision, type Units } from './money.ts';

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
