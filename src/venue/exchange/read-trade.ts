/** From the exchange's records of the account's own trades to `VenueTrade`. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { lots, MoneyError, ticks, units } from '../../domain/money.ts';
import type { VenueTrade } from '../../domain/order.ts';
import { decimalOf, type Fields, idOf, isFields, symbolOf, textOf, timeOf } from './json.ts';
import { sideOf } from './read-order.ts';

/**
 * A trade as the row says it, with whatever sign its numbers have (`execution/trade-validation.ts` judges them), or in words why the record cannot be one. Documented, and live with more fields:
 *
 *     {"symbol":"ETHBTC","id":100211,"bidId":150695552109032492,"askId":150695552109032493,"price":"4.00000100","qty":"12.00",
 *      "time":1499865549590,"isBuyer":true,"isMaker":false,"feeCoin":"ETH","fee":"0.001","bidUserId":10083,"askUserId":10671,
 *      "isSelf":false}
 *     {"symbol":"btcusdt","side":"BUY","fee":6.6E-4,"isMaker":true,"isBuyer":true,"bidId":1938321163093077686,"bidUserId":10083,
 *      "price":86650.65,"qty":0.00021,"askId":1938321163093077999,"id":159,"time":1701243281850,"isSelf":false,"feeCoin":"BTC"}
 *
 * A record that cannot be read fails the whole answer: left out, it would be a fill that is missing for good.
 */
export function readTrade(raw: unknown, at: Instrument): VenueTrade | string {
  if (!isFields(raw)) return 'the trade is not an object';
  const tradeId = idOf(raw['id']);
  if (tradeId === undefined) return 'a trade has no readable id';
  const side = ownSide(raw);
  const price = decimalOf(raw['price']);
  const quantity = decimalOf(raw['qty']);
  const time = timeOf(raw['time']);
  const fee = decimalOf(raw['fee']);
  const feeAsset = textOf(raw['feeCoin'])?.toUpperCase();
  const orderIds = side === undefined ? [] : ownOrderIds(raw, side);
  if (!side || !price || !quantity || !time || !fee || !feeAsset) {
    const missing = Object.entries({ side, price, quantity, time, fee, feeAsset }).find(([, value]) => !value);
    return `trade ${tradeId} has no readable ${missing?.[0]}`;
  }
  if (orderIds.length === 0) return `trade ${tradeId} has no readable order id`;
  try {
    return {
      tradeId,
      symbol: symbolOf(raw['symbol']) ?? at.symbol,
      price: ticks(price, at),
      quantity: lots(quantity, at),
      orderIds,
      side,
      maker: isTrue(raw['isMaker']),
      fee: units(fee),
      feeAsset,
      time,
      raw,
    };
  } catch (error) {
    if (error instanceof MoneyError) return `trade ${tradeId}: ${error.message}`;
    throw error;
  }
}

function ownSide(raw: Fields): Side | undefined {
  const isBuyer = raw['isBuyer'];
  if (isBuyer === true || isBuyer === 'true') return 'BUY';
  if (isBuyer === false || isBuyer === 'false') return 'SELL';
  return sideOf(raw['side']);
}

/** The order on our side; both when we were on both sides (`isSelf`, or the same user twice where that flag is left out). */
function ownOrderIds(raw: Fields, side: Side): readonly string[] {
  const bid = idOf(raw['bidId']);
  const ask = idOf(raw['askId']);
  const buyer = textOf(raw['bidUserId']);
  const self = isTrue(raw['isSelf']) || (buyer !== undefined && buyer !== '0' && buyer === textOf(raw['askUserId']));
  const own = self ? [bid, ask] : [side === 'BUY' ? bid : ask];
  return own.every((id) => id !== undefined) ? own : [];
}

const isTrue = (value: unknown): boolean => value === true || value === 'true';
