/** Books a match: money and orders. Every leg clears against the house, so the ledger sums to zero. */
import type { Instrument } from '../../domain/instrument.ts';
import { baseUnits, feeOn, min, minus, notional, noUnits, plus, type Rate } from '../../domain/money.ts';
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
  const quote = notional(price, quantity, at);
  const base = baseUnits(quantity, at);

  function settle(order: SimOrder, isMaker: boolean): Leg {
    const { holder, uid, account, orderId } = order;
    const buys = order.side === 'BUY';
    const [feeAsset, gross] = buys ? [at.base, base] : [at.quote, quote];
    const [paidAsset, paid] = buys ? [at.quote, quote] : [at.base, base];
    const fee = min(gross, feeOn(gross, isMaker ? fees.maker : fees.taker));
    accounts.pay(holder, paidAsset, paid);
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
    if (order.executed === order.quantity && order.quantity > 0n) order.status = 'FILLED';
    else if (order.status === 'NEW') order.status = 'PARTIALLY_FILLED';
    return { orderId, uid, account, maker: isMaker, fee, feeAsset };
  }

  const takerLeg = taker && settle(taker, false);
  const makerLeg = maker && settle(maker, true);
  const [buyer, seller] = side === 'BUY' ? [takerLeg, makerLeg] : [makerLeg, takerLeg];
  return { tradeId: nextTradeId(), symbol: at.symbol, price, quantity, time, side, buyer, seller };
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
