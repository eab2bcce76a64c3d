/** What a match does to the money and to the orders in it. Every leg clears against the house, so the ledger stays at zero. */
import type { Instrument } from '../../domain/instrument.ts';
import {
  baseUnits,
  feeOn,
  type Lots,
  least,
  minus,
  notional,
  plus,
  type Rate,
  type Ticks,
} from '../../domain/money.ts';
import type { Accounts } from './accounts.ts';
import type { Match } from './matching.ts';
import { type Leg, remaining, type SimOrder, type SimTrade } from './order.ts';

/** Fractions of what is received (fill-engine §2.1.8). */
export interface Fees {
  readonly maker: Rate;
  readonly taker: Rate;
}

interface Clearing {
  readonly accounts: Accounts;
  readonly fees: Fees;
  readonly nextTradeId: () => string;
}

export function clear(match: Match, at: Instrument, time: number, { accounts, fees, nextTradeId }: Clearing): SimTrade {
  const { taker, maker, side, price, quantity } = match;
  const leg = (order: SimOrder | undefined, isMaker: boolean): Leg | undefined =>
    order && settle(order, price, quantity, { at, time, accounts, isMaker, fee: isMaker ? fees.maker : fees.taker });
  const takerLeg = leg(taker, false);
  const makerLeg = leg(maker, true);
  return {
    tradeId: nextTradeId(),
    symbol: at.symbol,
    price,
    quantity,
    time,
    side,
    buyer: side === 'BUY' ? takerLeg : makerLeg,
    seller: side === 'BUY' ? makerLeg : takerLeg,
  };
}

interface Terms {
  readonly at: Instrument;
  readonly time: number;
  readonly accounts: Accounts;
  readonly isMaker: boolean;
  readonly fee: Rate;
}

function settle(order: SimOrder, price: Ticks, quantity: Lots, terms: Terms): Leg {
  const { at, time, accounts, isMaker } = terms;
  const { uid } = order;
  const quote = notional(price, quantity, at);
  const base = baseUnits(quantity, at);
  const buys = order.side === 'BUY';
  const [paid, paidAsset] = buys ? [quote, at.quote] : [base, at.base];
  const [gross, feeAsset] = buys ? [base, at.base] : [quote, at.quote];
  const fee = least(gross, feeOn(gross, terms.fee));

  accounts.pay(uid, paidAsset, paid);
  accounts.toHouse(paidAsset, paid);
  accounts.receive(uid, feeAsset, minus(gross, fee));
  accounts.toHouse(feeAsset, minus(fee, gross));

  order.locked = minus(order.locked, paid);
  if (buys && order.type === 'LIMIT') {
    const saved = minus(notional(order.price, quantity, at), quote);
    accounts.unlock(uid, at.quote, saved);
    order.locked = minus(order.locked, saved);
  }
  order.executed = plus(order.executed, quantity);
  order.spent = plus(order.spent, quote);
  order.updatedAt = time;
  const whole = remaining(order) === 0n && order.quantity > 0n;
  if (whole) order.status = 'FILLED';
  else if (order.status === 'NEW') order.status = 'PARTIALLY_FILLED';
  return { orderId: order.orderId, uid, maker: isMaker, fee, feeAsset };
}
