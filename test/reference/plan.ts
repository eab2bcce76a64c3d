/** From what is wanted to orders: the distance between what is held and what should be is traded, no more. */
import {
  cashOf,
  costOf,
  Decimal,
  end,
  equityAt,
  free,
  freeAtExchange,
  isFlat,
  maxFee,
  nextNumber,
  type Order,
  openOrders,
  type PlannedOrder,
  remaining,
  roundTo,
  type State,
  sameMarket,
  withoutFee,
} from './account.ts';
import { takeProfitsOf } from './exits.ts';
import { isTooMuch } from './margin.ts';
import { profitOrders } from './take-profits.ts';
import type { Side, Signal } from './types.ts';

/** When and at what price a plan is made: after the close of `row`, or inside it for a stop. */
export interface Moment {
  readonly row: number;
  readonly time: number;
  readonly close: Decimal;
}

const zero = new Decimal(0);
const towardsZero = Decimal.ROUND_DOWN;
const lotOf = (state: State): Decimal => new Decimal(10).pow(-state.question.instrument.quantityPrecision);

/** What a MARKET BUY by amount may come out beside its goal, as a fraction of it, before it is mended. */
const priceSlack = '0.005';

/** A quantity below this distance from the goal is let be: the minima, and what the fee and the price of an entry made of it. */
function deadBand(state: State, size: Decimal, side: Side, atMarket: boolean, close: Decimal): Decimal {
  const { instrument, rules, fees } = state.question;
  const digits = instrument.quantityPrecision;
  const byNotional = roundTo(new Decimal(instrument.minNotional).div(close), digits, 'down');
  const byQuantity = Decimal.max(0, new Decimal(instrument.minQuantity).minus(lotOf(state)));
  const feeInBase = rules.feeIn === 'received' ? Decimal.max(fees.maker, fees.taker) : zero;
  const byFee = side === 'BUY' && size.gt(0) ? feeInBase : zero;
  const byPrice = atMarket && rules.marketBuyIn === 'amount' ? priceSlack : zero;
  const byEntry = roundTo(size.abs().times(byFee.plus(byPrice)), digits, 'up');
  return Decimal.max(byNotional, byQuantity, byEntry);
}

/** What a target holds, as text: two that say the same are one goal. */
export const sizeOf = (signal: Signal): string =>
  'quantity' in signal
    ? signal.quantity
    : 'share' in signal
      ? `${signal.share} of the equity`
      : 'amount' in signal
        ? `${signal.amount} in quote`
        : '';

/** Another size, price or time is another entry. */
export const isSameEntry = (a: Signal, b: Signal): boolean =>
  !('quotes' in a || 'quotes' in b) &&
  sizeOf(a) === sizeOf(b) &&
  a.limit === b.limit &&
  a.postOnly === b.postOnly &&
  a.expiresAfterMs === b.expiresAfterMs &&
  a.expiresAfterKlines === b.expiresAfterKlines;

/** Gives a new goal its size, at the close after which it was planned. */
export function size(state: State, signal: Signal, close: Decimal): void {
  const size = sizeOf(signal);
  if (state.sizedFor === size) return;
  const { quantityPrecision, pricePrecision } = state.question.instrument;
  state.sizedFor = size;
  state.byAmount = false;
  if ('quotes' in signal) return;
  if ('quantity' in signal) state.sized = new Decimal(signal.quantity).toDecimalPlaces(quantityPrecision, towardsZero);
  else {
    const dear = roundTo(close, pricePrecision, 'up');
    const isShare = 'share' in signal;
    const share = isShare ? roundTo(equityAt(state, dear).times(signal.share), 18, 'down') : new Decimal(signal.amount);
    // An amount is what is bought; a share pays the fee, too.
    const fee = !isShare || state.question.rules.sizing === 'close' ? zero : maxFee(state.question);
    const amount = withoutFee(share.abs(), fee);
    const lots = amount.div(dear).toDecimalPlaces(quantityPrecision, towardsZero);
    state.sized = share.lt(0) ? lots.negated() : lots;
  }
}

