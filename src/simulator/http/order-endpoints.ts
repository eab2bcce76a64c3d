/**
 * Orders, own trades and balances (specification §4.2, §4.3), and margin orders (§4.4): the same books and rules, another account, and shapes
 * of their own. What both have takes the account as its first argument.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { noUnits } from '../../domain/money.ts';
import type { Account } from '../../domain/order.ts';
import { refusals } from '../core/errors.ts';
import { holderOf, type SimOrder } from '../core/order.ts';
import type { OwnTrade } from '../core/order-store.ts';
import { type Call, type Endpoint, instrumentIn, instrumentOf, listedOf } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { orderRequest } from './order-request.ts';
import { countOf, given, Refused, required, valueOrRefused } from './params.ts';
import { balanceShape, canceledShape, createdShape, openShape, ownTradeRow, queriedShape } from './shapes.ts';

const longestList = 1_000;

const create =
  (account: Account) =>
  (call: Call): Json => {
    const at = listedOf(call);
    const request = orderRequest(call.params, at, account);
    return createdShape(valueOrRefused(call.exchange.place(call.uid, request, account)), at, call.quirks);
  };

function test(call: Call): Json {
  orderRequest(call.params, listedOf(call), 'spot');
  return {};
}

const query =
  (account: Account) =>
  (call: Call): Json =>
    whole(named(call, account, account === 'margin' || !call.quirks.queryNeedsOrderId), call);

const cancel =
  (account: Account) =>
  (call: Call): Json => {
    const order = named(call, account, account === 'margin');
    const refusal = call.exchange.cancel(order);
    if (refusal !== undefined) throw new Refused(refusal);
    const isWhole = account === 'margin' && call.quirks.marginCancel === 'order';
    return isWhole ? whole(order, call) : canceledShape(order, call.quirks);
  };

const whole = (order: SimOrder, { exchange, quirks }: Call): Json =>
  queriedShape(order, exchange.matching(order.symbol).instrument, quirks);

/** The symbol of a request, which only margin may leave out. */
const symbolOf = (call: Call, account: Account): Instrument | undefined =>
  account === 'spot' ? instrumentOf(call) : instrumentIn(call);

/** The order that a request names by its id, or by its client id where that will do. */
function named(call: Call, account: Account, mayUseClientId: boolean): SimOrder {
  const at = symbolOf(call, account);
  // One table spells the client id with a small o.
  const clientId = given(call.params, 'newClientOrderId') ?? given(call.params, 'newClientorderId');
  const isByClientId = mayUseClientId && given(call.params, 'orderId') === undefined && clientId !== undefined;
  const order = isByClientId ? orderByClientId(call, account, clientId) : orderById(call, account);
  if (at !== undefined && order.symbol !== at.symbol) throw new Refused(refusals.noOrder);
  return order;
}

function orderById({ exchange, params, uid }: Call, account: Account): SimOrder {
  const orderId = required(params, 'orderId');
  if (!/^\d{1,19}$/.test(orderId)) throw new Refused(refusals.orderId);
  const order = exchange.orders.byId(orderId);
  if (order === undefined || order.uid !== uid || order.account !== account) throw new Refused(refusals.noOrder);
  return order;
}

/** The newest order with a client id: repeated ones are accepted. */
function orderByClientId({ exchange, uid }: Call, account: Account, clientId: string): SimOrder {
  const newest = exchange.orders.newestByClientId(holderOf(uid, account), clientId);
  if (newest === undefined) throw new Refused(refusals.noOrder);
  return newest;
}

/** Open orders, the newest first; of every symbol where none is named. */
const openOrders =
  (account: Account) =>
  (call: Call): Json => {
    const { exchange, quirks, params, uid } = call;
    const at = symbolOf(call, account);
    const count = countOf(params, longestList);
    const open = [...exchange.orders.open(holderOf(uid, account))]
      .filter((order) => at === undefined || order.symbol === at.symbol)
      .reverse();
    const rows = open
      .slice(0, count)
      .map((order) => openShape(order, exchange.matching(order.symbol).instrument, quirks));
    return list(rows, call);
  };

