/** From the exchange's order objects to `OrderReport`. */
import type { Instrument } from '../../../domain/instrument.ts';
import type { Side } from '../../../domain/market.ts';
import { type Lots, lots, noLots, noTicks, noUnits, ticks } from '../../../domain/money.ts';
import type { OrderReport, OrderType, VenueStatus } from '../../../domain/order.ts';
import type { Count } from '../counters.ts';
import { amountOf, exactOf, type Fields, idOf, isFields, symbolOf, textOf, timeOf } from '../rest/json.ts';

/** What an answer may leave out because we know it: the order that we asked about. */
export type Known = Partial<Pick<OrderReport, 'side' | 'type' | 'orderId'>>;

/**
 * A report, or in words why the object cannot be one. Spot query, spot open orders, create reply of another deployment:
 *
 *     {"orderId":"150695552109032492","clientOrderId":"saaaa…","symbol":"BTCUSDT","price":"100.5","origQty":"1",
 *      "executedQty":"0","avgPrice":"0","status":"NEW","type":"LIMIT","side":"BUY","transactTime":1574327555669}
 *     {"orderId":499890200602846976,"orderIdString":"499890200602846976","symbol":"BTCUSDT","executedQty":0E-16,
 *      "status":"NEW_","type":"LIMIT","side":"SELL","time":"1574327555669", …}
 *     {"symbol":"btcusdt","orderId":[1938321163093077686],"clientOrderId":"0","status":0}
 *
 * A status that says the order is over must come with a readable `executedQty`: without it the caller could close the order
 * with fills missing.
 */
export function readOrder(raw: unknown, at: Instrument, count: Count, known: Known = {}): OrderReport | string {
  if (!isFields(raw)) return 'the order is not an object';
  const orderId = idOf(raw['orderIdString']) ?? idOf(raw['orderId']) ?? known.orderId;
  if (orderId === undefined) return 'the order has no readable orderId';
  const side = sideOf(raw['side']) ?? known.side;
  if (side === undefined) return `order ${orderId} has no readable side`;
  const executed = executedOf(raw, at);
  if (executed === undefined) {
    count('unreadable executedQty', raw);
    return `order ${orderId} has no readable executedQty`;
  }
  const type = typeOf(raw['type']) ?? known.type;
  return {
    orderId,
    clientOrderId: clientOrderIdOf(raw['clientOrderId']),
    symbol: symbolOf(raw['symbol']) ?? at.symbol,
    side,
    type: type ?? foreignType(raw, count),
    status: trusted(statusOf(raw['status'], count), executed, raw, count),
    ...oddStatusOf(raw['status']),
    executed,
    ...(type === undefined ? {} : askedOf(raw, type, side, at)),
    ...createdAtOf(raw),
  };
}

/** Queries say `transactTime`, lists of open orders `time` (§2.2). */
function createdAtOf(raw: Fields): Pick<OrderReport, 'createdAt'> {
  const createdAt = timeOf(raw['transactTime']) ?? timeOf(raw['time']);
  return createdAt === undefined ? {} : { createdAt };
}

/** What an order asked for. Of a MARKET BUY `origQty` is the amount of the quote asset that it spends. */
function askedOf(
  raw: Fields,
  type: OrderType,
  side: Side,
  at: Instrument,
): Pick<OrderReport, 'price' | 'quantity' | 'amount'> {
  if (type === 'MARKET' && side === 'BUY') {
    const amount = amountOf(raw['origQty']);
    return amount !== undefined && amount > noUnits ? { amount } : {};
  }
  const quantity = exactOf(raw['origQty'], (text) => lots(text, at));
  if (quantity === undefined || quantity <= noLots) return {};
  if (type === 'MARKET') return { quantity };
  const price = exactOf(raw['price'], (text) => ticks(text, at));
  return price !== undefined && price > noTicks ? { price, quantity } : {};
}

