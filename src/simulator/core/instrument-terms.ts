/** Changes of a symbol's terms since the exchange opened: precision and minimums of new orders. */
import type { Instrument } from '../../domain/instrument.ts';
import { type Lots, lots, type Ticks, units } from '../../domain/money.ts';

/** An instrument as it is listed now. Inside, prices and quantities keep the steps of the opening: what rests and what traded stays as it is. */
export interface Listed extends Instrument {
  /** Decimals that a new order may have, where they have become fewer. */
  readonly places?: { readonly price: number; readonly quantity: number };
}

/** Counted from the opening: none fewer is as it was then. Amounts are decimal text; what is left out stays as it is. */
export interface TermsChange {
  readonly pricePlacesFewer?: number | undefined;
  readonly quantityPlacesFewer?: number | undefined;
  readonly minQuantity?: string | undefined;
  readonly minNotional?: string | undefined;
}

/** Throws a `MoneyError` for amounts finer than there are steps. */
export function withTerms(at: Listed, change: TermsChange): Listed {
  const { pricePrecision, quantityPrecision } = at;
  const places = (before: number | undefined, precision: number, fewer: number | undefined): number =>
    fewer === undefined ? (before ?? precision) : Math.max(0, precision - fewer);
  return {
    ...at,
    places: {
      price: places(at.places?.price, pricePrecision, change.pricePlacesFewer),
      quantity: places(at.places?.quantity, quantityPrecision, change.quantityPlacesFewer),
    },
    ...(change.minQuantity !== undefined && { minQuantity: lots(change.minQuantity, at) }),
    ...(change.minNotional !== undefined && { minNotional: units(change.minNotional) }),
  };
}

const isOn = (steps: bigint, fewer: number): boolean => steps % 10n ** BigInt(fewer) === 0n;

/** Whether a new order may have this price, and this quantity. */
export const takesPrice = ({ places, pricePrecision }: Listed, price: Ticks): boolean =>
  places === undefined || isOn(price, pricePrecision - places.price);
export const takesQuantity = ({ places, quantityPrecision }: Listed, quantity: Lots): boolean =>
  places === undefined || isOn(quantity, quantityPrecision - places.quantity);
