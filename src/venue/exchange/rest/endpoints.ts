/**
 * Every operation of the exchange's REST interface (specification §4): the one table from which requests, their weight and their
 * limits are drawn, and `docs/reference/exchange.md`. The socket's are in `channels.ts`.
 */
import type { Account } from '../../../domain/order.ts';
import type { RequestCost } from '../../venue.ts';

/** Where an operation is to be found: the table of the documentation is made of these. */
export interface Found {
  /** In words, unique. */
  readonly name: string;
  /** Where the specification describes it. */
  readonly section: string;
  /** The member of `Exchange` that carries it out. */
  readonly call: string;
  /** The command by which a user does. */
  readonly command: string;
  /** The file that tests it, without `.test.ts`: in `src/venue/exchange/`, or from the root where it begins with `src/`. */
  readonly test: string;
}

export interface Endpoint extends Found {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Who may call it (specification §5.1): `NONE` is open, the others want a key and a signature. */
  readonly security: 'NONE' | 'TRADE' | 'USER_DATA';
  /** What a call counts against both weight windows (§8). */
  readonly weight: number;
  /** At most this many calls in 2 seconds, where the specification gives a figure (§8). */
  readonly frequency?: number;
}

type Row = Omit<Endpoint, 'method' | 'security'>;
const open = (row: Row): Endpoint => ({ ...row, method: 'GET', security: 'NONE' });
const get = (row: Row): Endpoint => ({ ...row, method: 'GET', security: 'TRADE' });
const post = (row: Row): Endpoint => ({ ...row, method: 'POST', security: 'TRADE' });
const data = (row: Row): Endpoint => ({ ...row, method: 'GET', security: 'USER_DATA' });
const dataPost = (row: Row): Endpoint => ({ ...row, method: 'POST', security: 'USER_DATA' });

/**
 * `/ping` and `/time` have no published weight, the `/open` operations neither: 1 and the 5 of their sisters under `/sapi` err on
 * the safe side.
 */
