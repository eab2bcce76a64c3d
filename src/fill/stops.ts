/** Client-side stops on klines. */
import type { Instrument } from '../domain/instrument.ts';
import type { Kline } from '../domain/market.ts';
import { Decimal, priceFor, priceNumber, priceText, rateText, ticks, worsened } from '../domain/money.ts';
import type { Stop, StopHit } from './orders.ts';
import type { Rules } from './rules.ts';

/** Whether a kline opens beyond a stop: that sets it off at the open, whatever comes after. */
export const isGapped = (
  { open }: Pick<Kline, 'open'>,
  { side, price }: Pick<Stop, 'side' | 'price'>,
  at: Instrument,
) => (side === 'SELL' ? open <= priceNumber(price, at) : open >= priceNumber(price, at));

/**
 * Whether a kline sets off a stop, and at what price its MARKET order fills. An open beyond the stop fills at the open;
 * otherwise at a point between the stop and the kline's extreme, because a stop is a price that runs away. Rounded once,
 * against us.
 */
export function stopHit(
  kline: Pick<Kline, 'open' | 'high' | 'low'>,
  { strategy, side, price, liquidation }: Stop,
  { instrument: at, rules }: { readonly instrument: Instrument; readonly rules: Rules },
): { readonly hit: StopHit; readonly gap: boolean } | undefined {
  const rule = liquidation === undefined ? 'kline-stop' : 'liquidation';
  const sells = side === 'SELL';
  if (isGapped(kline, { side, price }, at)) {
    const filled = worsened(side, priceFor(side, kline.open, at), rules.halfSpread);
    return { hit: { strategy, price: filled, evidence: { rule: `${rule}-gap` } }, gap: true };
  }
  const extreme = sells ? kline.low : kline.high;
  const stop = priceNumber(price, at);
  if (sells ? extreme > stop : extreme < stop) return undefined;
  const from = new Decimal(priceText(price, at));
  const run = new Decimal(priceText(priceFor(side, extreme, at), at)).minus(from);
  const base = from.plus(run.times(rateText(rules.stopSlippageShare)));
  const spread = base.times(rateText(rules.halfSpread));
  const filled = sells ? ticks(base.minus(spread), at, 'down') : ticks(base.plus(spread), at, 'up');
  const hit = { strategy, price: filled, evidence: { rule } };
  const orElse = liquidation?.orElse;
  if (orElse === undefined) return { hit, gap: false };
  // The kline reached both, the strategy's stop and the price of liquidation: the worse is taken, and the other was possible.
  const stopped = stopHit(kline, { strategy, side, price: orElse }, { instrument: at, rules });
  if (stopped === undefined) return { hit, gap: false };
  return { hit: { ...hit, bestPrice: stopped.hit.price, evidence: { rule, ambiguous: true } }, gap: false };
}

/**
 * The stop and the price of liquidation of one position within a kline as one: the stop alone where the kline does not reach
 * the other or opens between them; where it reaches both, the liquidation, which is worse.
 */
export function orLiquidation(
  kline: Pick<Kline, 'open' | 'high' | 'low'>,
  stop: Stop | undefined,
  ruin: Stop,
  at: Instrument,
): Stop | undefined {
  const beyond = (price: number, { price: level }: Stop): boolean =>
    ruin.side === 'SELL' ? price <= priceNumber(level, at) : price >= priceNumber(level, at);
  if (!beyond(ruin.side === 'SELL' ? kline.low : kline.high, ruin)) return stop;
  const isLiquidated = { ...ruin, liquidation: {} };
  const isNearer = stop !== undefined && (ruin.side === 'SELL' ? stop.price > ruin.price : stop.price < ruin.price);
  if (!isNearer || beyond(kline.open, ruin)) return isLiquidated;
  return beyond(kline.open, stop) ? stop : { ...isLiquidated, liquidation: { orElse: stop.price } };
}