/** What should be at the exchange now: one MARKET order, or these resting ones. */
export function plannedOrders(state: State, signal: Signal, close: Decimal): readonly PlannedOrder[] {
  const { quantityPrecision, minNotional, minQuantity } = state.question.instrument;
  const tooSmall = (quantity: Decimal, price: Decimal): boolean =>
    quantity.lt(minQuantity) || price.times(quantity).lt(minNotional);
  if ('quotes' in signal) {
    return signal.quotes
      .map(({ side, price, quantity }): PlannedOrder & { price: Decimal } => {
        const size = roundTo(new Decimal(quantity), quantityPrecision, 'down');
        return {
          side,
          type: 'LIMIT',
          quantity: size,
          price: tick(state, price, side),
          purpose: 'quote',
          tolerance: size,
        };
      })
      .filter((planned) => planned.quantity.gt(0) && !tooSmall(planned.quantity, planned.price));
  }
  const sizeText = sizeOf(signal);
  // During a pause nothing is entered, whatever is wanted, and what is being left is left.
  const enters = isFlat(state) && !state.sized.isZero();
  const pauses = state.pausesUntil !== undefined && (enters || state.leftAt !== undefined);
  const left = state.leftAt === sizeText || pauses;
  const taken = state.levelsOf === sizeText ? state.taken : zero;
  if (state.byAmount && !state.base.isZero()) {
    state.sized = roundTo(state.base, quantityPrecision, 'down');
    state.byAmount = false;
  }
  // Spot cannot be short.
  const meant = state.question.margin === undefined ? Decimal.max(state.sized, 0) : state.sized;
  const reached = state.isExpired ? entered(state, meant, taken) : meant;
  const missing = meant.minus(reached).abs();
  const whole = missing.lte(deadBand(state, meant, meant.gt(0) ? 'BUY' : 'SELL', false, close)) ? meant : reached;
  const planned = whole.gt(0) ? Decimal.max(whole.minus(taken), 0) : Decimal.min(whole.plus(taken), 0);
  const size = left ? zero : planned;
  const distance = size.minus(state.base);
  const side: Side = distance.gt(0) ? 'BUY' : 'SELL';
  const band = deadBand(state, size.isZero() ? zero : whole, side, signal.limit === undefined, close);
  const quantity = roundTo(distance.abs(), quantityPrecision, 'down');
  if (quantity.gt(band)) {
    const purpose = left ? 'stop' : size.abs().gt(state.base.abs()) ? 'enter' : 'exit';
    return signal.limit === undefined || left
      ? [{ side, type: 'MARKET', quantity, purpose, tolerance: band }]
      : [
          {
            side,
            type: 'LIMIT',
            quantity,
            price: state.movedTo ?? tick(state, signal.limit, side),
            purpose,
            tolerance: band,
          },
        ];
  }
  return left ? [] : profitOrders(state, whole, tooSmall, band, stands);
}

/** What is held of what was meant, with what a take-profit sold of it, in whole lots. */
function entered({ base, question }: State, meant: Decimal, taken: Decimal): Decimal {
  const isOther = meant.gt(0) !== base.gt(0);
  const held = isOther ? zero : roundTo(base.abs(), question.instrument.quantityPrecision, 'down');
  const quantity = Decimal.min(held.plus(taken), meant.abs());
  return meant.gt(0) ? quantity : quantity.negated();
}

const tick = (state: State, price: string, side: Side): Decimal =>
  roundTo(new Decimal(price), state.question.instrument.pricePrecision, side === 'BUY' ? 'up' : 'down');

/**
 * Cancels what is not planned and creates what is missing. What is denied or rejected keeps nothing else from being created. Returns the MARKET order when one was made.
 */
