/** What a match does to the money and to the orders in it. Every leg clears against the house, so the ledger stays at zero. */
import type { Instrument } from '../../domain/instrument.ts';
import {
  baseUnits,
  feeOn,
  type Lots,
  least,
  minus,
  notional,
  noUnits,
  plus,
  type Rate,
  type Ticks,
} from '../../domain/money.ts';
import type { Accounts } from './accounts.ts';
import type { Match } from './matching.ts';
import { holderOf, type Leg, type SimOrder, type SimTrade } from './order.ts';

/** Fractions of what is received. */
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

/** Moves the money of a trade back, fees included; false, and nothing moved, when it was spent. */
export function unclear({ price, quantity, buyer, seller }: SimTrade, at: Instrument, accounts: Accounts): boolean {
  const quote = notional(price, quantity, at);
  const base = baseUnits(quantity, at);
  const bought = { given: [at.quote, quote], got: [at.base, base] } as const;
  const sold = { given: [at.base, base], got: [at.quote, quote] } as const;
  const legs = [buyer && { ...bought, leg: buyer }, seller && { ...sold, leg: seller }]
    .filter((one) => one !== undefined)
    .map((one) => ({ ...one, holder: holderOf(one.leg.uid, one.leg.account) }));
  const isThere = legs.every(({ holder, got: [asset, gross], leg: { fee } }) => {
    const free = accounts.holdings(holder).get(asset)?.free ?? noUnits;
    return free >= minus(gross, fee);
  });
  if (!isThere) return false;
  for (const { holder, given, got, leg } of legs) {
    accounts.takeBack(holder, ...given);
    accounts.giveBack(holder, ...got, leg.fee);
  }
  return true;
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
  const { holder } = order;
  const quote = notional(price, quantity, at);
  const base = baseUnits(quantity, at);
  const buys = order.side === 'BUY';
  const gross = buys ? base : quote;
  const paid = buys ? quote : base;
  const feeAsset = buys ? at.base : at.quote;
  const fee = least(gross, feeOn(gross, terms.fee));

  accounts.pay(holder, buys ? at.quote : at.base, paid);
  accounts.receive(holder, feeAsset, gross, fee);

  order.locked = minus(order.locked, paid);
  if (buys && order.type === 'LIMIT' && order.price !== price) {
    const saved = minus(notional(order.price, quantity, at), quote);
    accounts.unlock(holder, at.quote, saved);
    order.locked = minus(order.locked, saved);
  }
  order.executed = plus(order.executed, quantity);
  order.spent = plus(order.spent, quote);
  order.updatedAt = time;
  const whole = order.executed === order.quantity && order.quantity > 0n;
  if (whole) order.status = 'FILLED';
  else if (order.status === 'NEW') order.status = 'PARTIALLY_FILLED';
  return { orderId: order.orderId, uid: order.uid, account: order.account, maker: isMaker, fee, feeAsset };
}
