/** Whether a trade of the account can be what the exchange shows: its numbers by themselves, and against the order of ours it names. */
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
import type { Execution } from './desk.ts';
import type { Oddness } from './odd-trades.ts';

const never = (why: string): Oddness => ({ why, canBeAccepted: false });

/** By its numbers alone, as a row of a symbol's list; undefined when it can be. */
export function oddByItself(trade: VenueTrade, symbol: string, at: Instrument): Oddness | undefined {
  const { price, quantity } = trade;
  if (trade.symbol !== symbol) return never(`it is of ${trade.symbol}, and stands in the list of ${symbol}`);
  if (price <= noTicks) return never(`its price is ${priceText(price, at)}`);
  if (quantity <= noLots) return never(`its quantity is ${quantityText(quantity, at)}`);
  return undefined;
}

/** Against those orders of ours that it names and is not booked for; undefined when it can be a fill of theirs. */
export function oddForOrders(execution: Execution, trade: VenueTrade): Oddness | undefined {
  const { owners, journal } = execution;
  for (const [index, orderId] of trade.orderIds.entries()) {
    const owner = owners.get(orderId);
    if (owner === undefined) continue;
    if (journal.hasFill({ tradeId: trade.tradeId, orderId })) continue;
    const side = sideOf(trade, index);
    if (owner.side !== side) return never(`it is a ${side}, and order ${owner.clientOrderId} is a ${owner.side}`);
    const open = execution.portfolio.order(owner.clientOrderId);
    const order = open ?? execution.ended(owner.clientOrderId);
    const oddness = order && oddFor(order, trade, execution.portfolio.instrument(trade.symbol));
    if (oddness !== undefined) return oddness;
    // Of an order that ended nobody else counts what is booked now.
    if (open === undefined && order !== undefined) count(order, trade, execution.portfolio.instrument(trade.symbol));
  }
  return undefined;
}

function count(order: WorkingOrder, { price, quantity }: VenueTrade, at: Instrument): void {
  order.filled = plus(order.filled, quantity);
  order.spent = plus(order.spent, notional(price, quantity, at));
}

/** On which side of a trade one of its orders stood: of two the buyer's is the first. */
const sideOf = ({ orderIds, side }: VenueTrade, index: number): Side =>
  orderIds.length === 1 ? side : index === 0 ? 'BUY' : 'SELL';

function oddFor({ intent, filled, spent }: WorkingOrder, trade: VenueTrade, at: Instrument): Oddness | undefined {
  const { clientOrderId, side, price: limit, volume } = intent;
  const { price, quantity } = trade;
  if (intent.symbol !== trade.symbol)
    return never(`it is of ${trade.symbol}, and order ${clientOrderId} of ${intent.symbol}`);
  if (limit !== undefined && (side === 'BUY' ? price > limit : price < limit))
    return odd(
      `its price is ${priceText(price, at)}, beyond the limit ${priceText(limit, at)} of order ${clientOrderId}`,
    );
  if ('lots' in volume)
    return plus(filled, quantity) <= volume.lots
      ? undefined
      : odd(
          `its quantity is ${quantityText(quantity, at)}, and of order ${clientOrderId} ${quantityText(minus(volume.lots, filled), at)} is left`,
        );
  // What an amount buys is rounded to a step of the quantity.
  const step = notional(price, oneLot, at);
  const worth = notional(price, quantity, at);
  return minus(plus(spent, worth), volume.amount) < step
    ? undefined
    : odd(
        `it is worth ${unitsText(worth)}, and of the amount of order ${clientOrderId} ${unitsText(minus(volume.amount, spent))} is left`,
      );
}

const oneLot = 1n as Lots;
const odd = (why: string): Oddness => ({ why, canBeAccepted: true });
