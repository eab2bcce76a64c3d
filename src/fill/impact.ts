/** How far an order moves the price against itself (fill-engine §2, defaults): as a fraction of the price. */
import { type Rate, rateOf } from '../domain/money.ts';

/** What an instrument usually trades in a day: `volume` in base, `deviation` of a day's return as a fraction. */
export interface Liquidity {
  readonly volume: number;
  readonly deviation: number;
}

export type ImpactModel =
  /** `y` · σ · √(quantity ÷ volume); nothing below `from`, a share of the day's volume. */
  | { readonly kind: 'squareRoot'; readonly y: number; readonly from: number }
  /** zipline's VolumeShare: `impact` · share², the share of the kline's volume being at most `most`. */
  | { readonly kind: 'volumeShare'; readonly impact: number; readonly most: number };

/** `quantity` in base; `klineVolume` that of the kline in which it trades. Nothing where liquidity is not known. */
export function impactOf(
  model: ImpactModel | undefined,
  quantity: number,
  { liquidity, klineVolume }: { readonly liquidity: Liquidity | undefined; readonly klineVolume: number },
): Rate {
  if (model === undefined) return none;
  if (model.kind === 'volumeShare') {
    const share = klineVolume > 0 ? Math.min(quantity / klineVolume, model.most) : model.most;
    return rateOf(model.impact * share ** 2);
  }
  if (liquidity === undefined || !(liquidity.volume > 0)) return none;
  const share = quantity / liquidity.volume;
  return share < model.from ? none : rateOf(model.y * liquidity.deviation * Math.sqrt(share));
}

const none = rateOf(0);
