/** How far an order moves the price against itself: as a fraction of the price. */
import { type Rate, rateOf } from '../domain/money.ts';

/** What an instrument usually trades in a day. */
export interface Liquidity {
  /** Base quantity. */
  readonly volume: number;
  /** Of a day's return, as a fraction; undefined where too few days are known to say it: then no impact can be said either. */
  readonly deviation: number | undefined;
}

/** Asked with a time (UTC ms): what usually trades in the days before. */
export type UsualDay = (time: number) => Liquidity | undefined;

export type ImpactModel =
  /** `y` · σ · √(quantity ÷ volume); nothing below `from`, a share of the day's volume. */
  | { readonly kind: 'squareRoot'; readonly y: number; readonly from: number }
  /** zipline's VolumeShare: `impact` · share², the share of the kline's volume being at most `maxShare`. */
  | { readonly kind: 'volumeShare'; readonly impact: number; readonly maxShare: number };

/** The square-root law with Y = 1, for orders above a thousandth of a usual day's volume. */
export const squareRoot = { kind: 'squareRoot', y: 1, from: 0.001 } as const satisfies ImpactModel;

/** The part of a day's usual volume that a quantity of base is; all of it where nothing is traded. */
export const dayShareOf = (quantity: number, { volume }: Liquidity): number => (volume > 0 ? quantity / volume : 1);

/** `quantity` in base; `klineVolume` that of the kline or the print in which it trades. Nothing where liquidity is not known. */
export function impactOf(
  model: ImpactModel | undefined,
  quantity: number,
  { liquidity, klineVolume }: { readonly liquidity: Liquidity | undefined; readonly klineVolume: number },
): Rate {
  if (model === undefined) return none;
  if (model.kind === 'volumeShare') {
    const share = klineVolume > 0 ? Math.min(quantity / klineVolume, model.maxShare) : model.maxShare;
    return rateOf(model.impact * share ** 2);
  }
  if (liquidity?.deviation === undefined) return none;
  const share = dayShareOf(quantity, liquidity);
  return share < model.from ? none : rateOf(model.y * liquidity.deviation * Math.sqrt(share));
}

const none = rateOf(0);