export const endpoints = {
  ping: open({
    name: 'ping',
    path: '/sapi/v1/ping',
    weight: 1,
    section: '4.1',
    call: 'market.ping',
    command: 'sluice market ping',
    test: 'market/queries',
  }),
  time: open({
    name: 'time',
    path: '/sapi/v1/time',
    weight: 1,
    section: '4.1',
    call: 'market.time',
    command: 'sluice market time',
    test: 'market/queries',
  }),
  symbols: open({
    name: 'symbols',
    path: '/sapi/v1/symbols',
    weight: 1,
    section: '4.1',
    call: 'instruments',
    command: 'sluice market symbols',
    test: 'exchange',
  }),
  depth: open({
    name: 'depth',
    path: '/sapi/v1/depth',
    weight: 5,
    section: '4.1',
    call: 'market.depth',
    command: 'sluice market depth',
    test: 'market/queries',
  }),
  ticker: open({
    name: 'ticker',
    path: '/sapi/v1/ticker',
    weight: 5,
    section: '4.1',
    call: 'market.ticker',
    command: 'sluice market ticker',
    test: 'market/queries',
  }),
  trades: open({
    name: 'trades',
    path: '/sapi/v1/trades',
    weight: 5,
    section: '4.1',
    call: 'market.trades',
    command: 'sluice market trades',
    test: 'market/queries',
  }),
  klines: open({
    name: 'klines',
    path: '/sapi/v1/klines',
    weight: 1,
    section: '4.1',
    call: 'market.klines',
    command: 'sluice market klines',
    test: 'market/queries',
  }),
  create: post({
    name: 'order create',
    path: '/sapi/v1/order',
    weight: 5,
    frequency: 100,
    section: '4.2',
    call: 'orders.prepare',
    command: 'sluice order create',
    test: 'orders/orders',
  }),
  orderTest: post({
    name: 'order test',
    path: '/sapi/v1/order/test',
    weight: 1,
    section: '4.2',
    call: 'desk.test',
    command: 'sluice order test',
    test: 'orders/bulk',
  }),
  batchCreate: post({
    name: 'batch create',
    path: '/sapi/v1/batchOrders',
    weight: 10,
    section: '4.2',
    call: 'desk.createMany',
    command: 'sluice order batch',
    test: 'orders/bulk',
  }),
  query: get({
    name: 'order query',
    path: '/sapi/v1/order',
    weight: 1,
    section: '4.2',
    call: 'orders.query',
    command: 'sluice order query',
    test: 'orders/queries',
  }),
  cancel: post({
    name: 'order cancel',
    path: '/sapi/v1/cancel',
    weight: 5,
    section: '4.2',
    call: 'orders.cancel',
    command: 'sluice order cancel',
    test: 'orders/orders',
  }),
  batchCancel: post({
    name: 'batch cancel',
    path: '/sapi/v1/batchCancel',
    weight: 10,
    section: '4.2',
    call: 'desk.cancelMany',
    command: 'sluice order cancel',
    test: 'orders/bulk',
  }),
  openOrders: get({
    name: 'open orders',
    path: '/sapi/v1/openOrders',
    weight: 1,
    section: '4.2',
    call: 'orders.openOrders',
    command: 'sluice order open',
    test: 'orders/queries',
  }),
  myTrades: get({
    name: 'own trades',
    path: '/sapi/v1/myTrades',
    weight: 1,
    section: '4.2',
    call: 'orders.tradesSince',
    command: 'sluice order trades',
    test: 'orders/queries',
  }),
  account: data({
    name: 'account',
    path: '/sapi/v1/account',
    weight: 1,
    section: '4.3',
    call: 'account.balances',
    command: 'sluice account',
    test: 'exchange',
  }),
  marginCreate: post({
    name: 'margin order create',
    path: '/sapi/v1/margin/order',
    weight: 5,
    frequency: 100,
    section: '4.4',
    call: 'orders.prepare',
    command: 'sluice order create --account margin',
    test: 'orders/orders',
  }),
  marginQuery: get({
    name: 'margin order query',
    path: '/sapi/v1/margin/order',
    weight: 5,
    frequency: 20,
    section: '4.4',
    call: 'orders.query',
    command: 'sluice order query --account margin',
    test: 'orders/queries',
  }),
  marginCancel: post({
    name: 'margin order cancel',
    path: '/sapi/v1/margin/cancel',
    weight: 5,
    frequency: 100,
    section: '4.4',
    call: 'orders.cancel',
    command: 'sluice order cancel --account margin',
    test: 'orders/orders',
  }),
  // Two statements give 1 and 5 for this one (§4.4): the dearer is counted.
  marginOpenOrders: get({
    name: 'margin open orders',
    path: '/sapi/v1/margin/openOrders',
    weight: 5,
    frequency: 20,
    section: '4.4',
    call: 'orders.openOrders',
    command: 'sluice order open --account margin',
    test: 'orders/queries',
  }),
  marginMyTrades: get({
    name: 'margin own trades',
    path: '/sapi/v1/margin/myTrades',
    weight: 1,
    section: '4.4',
    call: 'orders.tradesSince',
    command: 'sluice order trades --account margin',
    test: 'orders/queries',
  }),
  // Its sister that applies for one is not here: nothing that the daemon can reach knows it (src/withdraw/apply.ts).
  withdrawQuery: dataPost({
    name: 'withdrawal query',
    path: '/sapi/v1/withdraw/query',
    weight: 100,
    section: '4.5',
    call: 'withdrawals.query',
    command: 'sluice-withdraw list',
    test: 'orders/withdrawals',
  }),
  openTrades: open({
    name: 'open trades',
    path: '/open/pub/trades',
    weight: 5,
    section: '4.6',
    call: 'openData.trades',
    command: 'sluice market open trades',
    test: 'market/open-data',
  }),
  openTicker: open({
    name: 'open ticker',
    path: '/open/pub/ticker',
    weight: 5,
    section: '4.6',
    call: 'openData.ticker',
    command: 'sluice market open ticker',
    test: 'market/open-data',
  }),
  openAsset: open({
    name: 'open asset',
    path: '/open/pub/asset',
    weight: 5,
    section: '4.6',
    call: 'openData.asset',
    command: 'sluice market open asset',
    test: 'market/open-data',
  }),
  openDepth: open({
    name: 'open depth',
    path: `/open/pub/orderbook`,
    weight: 5,
    section: '4.6',
    call: 'openData.depth',
    command: 'sluice market open depth',
    test: 'market/open-data',
  }),
  openAllTickers: open({
    name: 'open all tickers',
    path: '/open/api/get_allticker',
    weight: 5,
    section: '4.6',
    call: 'openData.allTickers',
    command: 'sluice market open tickers',
    test: 'market/open-data',
  }),
} as const satisfies Record<string, Endpoint>;

type TradeOperation = 'create' | 'query' | 'cancel' | 'openOrders' | 'myTrades';

/** The same five operations for either account; margin costs more and has more frequency limits (§4.4, §8). */
export const tradeEndpoints: Readonly<Record<Account, Readonly<Record<TradeOperation, Endpoint>>>> = {
  spot: {
    create: endpoints.create,
    query: endpoints.query,
    cancel: endpoints.cancel,
    openOrders: endpoints.openOrders,
    myTrades: endpoints.myTrades,
  },
  margin: {
    create: endpoints.marginCreate,
    query: endpoints.marginQuery,
    cancel: endpoints.marginCancel,
    openOrders: endpoints.marginOpenOrders,
    myTrades: endpoints.marginMyTrades,
  },
};

/** What a call takes from the budget. */
export const costOf = (endpoint: Endpoint): RequestCost =>
  endpoint.frequency === undefined
    ? { weight: endpoint.weight }
    : { weight: endpoint.weight, frequency: { endpoint: endpoint.name, max: endpoint.frequency } };
