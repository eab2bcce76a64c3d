/** Client-side stops on klines (fill-engine §2.2). */
import type { Instrument } from '../domain/instrument.ts';
import type { Kline } from '../domain/market.ts';
import { Decimal, priceFor, priceNumber, priceText, rateText, ticks, worsened } from '../domain/money.ts';
import type { Stop, StopHit } from './orders.ts';
import type { Rules } from './rules.ts';

/**
 * Whether a kline sets off a stop, and at what price its MARKET order fills. An open beyond the stop fills at the open;
 * otherwise at a point between the stop and the kline's extreme, because a stop is a price that runs away. Rounded once,
 * against us.
 */
export function stopHit(
  kline: Pick<Kline, 'open' | 'high' | 'low'>,
  { strategy, side, price }: Stop,
  { instrument: at, rules }: { readonly instrument: Instrument; readonly rules: Rules },
): { readonly hit: StopHit; readonly gap: boolean } | undefined {
  const stop = priceNumber(price, at);
  const sells = side === 'SELL';
  if (sells ? kline.open <= stop : kline.open >= stop) {
    const filled = worsened(side, priceFor(side, kline.open, at), rules.halfSpread);
    return { hit: { strategy, price: filled, evidence: { rule: 'kline-stop-gap' } }, gap: true };
  }
  const extreme = sells ? kline.low : kline.high;
  if (sells ? extreme > stop : extreme < stop) return undefined;
  const from = new Decimal(priceText(price, at));
  const run = new Decimal(priceText(priceFor(side, extreme, at), at)).minus(from);
  const base = from.plus(run.times(rateText(rules.stopSlipAlpha)));
  const spread = base.times(rateText(rules.halfSpread));
  const filled = sells ? ticks(base.minus(spread), at, 'down') : ticks(base.plus(spread), at, 'up');
  return { hit: { strategy, price: filled, evidence: { rule: 'kline-stop' } }, gap: false };
}