export function act(state: State, signal: Signal, moment: Moment, inside: boolean): Order | undefined {
  for (const planned of cancelOthers(state, signal, moment, inside).flatMap((one) =>
    making(state, signal, one, moment.close),
  )) {
    const order = create(state, signal, planned, moment);
    // By rules that let a target work in the kline of its entry, one that is placed inside a kline works at once.
    const { targetsFrom, delayKlines } = state.question.rules;
    if (inside && planned.type === 'LIMIT' && targetsFrom === 'entry' && delayKlines === 0) order.arrived = true;
    if (planned.type === 'MARKET' && order.row.state === 'open') return order;
  }
  return undefined;
}

/** An order that shall not take is moved a tick away from the last price; none is made where no price is left. */
export function making(state: State, signal: Signal, planned: PlannedOrder, last: Decimal): readonly PlannedOrder[] {
  if ('quotes' in signal || signal.postOnly !== true || signal.limit === undefined) return [planned];
  if (planned.type === 'MARKET' || planned.purpose === 'takeProfit') return [planned];
  const { side } = planned;
  const { pricePrecision } = state.question.instrument;
  const step = new Decimal(10).pow(-pricePrecision);
  const limit = tick(state, signal.limit, side);
  const price =
    side === 'BUY'
      ? Decimal.min(limit, roundTo(last, pricePrecision, 'up').minus(step))
      : Decimal.max(limit, roundTo(last, pricePrecision, 'down').plus(step));
  if (price.lte(0)) return [];
  state.movedTo = price;
  return [{ ...planned, price }];
}

const isUndecided = (state: State): boolean =>
  openOrders(state).some((order) => order.row.type === 'MARKET' || order.cancelsAt !== undefined);

/** The first order that is missing, unless another has to be cancelled first. */
export function firstMissing(state: State, signal: Signal, close: Decimal): PlannedOrder | undefined {
  const missing = [...plannedOrders(state, signal, close)];
  for (const order of openOrders(state)) {
    const index = missing.findIndex((planned) => stands(order, planned));
    if (index < 0) return undefined;
    missing.splice(index, 1);
  }
  return isUndecided(state) ? undefined : missing[0];
}

/** Cancels what is not planned. Gives what is missing, which is nothing while something is under way. */
export function cancelOthers(state: State, signal: Signal, moment: Moment, inside: boolean): readonly PlannedOrder[] {
  if (isUndecided(state) || state.settled) return [];
  const missing = [...plannedOrders(state, signal, moment.close)];
  state.settled = missing.length === 0 && openOrders(state).length === 0 && isDone(state, signal);
  for (const order of openOrders(state)) {
    const index = missing.findIndex((planned) => stands(order, planned));
    if (index >= 0) missing.splice(index, 1);
    else if (cancel(state, order, moment, inside)) return [];
  }
  return missing;
}

/** Nothing is to come but what the strategy says or what protection does: no take-profit, and no exit, which is made as soon as it can be. */
const isDone = (state: State, signal: Signal): boolean =>
  !('quotes' in signal) &&
  state.leftAt !== sizeOf(signal) &&
  state.pausesUntil === undefined &&
  takeProfitsOf(state).length === 0;

/** Nothing but a goal, and perhaps a price to work at. */
export const isBare = (signal: Signal): boolean =>
  !('quotes' in signal) &&
  [
    ...[signal.stop, signal.trailing, signal.breakEven, signal.takeProfit],
    ...[signal.exitAfterMs, signal.exitAfterKlines, signal.exitAt, signal.reenterAfterMs, signal.reenterAfterKlines],
  ].every((exit) => exit === undefined);

/** A take-profit never offers more than is planned. */
const stands = (order: Order, planned: PlannedOrder): boolean =>
  planned.type === 'LIMIT' &&
  order.row.side === planned.side &&
  planned.price !== undefined &&
  order.price?.eq(planned.price) === true &&
  remaining(order).minus(planned.quantity).abs().lte(planned.tolerance) &&
  (planned.purpose !== 'takeProfit' || remaining(order).lte(planned.quantity));

