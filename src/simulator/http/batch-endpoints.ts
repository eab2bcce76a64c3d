/** Up to ten orders of one symbol in one request (specification §4.2). */
import type { Instrument } from '../../domain/instrument.ts';
import { plus, type Units } from '../../domain/money.ts';
import { malformed, refusals } from '../core/errors.ts';
import type { OrderRequest } from '../core/exchange.ts';
import { needOf } from '../core/ledger.ts';
import { isOpen } from '../core/order.ts';
import { type Call, type Endpoint, instrumentOf, listedOf } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { orderRequest } from './order-request.ts';
import { type Params, paramsOf, Refused, requiredList, valueOrRefused } from './params.ts';

const batchLimit = 10;

function records(params: Params, name: string): readonly unknown[] {
  const list = requiredList(params, name);
  if (list.length === 0 || list.length > batchLimit) throw new Refused(refusals.batchSize);
  return list;
}

/** A record of a batch calls `batchType` what an order calls `type`. */
function requestOf(record: unknown, at: Instrument): OrderRequest {
  const params = paramsOf(record);
  if (params === undefined) throw new Refused(malformed('orders'));
  return orderRequest(new Map([...params, ['type', params.get('batchType')]]), at);
}

/** The specification does not say what happens to a batch with an invalid order: the quirk `batchFailure` decides. */
function create(call: Call): Json {
  const at = listedOf(call);
  const orders = records(call.params, 'orders');
  if (call.quirks.batchFailure === 'refuse') demandAll(orders, at, call);
  const ids: string[] = [];
  for (const record of orders) {
    const placed = placeOne(record, at, call);
    if (placed instanceof Refused) {
      if (call.quirks.batchFailure === 'skip') continue;
      throw placed;
    }
    ids.push(placed);
  }
  return { ids: ids.map(digits), idsString: ids };
}

function placeOne(record: unknown, at: Instrument, { exchange, uid }: Call): string | Refused {
  try {
    return valueOrRefused(exchange.place(uid, requestOf(record, at))).orderId;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Refuses the whole batch unless each order is right and there are funds for all of them together. */
function demandAll(orders: readonly unknown[], at: Instrument, { exchange, uid }: Call): void {
  const needs = new Map<string, Units>();
  for (const record of orders) {
    const [asset, amount] = needOf(requestOf(record, at), at);
    const before = needs.get(asset);
    needs.set(asset, before === undefined ? amount : plus(before, amount));
  }
  for (const [asset, amount] of needs)
    if (exchange.accounts.holding(uid, asset).free < amount) throw new Refused(refusals.funds);
  if (!exchange.hasRoomFor(uid, orders.length)) throw new Refused(refusals.openOrders);
}

/** An id fails when there is no such order of the user in this symbol, or when it has ended (§3.1). */
function cancel(call: Call): Json {
  const { exchange, quirks, uid } = call;
  const at = instrumentOf(call);
  const success: string[] = [];
  const failed: string[] = [];
  for (const given of records(call.params, 'orderIds')) {
    const orderId = typeof given === 'string' ? given : '';
    const order = exchange.orders.byId(orderId);
    const own = order !== undefined && order.uid === uid && order.account === 'spot' && order.symbol === at.symbol;
    const ended = own && isOpen(order) && exchange.cancel(order) === undefined;
    (ended ? success : failed).push(orderId);
  }
  const shape = (ids: readonly string[]): Json =>
    ids.map((id) => (quirks.batchCancelIds === 'number' && /^[1-9]\d{0,18}$/.test(id) ? digits(id) : id));
  return { success: shape(success), failed: shape(failed) };
}

const batch = { method: 'POST', permission: 'trade', weight: 10 } as const;

export const batchEndpoints: readonly Endpoint[] = [
  { ...batch, path: '/sapi/v1/batchOrders', creates: true, run: create },
  { ...batch, path: '/sapi/v1/batchCancel', run: cancel },
];
