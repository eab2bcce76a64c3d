/** How orders, trades and market data look in replies (specification §2), under each habit. */
import type { Instrument } from '../../domain/instrument.ts';
import {
  averagePrice,
  type Lots,
  priceText,
  quantityText,
  type Ticks,
  type Units,
  unitsText,
} from '../../domain/money.ts';
import type { Habits } from '../core/habits.ts';
import type { SimOrder } from '../core/order.ts';
import type { OwnTrade } from '../core/order-store.ts';
import type { MinuteRow } from '../market/market.ts';
import { digits, type Json } from './json.ts';

/** What a list entry shows of an order that the market behind the book traded with: no user's. */
const marketUid = '1';
const marketOrderId = '1700000000000000001';

/** Spellings of the states that live venues use in queries (venue-observed §5). */
function stateText(order: SimOrder, habits: Habits): string {
  if (habits.states === 'five') return order.status === 'CANCELING' ? 'NEW' : order.status;
  if (order.type === 'MARKET' && order.side === 'BUY' && order.status === 'FILLED' && order.spent < order.amount)
    return 'Partially Filled/Cancelled';
  const words: Readonly<Record<SimOrder['status'], string>> = {
    NEW: 'New Order',
    PARTIALLY_FILLED: 'Partially Filled',
    FILLED: 'Filled',
    CANCELING: 'PENDING_CANCEL',
    CANCELED: order.executed > 0n ? 'PARTIALLY_FILLED_CANCEL' : 'Cancelled',
    REJECTED: 'REJECTED',
  };
  return words[order.status];
}

const orderedText = (order: SimOrder, at: Instrument): string =>
  order.amount > 0n ? unitsText(order.amount) : quantityText(order.quantity, at);

const averageText = (order: SimOrder, at: Instrument): string =>
  averagePrice(order.spent, order.executed, at)?.toFixed() ?? '0';

const orderFields = (order: SimOrder, at: Instrument): { [key: string]: Json } => ({
  symbol: order.symbol,
  clientOrderId: order.clientOrderId,
  price: priceText(order.price, at),
  origQty: orderedText(order, at),
  type: order.type,
  side: order.side,
});

/** The reply to a create: accepted, nothing matched yet, whatever happens in the same millisecond (§3.1). */
export const createdShape = (order: SimOrder, at: Instrument, habits: Habits): Json => ({
  ...orderFields(order, at),
  symbol: order.symbol.toLowerCase(),
  orderId: digits(order.orderId),
  orderIdString: order.orderId,
  transactTime: order.createdAt,
  executedQty: '0',
  status: habits.createStatus,
});

export const queriedShape = (order: SimOrder, at: Instrument, habits: Habits): Json => ({
  ...orderFields(order, at),
  orderId: order.orderId,
  executedQty: quantityText(order.executed, at),
  avgPrice: averageText(order, at),
  status: stateText(order, habits),
  transactTime: String(order.createdAt),
});

export const openShape = (order: SimOrder, at: Instrument, habits: Habits): Json => ({
  ...orderFields(order, at),
  orderId: digits(order.orderId),
  orderIdString: order.orderId,
  executedQty: quantityText(order.executed, at),
  avgPrice: averageText(order, at),
  status: stateText(order, habits),
  time: String(order.createdAt),
});

/** The cancel reply shows `0` for an order without client id (§2.2). */
export const canceledShape = (order: SimOrder, habits: Habits): Json => ({
  symbol: order.symbol,
  clientOrderId: order.clientOrderId === '' ? '0' : order.clientOrderId,
  orderId: digits(order.orderId),
  status: habits.cancel === 'later' ? 'PENDING_CANCEL' : order.status,
});

export function ownTradeShape({ trade, leg, isBuyer }: OwnTrade, at: Instrument): Json {
  const { buyer, seller } = trade;
  return {
    symbol: trade.symbol,
    id: digits(trade.tradeId),
    bidId: digits(buyer?.orderId ?? marketOrderId),
    askId: digits(seller?.orderId ?? marketOrderId),
    price: priceText(trade.price, at),
    qty: digits(quantityText(trade.quantity, at)),
    time: trade.time,
    isBuyer,
    isMaker: leg.maker,
    feeCoin: leg.feeAsset,
    fee: digits(unitsText(leg.fee)),
    bidUserId: digits(buyer?.uid ?? marketUid),
    askUserId: digits(seller?.uid ?? marketUid),
    isSelf: buyer !== undefined && seller !== undefined && buyer.uid === seller.uid,
  };
}

export const klineShape = (row: MinuteRow, at: Instrument): Json => ({
  idx: row.openTime,
  open: String(row.open),
  close: String(row.close),
  high: String(row.high),
  low: String(row.low),
  vol: row.volume.toFixed(at.quantityPrecision),
});

export const levelShape = (level: { price: Ticks; quantity: Lots }, at: Instrument): Json => [
  priceText(level.price, at),
  quantityText(level.quantity, at),
];

export const balanceShape = (asset: string, free: Units, locked: Units): Json => ({
  asset,
  free: unitsText(free),
  locked: unitsText(locked),
});
