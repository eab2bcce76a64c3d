/**
 * Every operation of the exchange's REST interface (specification §4): path, weight and limits of each request. `channels.ts` has
 * the operations of the socket. `docs/reference/exchange.md` lists both.
 */
import type { Account } from '../../../domain/order.ts';
import type { RequestCost } from '../../venue.ts';

export interface Endpoint {
  /** In words, unique. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The permission it needs (specification §5.1): `NONE` is public, the others need a key and a signature. */
  readonly security: 'NONE' | 'TRADE' | 'USER_DATA';
  /** What a call counts against both weight windows (§8). */
  readonly weight: number;
  /** The maximum number of calls in 2 seconds, where the specification gives one (§8). */
  readonly frequency?: number;
}

type Row = Omit<Endpoint, 'method' | 'security'>;
const open = (row: Row): Endpoint => ({ ...row, method: 'GET', security: 'NONE' });
const get = (row: Row): Endpoint => ({ ...row, method: 'GET', security: 'TRADE' });
const post = (row: Row): Endpoint => ({ ...row, method: 'POST', security: 'TRADE' });

/** `/ping`, `/time` and the `/open` operations have no published weight. Sluice counts 1, and 5 as for the same data under `/sapi`. */
export const endpoints = {
  ping: open({ name: 'ping', path: '/sapi/v1/ping', weight: 1 }),
  time: open({ name: 'time', path: '/sapi/v1/time', weight: 1 }),
  symbols: open({ name: 'symbols', path: '/sapi/v1/symbols', weight: 1 }),
  depth: open({ name: 'depth', path: '/sapi/v1/depth', weight: 5 }),
  ticker: open({ name: 'ticker', path: '/sapi/v1/ticker', weight: 5 }),
  trades: open({ name: 'trades', path: '/sapi/v1/trades', weight: 5 }),
  klines: open({ name: 'klines', path: '/sapi/v1/klines', weight: 1 }),
  create: post({ name: 'order create', path: '/sapi/v1/order', weight: 5, frequency: 100 }),
  orderTest: post({ name: 'order test', path: '/sapi/v1/order/test', weight: 1 }),
  batchCreate: post({ name: 'batch create', path: '/sapi/v1/batchOrders', weight: 10 }),
  query: get({ name: 'order query', path: '/sapi/v1/order', weight: 1 }),
  cancel: post({ name: 'order cancel', path: '/sapi/v1/cancel', weight: 5 }),
  batchCancel: post({ name: 'batch cancel', path: '/sapi/v1/batchCancel', weight: 10 }),
  openOrders: get({ name: 'open orders', path: '/sapi/v1/openOrders', weight: 1 }),
  myTrades: get({ name: 'own trades', path: '/sapi/v1/myTrades', weight: 1 }),
  account: { name: 'account', path: '/sapi/v1/account', weight: 1, method: 'GET', security: 'USER_DATA' },
  marginCreate: post({ name: 'margin order create', path: '/sapi/v1/margin/order', weight: 5, frequency: 100 }),
  marginQuery: get({ name: 'margin order query', path: '/sapi/v1/margin/order', weight: 5, frequency: 20 }),
  marginCancel: post({ name: 'margin order cancel', path: '/sapi/v1/margin/cancel', weight: 5, frequency: 100 }),
  // §4.4 states both 1 and 5: the higher one counts.
  marginOpenOrders: get({ name: 'margin open orders', path: '/sapi/v1/margin/openOrders', weight: 5, frequency: 20 }),
  marginMyTrades: get({ name: 'margin own trades', path: '/sapi/v1/margin/myTrades', weight: 1 }),
  // The operation that applies for a withdrawal is in src/withdraw: no code of the daemon may know it.
  withdrawQuery: {
    ...post({ name: 'withdrawal query', path: '/sapi/v1/withdraw/query', weight: 100 }),
    security: 'USER_DATA',
  },
  openTrades: open({ name: 'open trades', path: '/open/pub/trades', weight: 5 }),
  openTicker: open({ name: 'open ticker', path: '/open/pub/ticker', weight: 5 }),
  openAsset: open({ name: 'open asset', path: '/open/pub/asset', weight: 5 }),
  openDepth: open({ name: 'open depth', path: `/open/pub/orderbook`, weight: 5 }),
  openAllTickers: open({ name: 'open all tickers', path: '/open/api/get_allticker', weight: 5 }),
} as const satisfies Record<string, Endpoint>;

type TradeOperation = 'create' | 'query' | 'cancel' | 'openOrders' | 'myTrades';

/** The five operations that both accounts have. Margin costs more and has more frequency limits (§4.4, §8). */
export const tradeEndpoints: Readonly<Record<Account, Readonly<Record<TradeOperation, Endpoint>>>> = {
  spot: endpoints,
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