/** True when the cancel is still on its way, so that nothing else may be done yet. */
function cancel(state: State, order: Order, moment: Moment, inside: boolean): boolean {
  const { delayKlines } = state.question.rules;
  if (delayKlines === 0 || inside) {
    end(order, 'canceled');
    return false;
  }
  order.cancelsAt = moment.row + (state.question.rules.marketAt === 'open' ? 1 : 0) + delayKlines;
  return true;
}

/** An entry that may be reduced to what the limit of the position and, for orders that lock no money, the money allow; its target is then smaller by as much. */
function clipped(state: State, signal: Signal, planned: PlannedOrder, { time, close }: Moment): PlannedOrder {
  const { instrument, maxPosition, rules, margin } = state.question;
  const mayBe = !('quotes' in signal) && signal.clip === true && planned.purpose === 'enter' && planned.side === 'BUY';
  if (!mayBe || rules.marketBuyIn === 'amount' || margin !== undefined) return planned;
  const last = roundTo(close, instrument.pricePrecision, 'up');
  const price = planned.price ?? last;
  const ordered = Decimal.sum(0, ...state.pool.map((one) => onOrder(one)));
  const money = cashOf(state).minus(ordered);
  const held = Decimal.sum(...sameMarket(state).map((one) => one.base.times(price).plus(onOrder(one, price))));
  const room = maxPosition === undefined ? money : new Decimal(maxPosition).minus(held);
  const most = roundTo(Decimal.min(room, money).div(price), instrument.quantityPrecision, 'down');
  if (planned.quantity.lte(most) || most.lt(instrument.minQuantity)) return planned;
  state.sized = state.sized.minus(planned.quantity.minus(most));
  state.decisions.push({ time, signal });
  return { ...planned, quantity: most };
}

/** Where a share is ordered by what it is worth, that; undefined for other orders. */
export function shareWorth(state: State, signal: Signal, { type, side }: PlannedOrder, close: Decimal) {
  const { rules, instrument } = state.question;
  const isBought = type === 'MARKET' && side === 'BUY' && state.base.isZero();
  return rules.sizing === 'fillWithFee' && 'share' in signal && isBought
    ? equityAt(state, roundTo(close, instrument.pricePrecision, 'up')).times(signal.share)
    : undefined;
}

export function create(state: State, signal: Signal, whole: PlannedOrder, moment: Moment): Order {
  const { rules, instrument } = state.question;
  const { row, time, close } = moment;
  const planned = clipped(state, signal, whole, moment);
  const byShare = shareWorth(state, signal, planned, close);
  if (byShare !== undefined) state.byAmount = true;
  const byAmount =
    byShare !== undefined || (planned.type === 'MARKET' && planned.side === 'BUY' && rules.marketBuyIn === 'amount');
  const dear = roundTo(close, instrument.pricePrecision, 'up');
  const worth = byShare ?? dear.times(planned.quantity);
  const amount = byAmount ? roundTo(worth, instrument.pricePrecision, 'down') : undefined;
  const order: Order = {
    row: {
      number: nextNumber(state),
      time,
      side: planned.side,
      type: planned.type,
      quantity: byAmount ? null : planned.quantity.toFixed(),
      amount: amount?.toFixed() ?? null,
      price: planned.price?.toFixed() ?? null,
      purpose: planned.purpose,
      executed: '0',
      state: 'open',
    },
    price: planned.price,
    quantity: byAmount ? undefined : planned.quantity,
    amount,
    executed: zero,
    meant: planned.quantity,
    arrivesAt: row + (rules.marketAt === 'open' ? 1 : 0) + rules.delayKlines,
    cancelsAt: undefined,
    arrived: false,
    isPostOnly: !('quotes' in signal) && signal.postOnly === true && ['enter', 'exit'].includes(planned.purpose),
    tookAt: -1,
  };
  const most = rules.feeIn === 'quote' ? maxFee(state.question) : zero;
  const cost = planned.side === 'SELL' ? planned.quantity : costOf(state, order, most);
  // The exchange has locked nothing for MARKET orders in lots on their way.
  const isUnpaid = cost.gt(freeAtExchange(state, planned.side)) || isOverspent(state, order, close);
  if (denied(state, order, close)) end(order, 'denied');
  else if ((state.question.margin === undefined && isUnpaid) || refused(state, order)) end(order, 'rejected');
  state.orders.push(order);
  state.working.push(order);
  return order;
}

