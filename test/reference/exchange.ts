/** The exchange on klines: what fills in which kline, at what price. */
import {
  Decimal,
  end,
  fill,
  freeAtExchange,
  maxFee,
  nextNumber,
  type Order,
  openOrders,
  remaining,
  roundTo,
  type State,
  withoutFee,
} from './account.ts';
import { takeProfitsOf } from './exits.ts';
import { moved } from './impact.ts';
import type { Kline, Side } from './types.ts';

/** A kline in decimals, and what is left of its volume for us. */
export interface Now {
  readonly row: number;
  readonly time: number;
  readonly lastMs: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  takeable: Decimal | undefined;
  restable: Decimal | undefined;
  /** Its volume gives nothing to what rests. */
  readonly isDry: boolean;
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
    close: new Decimal(kline.close),
    takeable: share(rules.marketParticipation),
    restable: share(rules.limitParticipation),
    isDry: share(rules.limitParticipation)?.isZero() === true,
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

/** Orders arrive at the open, by most rules. All states are of one market. */
export function open(states: readonly State[], at: Now): void {
  if (states[0]?.question.rules.marketAt === 'open') arrive(states, at, { base: at.open, time: at.time });
}

/** By others they arrive at the close after which they were decided. */
export function decided(states: readonly State[], at: Now): void {
  if (states[0]?.question.rules.marketAt === 'close') arrive(states, at, { base: at.close, time: at.lastMs + 1 });
}

/** After the last kline: nothing rests any more, and what can be sold, or bought back, is left whole, whatever the volume. */
export function closeAtEnd(state: State, at: Now): void {
  const { instrument } = state.question;
  for (const order of openOrders(state)) end(order, 'canceled');
  const side = state.base.gt(0) ? 'SELL' : 'BUY';
  const quantity = roundTo(state.base.abs(), instrument.quantityPrecision, 'down');
  const price = worse(state, side, at.close);
  if (quantity.isZero() || quantity.lt(instrument.minQuantity) || price.times(quantity).lt(instrument.minNotional))
    return;
  const time = at.lastMs + 1;
  const order: Order = {
    row: {
      number: nextNumber(state),
      time,
      side,
      type: 'MARKET',
      quantity: quantity.toFixed(),
      amount: null,
      price: null,
      purpose: 'exit',
      executed: '0',
      state: 'filled',
    },
    meant: quantity,
    price: undefined,
    quantity,
    amount: undefined,
    executed: new Decimal(0),
    arrivesAt: at.row,
    cancelsAt: undefined,
    arrived: true,
    isPostOnly: false,
    tookAt: at.row,
  };
  state.orders.push(order);
  fill(state, order, { price, quantity, maker: false, time });
}

/** The open orders of a market in the order in which they were made, whoever made them. */
const oldestFirst = (states: readonly State[]): readonly { readonly state: State; readonly order: Order }[] =>
  states
    .flatMap((state) => openOrders(state).map((order) => ({ state, order })))
    .sort((a, b) => a.order.row.number - b.order.row.number);

/** MARKET orders fill, LIMITs that cross take. */
function arrive(
  states: readonly State[],
  at: Now,
  { base, time }: { readonly base: Decimal; readonly time: number },
): void {
  for (const { state, order } of oldestFirst(states)) {
    if (order.cancelsAt !== undefined && order.cancelsAt <= at.row) end(order, 'canceled');
    else if (!order.arrived && order.arrivesAt <= at.row) {
      order.arrived = true;
      const price = worse(state, order.row.side, base);
      const { intervalMs, rules } = state.question;
      // What is ordered inside a kline is ordered in its last millisecond.
      const late = time - 1 > order.row.time + (rules.delayKlines + 1) * intervalMs;
      if (order.row.type === 'MARKET') market(state, order, at, { price, time, late });
      else if (
        order.price !== undefined &&
        !waits(state, order) &&
        (order.row.side === 'BUY' ? price.lte(order.price) : price.gte(order.price))
      )
        cross(state, order, at, { price, time, late });
    }
  }
}

/** What shall not take rests as it arrives, and so does what leaves at a price, by rules that give what rests a better open: so the stop comes before it. */
const waits = ({ question: { rules } }: State, { row: { purpose }, isPostOnly }: Order): boolean =>
  isPostOnly || (rules.gapFill === 'open' && rules.marketAt === 'open' && ['takeProfit', 'exit'].includes(purpose));

/** As much as the kline's volume gives; the remainder is canceled. */
function market(
  state: State,
  order: Order,
  at: Now,
  given: { readonly price: Decimal; readonly time: number; readonly ambiguous?: boolean; readonly late?: boolean },
): void {
  const { instrument, fees, rules } = state.question;
  const amount = order.amount ?? new Decimal(0);
  const forPrice = rules.sizing === 'fillWithFee' ? withoutFee(amount, maxFee(state.question)) : amount;
  const askedAt = (price: Decimal): Decimal =>
    order.quantity ?? roundTo(forPrice.div(price), instrument.quantityPrecision, 'down');
  const price = moved(state.question, order.row.side, askedAt(given.price), given.price, at.time);
  const asked = askedAt(price);
  const cost = price.times(asked);
  const fee = rules.feeIn === 'quote' ? roundTo(cost.times(fees.taker), 8, 'up') : new Decimal(0);
  const mustPay = state.question.margin === undefined && order.row.side === 'BUY' && order.quantity !== undefined;
  if (mustPay && cost.plus(fee).gt(freeAtExchange(state, 'BUY'))) {
    end(order, 'canceled');
    return;
  }
  const quantity = take(at, asked);
  if (quantity.gt(0)) fill(state, order, { ...given, price, quantity, maker: false });
  end(order, quantity.gt(0) && quantity.eq(asked) ? 'filled' : 'canceled');
}

function cross(
  state: State,
  order: Order,
  at: Now,
  given: { readonly price: Decimal; readonly time: number; readonly late: boolean },
): void {
  // What took at a close rests in the next kline.
  if (state.question.rules.marketAt === 'open') order.tookAt = at.row;
  const { side } = order.row;
  const impaired = moved(state.question, side, remaining(order), given.price, at.time);
  const limit = order.price ?? impaired;
  const price = side === 'BUY' ? Decimal.min(limit, impaired) : Decimal.max(limit, impaired);
  const quantity = take(at, remaining(order));
  if (quantity.gt(0)) fill(state, order, { ...given, price, quantity, maker: false });
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
export function rest(states: readonly State[], at: Now): void {
  for (const { state, order } of oldestFirst(states)) {
    if (order.price === undefined || !reached(state, order, at)) continue;
    const quantity = at.restable === undefined ? remaining(order) : Decimal.min(remaining(order), at.restable);
    if (quantity.isZero()) continue;
    if (at.restable !== undefined) at.restable = at.restable.minus(quantity);
    const isBetter = order.row.side === 'BUY' ? at.open.lt(order.price) : at.open.gt(order.price);
    const price = isBetter && state.question.rules.gapFill === 'open' ? at.open : order.price;
    const ambiguous = state.assumed?.row === at.row && state.assumed.side === order.row.side;
    fill(state, order, { price, quantity, maker: true, time: at.lastMs, ambiguous });
    if (ambiguous) state.ambiguousRows.add(at.row);
    if (remaining(order).isZero()) end(order, 'filled');
  }
}

export interface Hit {
  readonly price: Decimal;
  readonly time: number;
  /** A target could have filled in the same kline before the stop. */
  readonly ambiguous: boolean;
}

/** The side that leaves what is held. */
export const leaving = ({ base }: State): Side => (base.gt(0) ? 'SELL' : 'BUY');

/** True when a price is at a level or beyond it, for whoever leaves on this side. */
export const isBeyond = (side: Side, price: Decimal, level: Decimal): boolean =>
  side === 'SELL' ? price.lte(level) : price.gte(level);

/**
 * The stop of a position: at the open when that lies beyond it, else between the stop and the kline's extreme; not before a target
 * that comes first on the path, while targets have not had their turn.
 */
export function stopHit(
  state: State,
  stop: Decimal,
  at: Now,
  { targetsHadTurn, hasTarget }: { readonly targetsHadTurn: boolean; readonly hasTarget: boolean },
): Hit | undefined {
  const side = leaving(state);
  const extreme = side === 'SELL' ? at.low : at.high;
  // What rested comes before: a position that it entered is left no earlier.
  const time = targetsHadTurn ? at.lastMs : at.time;
  if (isBeyond(side, at.open, stop)) return { price: worse(state, side, at.open), time, ambiguous: false };
  if (!isBeyond(side, extreme, stop)) return undefined;
  const base = stop.plus(extreme.minus(stop).times(state.question.rules.stopSlippageShare));
  // A kline whose volume gives nothing fills no target.
  const isDry = at.restable?.isZero() === true && !targetsHadTurn;
  const targets = openOrders(state).filter((order) => !isDry && order.row.side === side && reached(state, order, at));
  const isTarget = targets.length > 0 && !targetsHadTurn;
  if (isTarget && isTargetFirst(state, at, targets, side)) {
    if (!isOpenBeyond(at, targets, side)) state.assumed = { row: at.row, side };
    return undefined;
  }
  // Who is leaving plannedOrders no target any more, though its levels are still there.
  const isSoon = hasTarget && isReachedSoon(state, side, at);
  return { price: worse(state, side, base), time: at.lastMs, ambiguous: isTarget || isSoon };
}

/** The kline that entered also reached the take-profit, which rests from the next one on. */
function isReachedSoon(state: State, side: Side, at: Now): boolean {
  const { question, enteredAt } = state;
  const { rules, instrument } = question;
  const [nearest] = takeProfitsOf(state);
  if (rules.targetsFrom === 'entry' || nearest === undefined || enteredAt < at.time) return false;
  if (at.isDry || (rules.marketAt === 'close' && enteredAt === at.time)) return false;
  const beyond = new Decimal(10).pow(-instrument.pricePrecision).times(rules.penetrationTicks);
  return side === 'SELL' ? at.high.gte(nearest.price.plus(beyond)) : at.low.lte(nearest.price.minus(beyond));
}

/** The kline opens at the target or beyond it: no path has to be assumed. */
function isOpenBeyond(at: Now, targets: readonly Order[], side: Side): boolean {
  const prices = targets.map(({ price }) => price ?? 0);
  return side === 'SELL' ? at.open.gte(Decimal.max(...prices)) : at.open.lte(Decimal.min(...prices));
}

/** Every path begins with the open; then comes the high, or the low. */
function isTargetFirst({ question: { rules } }: State, at: Now, targets: readonly Order[], side: Side): boolean {
  if (rules.path === 'pessimistic') return false;
  const prices = targets.map(({ price }) => price ?? 0);
  if (side === 'BUY') {
    if (at.open.lte(Decimal.min(...prices))) return true;
    return rules.path === 'nearest' && at.open.minus(at.low).lt(at.high.minus(at.open));
  }
  if (at.open.gte(Decimal.max(...prices)) || rules.path === 'OHLC') return true;
  return at.high.minus(at.open).lt(at.open.minus(at.low));
}

export function fillStop(state: State, order: Order, hit: Hit, at: Now): void {
  order.arrived = true;
  market(state, order, at, hit);
}
