/** The shapes of orders, trades and market data in replies (specification §2), under each quirk. */
import type { Instrument } from '../../domain/instrument.ts';
import {
  averagePrice,
  type Lots,
  noLots,
  plus,
  priceText,
  quantityText,
  type Ticks,
  type Units,
  unitsText,
} from '../../domain/money.ts';
import type { SimOrder } from '../core/order.ts';
import type { OwnTrade } from '../core/order-store.ts';
import type { Quirks } from '../core/quirks.ts';
import type { MinuteRow } from '../market/market.ts';
import { digits, type Json, written } from './json.ts';

/** Ids of the market's side of a trade: no user's. */
const marketUid = '1';
const marketOrderId = '1700000000000000001';

interface Fields {
  readonly [name: string]: Json | undefined;
}

/** An amount that §2 shows as text. */
export function amount(text: string, { amounts }: Quirks): Json {
  if (amounts === 'text' || (amounts === 'mixed' && text.includes('.'))) return text;
  return digits(amounts === 'scientific' ? scientific(text) : text);
}

/** An amount that §2 shows as a number. */
const amountNumber = (text: string, quirks: Quirks): Json =>
  quirks.amounts === 'text' ? digits(text) : amount(text, quirks);

/** `0.00066` → `6.6E-4`, as some venues write small numbers; zero is `0E-16` there. */
function scientific(text: string): string {
  if (text === '0') return '0E-16';
  const [, zeros, first, more] = /^0\.(000+)([1-9])(\d*)$/.exec(text) ?? [];
  if (zeros === undefined || first === undefined) return text;
  return `${first}${more ? `.${more}` : ''}E-${zeros.length + 1}`;
}

const numbers: Readonly<Record<SimOrder['status'], number>> = {
  NEW: 1,
  FILLED: 2,
  PARTIALLY_FILLED: 3,
  CANCELED: 4,
  CANCELING: 5,
  REJECTED: 6,
};

