/** From the exchange's records of the account's own trades to `VenueTrade`. */
import type { Instrument } from '../../../domain/instrument.ts';
import type { Side } from '../../../domain/market.ts';
import { lots, noLots, noTicks, noUnits, ticks, units } from '../../../domain/money.ts';
import type { VenueTrade } from '../../../domain/order.ts';
import { exactOf, type Fields, idOf, isFields, symbolOf, textOf, timeOf } from '../rest/json.ts';
import { sideOf } from './read-order.ts';

/**
 * A trade as the row says it, with whatever sign its numbers have (`execution/trade-validation.ts` judges them). Documented, and live with more fields:
 *
 *     {"symbol":"ETHBTC","id":100211,"bidId":150695552109032492,"askId":150695552109032493,"price":"4.00000100","qty":"12.00",
 *      "time":1499865549590,"isBuyer":true,"isMaker":false,"feeCoin":"ETH","fee":"0.001","bidUserId":10083,"askUserId":10671,
 *      "isSelf":false}
 *     {"symbol":"btcusdt","side":"BUY","fee":6.6E-4,"isMaker":true,"isBuyer":true,"bidId":1938321163093077686,"bidUserId":10083,
 *      "price":86650.65,"qty":0.00021,"askId":1938321163093077999,"id":159,"time":1701243281850,"isSelf":false,"feeCoin":"BTC"}
 *
 * A row with an id and an unreadable field says so in `unreadable`, so that it can be quarantined. A row without an id gives a text,
 * which fails the whole answer: left out, it would be a fill that is missing for good.
 */
export function readTrade(raw: unknown, at: Instrument): VenueTrade | string {
  if (!isFields(raw)) return 'the trade is not an object';
  const tradeId = idOf(raw['id']);
  if (tradeId === undefined) return 'a trade has no readable id';
  const side = ownSide(raw);
  const read = {
    side,
    price: exactOf(raw['price'], (text) => ticks(text, at)),
    quantity: exactOf(raw['qty'], (text) => lots(text, at)),
    time: timeOf(raw['time']),
    fee: exactOf(raw['fee'], units),
    feeAsset: textOf(raw['feeCoin'])?.toUpperCase(),
    'order id': side && ownOrderIds(raw, side),
  };
  const missing = Object.entries(read).find(([, value]) => value === undefined);
  return {
    tradeId,
    symbol: symbolOf(raw['symbol']) ?? at.symbol,
    price: read.price ?? noTicks,
    quantity: read.quantity ?? noLots,
    orderIds: read['order id'] ?? [],
    side: side ?? 'BUY',
    maker: isTrue(raw['isMaker']),
    fee: read.fee ?? noUnits,
    feeAsset: read.feeAsset ?? '',
    time: read.time ?? 0,
    raw,
    ...(missing && { unreadable: `it has no readable ${missing[0]}` }),
  };
}

function ownSide(raw: Fields): Side | undefined {
  const isBuyer = raw['isBuyer'];
  if (isBuyer === true || isBuyer === 'true') return 'BUY';
  if (isBuyer === false || isBuyer === 'false') return 'SELL';
  return sideOf(raw['side']);
}

/** The order on our side; both when we were on both sides (`isSelf`, or the same user twice where that flag is left out); undefined when one cannot be read. */
function ownOrderIds(raw: Fields, side: Side): readonly string[] | undefined {
  const bid = idOf(raw['bidId']);
  const ask = idOf(raw['askId']);
  const buyer = textOf(raw['bidUserId']);
  const self = isTrue(raw['isSelf']) || (buyer !== undefined && buyer !== '0' && buyer === textOf(raw['askUserId']));
  const own = self ? [bid, ask] : [side === 'BUY' ? bid : ask];
  return own.every((id) => id !== undefined) ? own : undefined;
}

const isTrue = (value: unknown): boolean => value === true || value === 'true';
