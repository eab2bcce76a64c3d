/** Validates trades of the account: their numbers by themselves, and against the order of ours that they name. */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  type Lots,
  minus,
  noLots,
  noTicks,
  notional,
  plus,
  priceText,
  quantityText,
  unitsText,
} from '../domain/money.ts';
import type { VenueTrade } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Execution } from './context.ts';
import type { InvalidTrade } from './quarantined-trades.ts';

const never = (why: string): InvalidTrade => ({ why, canBeAccepted: false });

/** Why a row of a symbol's list is invalid by itself, or undefined. */
export function invalidByItself(trade: VenueTrade, symbol: string, instrument: Instrument): InvalidTrade | undefined {
  const { price, quantity } = trade;
  if (trade.unreadable !== undefined) return never(trade.unreadable);
  if (trade.symbol !== symbol) return never(`its symbol is ${trade.symbol}, but it was listed under ${symbol}`);
  if (price <= noTicks) return never(`its price is ${priceText(price, instrument)}`);
  if (quantity <= noLots) return never(`its quantity is ${quantityText(quantity, instrument)}`);
  return undefined;
}

/** Why a trade that is not booked contradicts our order that it names, or undefined. */
export function invalidForOrders(execution: Execution, trade: VenueTrade): InvalidTrade | undefined {
  const { owners, journal } = execution;
  for (const [index, orderId] of trade.orderIds.entries()) {
    const owner = owners.get(orderId);
    if (owner === undefined) continue;
    if (journal.hasFill({ tradeId: trade.tradeId, orderId })) continue;
    const side = sideOf(trade, index);
    if (owner.side !== side) return never(`it is a ${side}, and order ${owner.clientOrderId} is a ${owner.side}`);
    const order = execution.portfolio.order(owner.clientOrderId) ?? execution.ended(owner.clientOrderId);
    const invalid = order && invalidFor(order, trade, execution.portfolio.instrument(trade.symbol));
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

/** Adds a valid trade to the sums of its closed orders, by which the next trade is checked. */
export function countForEnded({ owners, journal, portfolio, ended }: Execution, trade: VenueTrade): void {
  const { tradeId, symbol, price, quantity } = trade;
  for (const orderId of trade.orderIds) {
    const owner = owners.get(orderId);
    if (owner === undefined || journal.hasFill({ tradeId, orderId })) continue;
    const order = portfolio.order(owner.clientOrderId) === undefined ? ended(owner.clientOrderId) : undefined;
    if (order === undefined) continue;
    order.filled = plus(order.filled, quantity);
    order.spent = plus(order.spent, notional(price, quantity, portfolio.instrument(symbol)));
  }
}

/** The side of one of a trade's orders: of two, the buyer's is the first. */
const sideOf = ({ orderIds, side }: VenueTrade, index: number): Side =>
  orderIds.length === 1 ? side : index === 0 ? 'BUY' : 'SELL';

function invalidFor(
  { intent, filled, spent }: WorkingOrder,
  trade: VenueTrade,
  instrument: Instrument,
): InvalidTrade | undefined {
  const { clientOrderId, side, price: limit, volume } = intent;
  const { price, quantity } = trade;
  if (intent.symbol !== trade.symbol)
    return never(`its symbol is ${trade.symbol}, but order ${clientOrderId} is on ${intent.symbol}`);
  if (limit !== undefined && (side === 'BUY' ? price > limit : price < limit))
    return acceptable(
      `its price is ${priceText(price, instrument)}, beyond the limit ${priceText(limit, instrument)} of order ${clientOrderId}`,
    );
  if ('lots' in volume)
    return plus(filled, quantity) <= volume.lots
      ? undefined
      : acceptable(
          `its quantity ${quantityText(quantity, instrument)} exceeds the remaining ${quantityText(minus(volume.lots, filled), instrument)} of order ${clientOrderId}`,
        );
  // The exchange rounds what an amount buys to a step of the quantity.
  const step = notional(price, oneLot, instrument);
  const worth = notional(price, quantity, instrument);
  return minus(plus(spent, worth), volume.amount) < step
    ? undefined
    : acceptable(
        `its value ${unitsText(worth)} exceeds the remaining amount ${unitsText(minus(volume.amount, spent))} of order ${clientOrderId}`,
      );
}

const oneLot = 1n as Lots;
const acceptable = (why: string): InvalidTrade => ({ why, canBeAccepted: true });