/** The states of live venues in queries: many spellings, or the integers of older ones. */
function stateOf(order: SimOrder, { states }: Quirks): Json {
  if (states === 'five')
    return order.status !== 'CANCELING' ? order.status : order.executed > 0n ? 'PARTIALLY_FILLED' : 'NEW';
  if (states === 'numbers') return numbers[order.status];
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

const clientIdOf = ({ clientOrderId }: SimOrder, { clientId }: Quirks): Json =>
  clientId === 'null' && clientOrderId !== '' ? null : clientOrderId;

/** The id as §2.2 has it: a long, and text too; margin has text alone. */
function idFields({ orderId, account }: SimOrder, quirks: Quirks): Fields {
  if (account === 'margin') return { orderId };
  const shapes = { number: digits(orderId), text: orderId, list: [digits(orderId)] };
  return { orderId: shapes[quirks.orderId], ...(quirks.orderIdString && { orderIdString: orderId }) };
}

const orderFields = (order: SimOrder, at: Instrument, quirks: Quirks): Fields => ({
  symbol: order.symbol,
  clientOrderId: clientIdOf(order, quirks),
  price: amount(priceText(order.price, at), quirks),
  origQty: amount(orderedText(order, at), quirks),
  type: order.type,
  side: order.side,
});

/** The reply to a create: accepted, nothing matched yet, whatever happens in the same millisecond (§3.1). */
export const createdShape = (order: SimOrder, at: Instrument, quirks: Quirks): Json => ({
  ...orderFields(order, at, quirks),
  symbol: order.symbol.toLowerCase(),
  ...idFields(order, quirks),
  transactTime: order.createdAt,
  executedQty: amount('0', quirks),
  status: quirks.createStatus,
});

const progressFields = (order: SimOrder, at: Instrument, quirks: Quirks): Fields => ({
  executedQty: amount(quantityText(order.executed, at), quirks),
  avgPrice: amount(averageText(order, at), quirks),
  status: stateOf(order, quirks),
});

export const queriedShape = (order: SimOrder, at: Instrument, quirks: Quirks): Json => ({
  ...orderFields(order, at, quirks),
  orderId: order.orderId,
  ...progressFields(order, at, quirks),
  transactTime: String(order.createdAt),
});

export const openShape = (order: SimOrder, at: Instrument, quirks: Quirks): Json => ({
  ...orderFields(order, at, quirks),
  clientOrderId: quirks.openOrdersClientId ? clientIdOf(order, quirks) : undefined,
  ...idFields(order, quirks),
  ...progressFields(order, at, quirks),
  time: String(order.createdAt),
});

/** The cancel reply shows `0` for an order without client id (§2.2). */
export const canceledShape = (order: SimOrder, quirks: Quirks): Json => ({
  symbol: order.symbol,
  clientOrderId: order.clientOrderId === '' ? '0' : clientIdOf(order, quirks),
  ...idFields(order, { ...quirks, orderIdString: false }),
  status: quirks.cancel === 'later' ? 'PENDING_CANCEL' : order.status,
});

/** Rows of own trades that are kept as JSON: each poll lists the newest ones again. Beyond it all are dropped. */
const maxRows = 4_096;
const rowsBy = new WeakMap<Quirks, Map<OwnTrade, { readonly at: Instrument; readonly row: Json }>>();

/** An own trade in a list, of the account that it belongs to. */
export function ownTradeRow(own: OwnTrade, at: Instrument, quirks: Quirks): Json {
  const rows = rowsBy.get(quirks) ?? new Map<OwnTrade, { readonly at: Instrument; readonly row: Json }>();
  const known = rows.get(own);
  if (known?.at === at) return known.row;
  if (rows.size >= maxRows) rows.clear();
  const row = written(ownTradeShape(own, at, quirks));
  rowsBy.set(quirks, rows.set(own, { at, row }));
  return row;
}

/** Users' ids and `isSelf` are fields of spot alone (§2.3, §4.4). */
function ownTradeShape({ trade, leg, isBuyer }: OwnTrade, at: Instrument, quirks: Quirks): Json {
  const { buyer, seller } = trade;
  return {
    symbol: trade.symbol,
    id: digits(trade.tradeId),
    bidId: digits(buyer?.orderId ?? marketOrderId),
    askId: digits(seller?.orderId ?? marketOrderId),
    price: amount(priceText(trade.price, at), quirks),
    qty: amountNumber(quantityText(trade.quantity, at), quirks),
    time: trade.time,
    isBuyer,
    isMaker: leg.maker,
    feeCoin: leg.feeAsset,
    fee: amountNumber(unitsText(leg.fee), quirks),
    ...(leg.account === 'spot' && {
      bidUserId: digits(buyer?.uid ?? marketUid),
      askUserId: digits(seller?.uid ?? marketUid),
      isSelf: buyer !== undefined && seller !== undefined && buyer.uid === seller.uid,
    }),
  };
}

export const klineShape = (row: MinuteRow, at: Instrument, { klineIndex }: Quirks): Json => ({
  idx: klineIndex === 'ms' ? row.openTime : row.openTime / 1_000,
  open: String(row.open),
  close: String(row.close),
  high: String(row.high),
  low: String(row.low),
  vol: row.volume.toFixed(at.quantityPrecision),
});

/** The levels of one side, best first, each with the quantity up to there where the quirk says so. */
export function levelShapes(
  levels: readonly { price: Ticks; quantity: Lots }[],
  at: Instrument,
  quirks: Quirks,
): readonly Json[] {
  if (quirks.depthLevels === 'pairs') return levels.map((level) => levelShape(level, at, quirks));
  let sum = noLots;
  return levels.map((level) => {
    sum = plus(sum, level.quantity);
    return [...levelShape(level, at, quirks), amount(quantityText(sum, at), quirks)];
  });
}

/** The day's change, of a price that was and one that is. */
export const roseText = (open: number, close: number, { rose }: Quirks): string =>
  (open === 0 ? 0 : ((close - open) / open) * (rose === 'ratio' ? 1 : 100)).toFixed(8);

export const levelShape = (
  level: { price: Ticks; quantity: Lots },
  at: Instrument,
  quirks: Quirks,
): readonly Json[] => [amount(priceText(level.price, at), quirks), amount(quantityText(level.quantity, at), quirks)];

export const balanceShape = (asset: string, free: Units, locked: Units, quirks: Quirks): Json => ({
  asset,
  free: amount(unitsText(free), quirks),
  locked: amount(unitsText(locked), quirks),
});