/** Own trades, the newest first: the newest of all, or with `fromId` the first ones from there on. */
const myTrades =
  (account: Account) =>
  (call: Call): Json => {
    const { exchange, quirks, params } = call;
    const at = symbolOf(call, account);
    const count = countOf(params, longestList);
    const fromId = given(params, 'fromId');
    const trades = ownTrades(call, account, at);
    let page: readonly OwnTrade[] = trades.slice(-count);
    if (fromId !== undefined) {
      if (!/^\d{1,18}$/.test(fromId)) throw new Refused(refusals.wrongNumber);
      const start = firstFrom(trades, BigInt(fromId), quirks.fromIdInclusive);
      page = trades.slice(start, start + count);
    }
    const rows = page.map((own) => ownTradeRow(own, exchange.matching(own.trade.symbol).instrument, quirks));
    return list(rows.reverse(), call);
  };

/** The oldest first. */
function ownTrades({ exchange, uid }: Call, account: Account, at: Instrument | undefined): readonly OwnTrade[] {
  const holder = holderOf(uid, account);
  if (at !== undefined) return exchange.orders.trades(holder, at.symbol);
  const all = [...exchange.instruments.keys()].flatMap((symbol) => exchange.orders.trades(holder, symbol));
  return all.sort((a, b) => (BigInt(a.trade.tradeId) < BigInt(b.trade.tradeId) ? -1 : 1));
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

function list(rows: Json[], { quirks }: Call): Json {
  if (rows.length === 0 && quirks.emptyLists !== 'empty') return null;
  return quirks.lists === 'bare' ? rows : { list: rows };
}

/** Every asset that is traded here, zeros included, as live venues list them. */
function account({ exchange, uid, quirks }: Call): Json {
  const holdings = exchange.accounts.holdings(uid);
  const traded = [...exchange.instruments.values()].flatMap(({ base, quote }) => [base, quote]);
  const balances = [...new Set([...holdings.keys(), ...traded])].map((asset) => {
    const { free, locked } = holdings.get(asset) ?? { free: noUnits, locked: noUnits };
    return balanceShape(asset, free, locked, quirks);
  });
  return quirks.accountUid ? { uid: digits(uid), balances } : { balances };
}

const trade = { method: 'POST', permission: 'trade' } as const;
const read = { method: 'GET', permission: 'read' } as const;

export const orderEndpoints: readonly Endpoint[] = [
  { ...trade, path: '/sapi/v1/order', weight: 5, perTwoSeconds: 100, creates: true, run: create('spot') },
  { ...trade, path: '/sapi/v1/order/test', weight: 1, run: test },
  { ...read, path: '/sapi/v1/order', weight: 1, run: query('spot') },
  { ...trade, path: '/sapi/v1/cancel', weight: 5, run: cancel('spot') },
  { ...read, path: '/sapi/v1/openOrders', weight: 1, run: openOrders('spot') },
  { ...read, path: '/sapi/v1/myTrades', weight: 1, run: myTrades('spot') },
  { ...read, path: '/sapi/v1/account', weight: 1, run: account },
  { ...trade, path: '/sapi/v1/margin/order', weight: 5, perTwoSeconds: 100, creates: true, run: create('margin') },
  { ...read, path: '/sapi/v1/margin/order', weight: 5, perTwoSeconds: 20, run: query('margin') },
  { ...trade, path: '/sapi/v1/margin/cancel', weight: 5, perTwoSeconds: 100, run: cancel('margin') },
  {
    ...read,
    path: '/sapi/v1/margin/openOrders',
    weight: ({ marginOpenOrdersWeight }) => marginOpenOrdersWeight,
    perTwoSeconds: 20,
    run: openOrders('margin'),
  },
  { ...read, path: '/sapi/v1/margin/myTrades', weight: 1, run: myTrades('margin') },
];