/** A create reply. `executedQty` may be missing there; then the order counts as open whatever its status says: ask again. */
export function readCreated(raw: Fields, at: Instrument, count: Count, known: Known): OrderReport | string {
  if (executedOf(raw, at) !== undefined) return readOrder(raw, at, count, known);
  const rejected = statusOf(raw['status'], count) === 'REJECTED';
  return readOrder({ ...raw, executedQty: '0', status: rejected ? 'REJECTED' : 'NEW' }, at, count, known);
}

/** Null, empty and "0" stand for "none was given". */
export function clientOrderIdOf(value: unknown): string | undefined {
  const id = textOf(value);
  return id === undefined || id === '0' ? undefined : id;
}

export function sideOf(value: unknown): Side | undefined {
  if (value === 'BUY' || value === 'SELL') return value;
  const side = textOf(value)?.toUpperCase();
  return side === 'BUY' || side === 'SELL' ? side : undefined;
}

function typeOf(value: unknown): OrderType | undefined {
  const type = textOf(value)?.toUpperCase();
  if (type === 'LIMIT' || type === '1') return 'LIMIT';
  return type === 'MARKET' || type === '2' ? 'MARKET' : undefined;
}

/** We never place other types, so this order is not ours, and its type does not matter. */
function foreignType(raw: Fields, count: Count): OrderType {
  count('unknown order type', raw['type'] ?? 'missing');
  return 'LIMIT';
}

function executedOf(raw: Fields, at: Instrument): Lots | undefined {
  const executed = exactOf(raw['executedQty'], (text) => lots(text, at));
  return executed === undefined || executed < noLots ? undefined : executed;
}

/** Spellings seen in the wild, upper case with every other character as one `_`. */
const statuses: Readonly<Record<string, VenueStatus>> = {
  NEW: 'NEW',
  NEW_ORDER: 'NEW',
  INIT: 'NEW',
  '0': 'NEW',
  '1': 'NEW',
  PARTIALLY_FILLED: 'PARTIALLY_FILLED',
  PART_FILLED: 'PARTIALLY_FILLED',
  '3': 'PARTIALLY_FILLED',
  FILLED: 'FILLED',
  '2': 'FILLED',
  PENDING_CANCEL: 'CANCELING',
  TO_BE_CANCELLED: 'CANCELING',
  TO_BE_CANCELED: 'CANCELING',
  CANCELING: 'CANCELING',
  // On one deployment 5 means cancelled after a part was filled: taken as "not over yet", which asks again and harms nothing.
  '5': 'CANCELING',
  CANCELED: 'CANCELED',
  CANCELLED: 'CANCELED',
  CANCEL: 'CANCELED',
  PARTIALLY_FILLED_CANCELED: 'CANCELED',
  PARTIALLY_FILLED_CANCELLED: 'CANCELED',
  PARTIALLY_FILLED_CANCEL: 'CANCELED',
  EXPIRED: 'CANCELED',
  '4': 'CANCELED',
  '6': 'CANCELED',
  REJECTED: 'REJECTED',
};

/** An unknown status means "open, ask again", never "over". */
export function statusOf(value: unknown, count: Count): VenueStatus {
  const status = knownStatus(value);
  if (status !== undefined) return status;
  count('unknown order status', value ?? 'missing');
  return 'NEW';
}

function knownStatus(value: unknown): VenueStatus | undefined {
  const word = (textOf(value) ?? '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return Object.hasOwn(statuses, word) ? statuses[word] : undefined;
}

const longestWord = 40;

function oddStatusOf(value: unknown): Pick<OrderReport, 'oddStatus'> {
  return knownStatus(value) === undefined ? { oddStatus: (textOf(value) ?? 'missing').slice(0, longestWord) } : {};
}

/** Whether an order is filled is decided by what was executed, not by a word. */
function trusted(status: VenueStatus, executed: Lots, raw: Fields, count: Count): VenueStatus {
  if (status !== 'FILLED' || executed > noLots) return status;
  count('filled without a quantity', raw);
  return 'NEW';
}