/**
 * What risk refuses: selling more than is held and not on sale yet, buying for more than is free at the last price, and buying
 * past the limit of the position.
 */
function denied(state: State, order: Order, close: Decimal): boolean {
  if (state.question.margin !== undefined) return isBeyondLeverage(state, order, close);
  if (order.row.side === 'SELL') return remaining(order).gt(free(state, 'SELL'));
  const { maxPosition } = state.question;
  const last = roundTo(close, state.question.instrument.pricePrecision, 'up');
  // What anything else may cost is locked, and refused by the exchange where it is not there.
  const isUnlocked = order.row.type === 'MARKET' && order.amount === undefined;
  if (isUnlocked && isOverspent(state, order, close)) return true;
  if (maxPosition === undefined) return false;
  // The limit is that of all strategies together.
  const price = order.price ?? last;
  const held = sameMarket(state).map((one) => one.base.times(price).plus(onOrder(one, price)));
  return Decimal.sum(worthOf(order, last), ...held).gt(maxPosition);
}

/** Whether an order, planned or made, comes to more than margin allows. */
export function isBeyondLeverage(state: State, order: Order | PlannedOrder, close: Decimal): boolean {
  const last = roundTo(close, state.question.instrument.pricePrecision, 'up');
  const { side } = 'row' in order ? order.row : order;
  const worth = 'row' in order ? worthOf(order, last) : (order.price ?? last).times(order.quantity);
  const meant = 'row' in order ? order.meant : order.quantity;
  return isTooMuch(state, { side, worth, price: order.price, meant }, last);
}

/** Whether a purchase comes to more than is left beside all others on their way, at the last prices and without fees. */
function isOverspent(state: State, order: Order, close: Decimal): boolean {
  if (order.row.side === 'SELL') return false;
  const last = roundTo(close, state.question.instrument.pricePrecision, 'up');
  return Decimal.sum(worthOf(order, last), ...state.pool.map((one) => onOrder(one))).gt(cashOf(state));
}

/** What is left of an order comes to so much. */
const worthOf = ({ amount, price, quantity, executed }: Order, last: Decimal): Decimal =>
  amount ?? (price ?? last).times((quantity ?? zero).minus(executed));

/** What the open purchases of a market come to, those without a price at this one, or at the last. */
function onOrder(state: State, price?: Decimal): Decimal {
  const last = price ?? roundTo(state.last, state.question.instrument.pricePrecision, 'up');
  const open = openOrders(state).filter(({ row }) => row.side === 'BUY');
  return Decimal.sum(0, ...open.map((order) => worthOf(order, last)));
}

/** What MARKET orders in lots will cost at the last prices: they lock no money. */
export const unlocked = ({ pool }: State): Decimal =>
  Decimal.sum(
    0,
    ...pool.flatMap((one) =>
      openOrders(one)
        .filter(({ row, amount }) => row.side === 'BUY' && row.type === 'MARKET' && amount === undefined)
        .map((order) => worthOf(order, roundTo(one.last, one.question.instrument.pricePrecision, 'up'))),
    ),
  );

function refused(state: State, { price, quantity, amount }: Order): boolean {
  const { minQuantity, minNotional } = state.question.instrument;
  if (amount !== undefined) return amount.lt(minNotional) || amount.lte(0);
  if (quantity === undefined || quantity.lt(minQuantity)) return true;
  return price?.times(quantity).lt(minNotional) ?? false;
}
