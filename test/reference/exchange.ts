/** The exchange on klines: what fills in which kline, at what price (fill-engine §2.1, §2.2). */
import { Decimal, end, fill, type Order, openOrders, remaining, roundTo, type State } from './account.ts';
import type { Kline, Side } from './types.ts';

/** A kline in decimals, and what is left of its volume for us. */
export interface Now {
  readonly row: number;
  readonly time: number;
  readonly lastMs: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  takeable: Decimal | undefined;
  restable: Decimal | undefined;
}

export function now(state: State, row: number, kline: Kline): Now {
  const { rules, instrument, intervalMs } = state.question;
  const share = (part: string | null): Decimal | undefined =>
    part === null
      ? undefined
      : roundTo(
          roundTo(new Decimal(kline.volume), instrument.quantityPrecision, 'down').times(part),
          instrument.quantityPrecision,
          'down',
        );
  return {
    row,
    time: kline.time,
    lastMs: kline.time + intervalMs - 1,
    open: new Decimal(kline.open),
    high: new Decimal(kline.high),
    low: new Decimal(kline.low),
    takeable: share(rules.marketMax),
    restable: share(rules.limitParticipation),
  };
}

/** BUY up, SELL down, by half the spread, to the tick. */
function worse(state: State, side: Side, price: Decimal): Decimal {
  const { rules, instrument } = state.question;
  const spread = price.times(rules.halfSpread);
  return side === 'BUY'
    ? roundTo(price.plus(spread), instrument.pricePrecision, 'up')
    : roundTo(price.minus(spread), instrument.pricePrecision, 'down');
}

/** Orders arrive at the open: MARKET orders fill, LIMITs that cross take. */
export function open(state: State, at: Now): void {
  for (const order of openOrders(state)) {
    if (order.cancelsAt !== undefined && order.cancelsAt <= at.row) end(order, 'canceled');
    else if (!order.arrived && order.arrivesAt <= at.row) {
      order.arrived = true;
      const price = worse(state, order.row.side, at.open);
      if (order.row.type === 'MARKET') market(state, order, at, { price, time: at.time });
      else if (
        order.price !== undefined &&
        (order.row.side === 'BUY' ? price.lte(order.price) : price.gte(order.price))
      )
        cross(state, order, at, price);
    }
  }
}

/** As much as the kline's volume gives; the remainder is canceled. */
function market(
  state: State,
  order: Order,
  at: Now,
  given: { readonly price: Decimal; readonly time: number; readonly ambiguous?: boolean },
): void {
  const { instrument, fees, rules } = state.question;
  const asked =
    order.quantity ?? roundTo((order.amount ?? new Decimal(0)).div(given.price), instrument.quantityPrecision, 'down');
  const cost = given.price.times(asked);
  const fee = rules.feeIn === 'quote' ? roundTo(cost.times(fees.taker), 8, 'up') : new Decimal(0);
  if (order.row.side === 'BUY' && order.quantity !== undefined && cost.plus(fee).gt(state.cash)) {
    end(order, 'canceled');
    return;
  }
  const quantity = take(at, asked);
  if (quantity.gt(0)) fill(state, order, { ...given, quantity, maker: false });
  end(order, quantity.gt(0) && quantity.eq(asked) ? 'filled' : 'canceled');
}

function cross(state: State, order: Order, at: Now, price: Decimal): void {
  order.tookAt = at.row;
  const quantity = take(at, remaining(order));
  if (quantity.gt(0)) fill(state, order, { price, quantity, maker: false, time: at.time });
  if (remaining(order).isZero()) end(order, 'filled');
}

function take(at: Now, asked: Decimal): Decimal {
  if (at.takeable === undefined) return asked;
  const taken = Decimal.min(asked, at.takeable);
  at.takeable = at.takeable.minus(taken);
  return taken;
}

/** Whether a resting LIMIT fills in this kline: the market must go beyond its price by the penetration. */
function reached(state: State, order: Order, at: Now): boolean {
  if (!order.arrived || order.price === undefined || order.tookAt === at.row) return false;
  const { rules, instrument } = state.question;
  const beyond = new Decimal(10).pow(-instrument.pricePrecision).times(rules.penetrationTicks);
  return order.row.side === 'BUY' ? at.low.lte(order.price.minus(beyond)) : at.high.gte(order.price.plus(beyond));
}

/** Resting LIMITs fill at their own price, sharing the part of the volume that resting orders may have. */
export function rest(state: State, at: Now): void {
  for (const order of openOrders(state)) {
    if (order.price === undefined || !reached(state, order, at)) continue;
    const quantity = at.restable === undefined ? remaining(order) : Decimal.min(remaining(order), at.restable);
    if (quantity.isZero()) continue;
    if (at.restable !== undefined) at.restable = at.restable.minus(quantity);
    fill(state, order, { price: order.price, quantity, maker: true, time: at.lastMs });
    if (remaining(order).isZero()) end(order, 'filled');
  }
}

export interface Hit {
  readonly price: Decimal;
  readonly time: number;
  /** A target could have filled in the same kline before the stop. */
  readonly ambiguous: boolean;
}

/** The stop of a long position: at the open when that lies beyond it, else between the stop and the low. */
export function stopHit(state: State, stop: Decimal, at: Now): Hit | undefined {
  if (at.open.lte(stop)) return { price: worse(state, 'SELL', at.open), time: at.time, ambiguous: false };
  if (at.low.gt(stop)) return undefined;
  const base = stop.minus(stop.minus(at.low).times(state.question.rules.stopSlipAlpha));
  const target = openOrders(state).some((order) => order.row.side === 'SELL' && reached(state, order, at));
  return { price: worse(state, 'SELL', base), time: at.lastMs, ambiguous: target };
}

export function fillStop(state: State, order: Order, hit: Hit, at: Now): void {
  order.arrived = true;
  market(state, order, at, hit);
}
