/** Spot orders, own trades and balances (specification §4.2, §4.3). */
import { noUnits } from '../../domain/money.ts';
import { refusals } from '../core/errors.ts';
import type { SimOrder } from '../core/order.ts';
import type { OwnTrade } from '../core/order-store.ts';
import { type Call, type Endpoint, instrumentOf } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { orderRequest } from './order-request.ts';
import { limit, optional, Refused, required } from './params.ts';
import { balanceShape, canceledShape, createdShape, openShape, ownTradeShape, queriedShape } from './shapes.ts';

const standardLimit = 100;
const longestList = 1_000;

function create(call: Call): Json {
  const at = instrumentOf(call);
  const placed = call.exchange.place(call.uid, orderRequest(call.params, at));
  if (!placed.ok) throw new Refused(placed.refusal);
  return createdShape(placed.value, at, call.habits);
}

function test(call: Call): Json {
  orderRequest(call.params, instrumentOf(call));
  return {};
}

function query(call: Call): Json {
  const at = instrumentOf(call);
  return queriedShape(wantedOrder(call, at.symbol), at, call.habits);
}

/** The order that a query names: by id, or by client id where the exchange allows that. */
function wantedOrder(call: Call, symbol: string): SimOrder {
  const { params, exchange, habits, uid } = call;
  const clientId = optional(params, 'newClientorderId') ?? optional(params, 'newClientOrderId');
  if (!habits.queryNeedsOrderId && optional(params, 'orderId') === undefined && clientId !== undefined) {
    const newest = exchange.orders.newestByClientId(uid, clientId);
    if (newest === undefined || newest.symbol !== symbol) throw new Refused(refusals.noOrder);
    return newest;
  }
  return ownOrder(call, symbol);
}

function ownOrder({ params, exchange, uid }: Call, symbol: string): SimOrder {
  const order = exchange.orders.byId(required(params, 'orderId'));
  if (order === undefined || order.uid !== uid || order.symbol !== symbol) throw new Refused(refusals.noOrder);
  return order;
}

function cancel(call: Call): Json {
  const at = instrumentOf(call);
  const order = ownOrder(call, at.symbol);
  const refusal = call.exchange.cancel(order);
  if (refusal !== undefined) throw new Refused(refusal);
  return canceledShape(order, call.habits);
}

/** Open orders, the newest first. */
function openOrders(call: Call): Json {
  const at = instrumentOf(call);
  const count = limit(call.params, standardLimit, longestList);
  const open = [...call.exchange.orders.open(call.uid)].filter((order) => order.symbol === at.symbol).reverse();
  return list(
    open.slice(0, count).map((order) => openShape(order, at, call.habits)),
    call,
  );
}

/** Own trades, the newest first: the newest of all, or with `fromId` the first ones from there on. */
function myTrades(call: Call): Json {
  const at = instrumentOf(call);
  const count = limit(call.params, standardLimit, longestList);
  const fromId = optional(call.params, 'fromId');
  const trades = call.exchange.orders.trades(call.uid, at.symbol);
  let page: readonly OwnTrade[] = trades.slice(-count);
  if (fromId !== undefined && fromId !== '') {
    if (!/^\d{1,18}$/.test(fromId)) throw new Refused(refusals.wrongNumber);
    const start = firstFrom(trades, BigInt(fromId), call.habits.fromIdInclusive);
    page = trades.slice(start, start + count);
  }
  return list(page.map((own) => ownTradeShape(own, at)).reverse(), call);
}

/** Index of the first trade with that id or a later one (not inclusive: a later one only). */
function firstFrom(trades: readonly OwnTrade[], fromId: bigint, inclusive: boolean): number {
  let low = 0;
  let high = trades.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const id = BigInt((trades[middle] as OwnTrade).trade.tradeId);
    if (inclusive ? id < fromId : id <= fromId) low = middle + 1;
    else high = middle;
  }
  return low;
}

const list = (rows: Json[], { habits }: Call): Json => (habits.lists === 'bare' ? rows : { list: rows });

/** Every asset that is traded here, zeros included, as live venues list them. */
function account({ exchange, uid, habits }: Call): Json {
  const holdings = exchange.accounts.holdings(uid);
  const traded = [...exchange.instruments.values()].flatMap(({ base, quote }) => [base, quote]);
  const balances = [...new Set([...holdings.keys(), ...traded])].map((asset) => {
    const { free, locked } = holdings.get(asset) ?? { free: noUnits, locked: noUnits };
    return balanceShape(asset, free, locked);
  });
  return habits.envelope === 'full' ? { uid: digits(uid), balances } : { balances };
}

const signed = { signed: true } as const;

export const tradeEndpoints: readonly Endpoint[] = [
  { ...signed, method: 'POST', path: '/sapi/v1/order', weight: 5, perTwoSeconds: 100, run: create },
  { ...signed, method: 'POST', path: '/sapi/v1/order/test', weight: 1, run: test },
  { ...signed, method: 'GET', path: '/sapi/v1/order', weight: 1, run: query },
  { ...signed, method: 'POST', path: '/sapi/v1/cancel', weight: 5, run: cancel },
  { ...signed, method: 'GET', path: '/sapi/v1/openOrders', weight: 1, run: openOrders },
  { ...signed, method: 'GET', path: '/sapi/v1/myTrades', weight: 1, run: myTrades },
  { ...signed, method: 'GET', path: '/sapi/v1/account', weight: 1, run: account },
];
