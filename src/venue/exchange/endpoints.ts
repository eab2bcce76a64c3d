/** Every operation of the exchange that we use: the one table from which requests, their weight and their limits are drawn. */
import type { Account } from '../../domain/order.ts';
import type { RequestCost } from '../venue.ts';

export interface Endpoint {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Who may call it (specification §5.1): `NONE` is open, the others want a key and a signature. */
  readonly security: 'NONE' | 'TRADE' | 'USER_DATA';
  /** What a call counts against both weight windows (§8). */
  readonly weight: number;
  /** At most this many calls in 2 seconds, where the specification gives a figure (§8). */
  readonly frequency?: number;
  /** Where the specification describes it. */
  readonly section: string;
}

/** `/time` has no published weight; counting 1 errs on the safe side. */
export const endpoints = {
  time: { name: 'time', method: 'GET', path: '/sapi/v1/time', security: 'NONE', weight: 1, section: '4.1' },
  symbols: { name: 'symbols', method: 'GET', path: '/sapi/v1/symbols', security: 'NONE', weight: 1, section: '4.1' },
  depth: { name: 'depth', method: 'GET', path: '/sapi/v1/depth', security: 'NONE', weight: 5, section: '4.1' },
  ticker: { name: 'ticker', method: 'GET', path: '/sapi/v1/ticker', security: 'NONE', weight: 5, section: '4.1' },
  trades: { name: 'trades', method: 'GET', path: '/sapi/v1/trades', security: 'NONE', weight: 5, section: '4.1' },
  klines: { name: 'klines', method: 'GET', path: '/sapi/v1/klines', security: 'NONE', weight: 1, section: '4.1' },
  account: {
    name: 'account',
    method: 'GET',
    path: '/sapi/v1/account',
    security: 'USER_DATA',
    weight: 1,
    section: '4.3',
  },
} as const satisfies Record<string, Endpoint>;

type TradeOperation = 'create' | 'query' | 'cancel' | 'openOrders' | 'myTrades';

/** The same five operations for either account; margin costs more and has more frequency limits (§4.4, §8). */
export const tradeEndpoints: Readonly<Record<Account, Readonly<Record<TradeOperation, Endpoint>>>> = {
  spot: {
    create: {
      name: 'order create',
      method: 'POST',
      path: '/sapi/v1/order',
      security: 'TRADE',
      weight: 5,
      frequency: 100,
      section: '4.2',
    },
    query: {
      name: 'order query',
      method: 'GET',
      path: '/sapi/v1/order',
      security: 'TRADE',
      weight: 1,
      section: '4.2',
    },
    cancel: {
      name: 'order cancel',
      method: 'POST',
      path: '/sapi/v1/cancel',
      security: 'TRADE',
      weight: 5,
      section: '4.2',
    },
    openOrders: {
      name: 'open orders',
      method: 'GET',
      path: '/sapi/v1/openOrders',
      security: 'TRADE',
      weight: 1,
      section: '4.2',
    },
    myTrades: {
      name: 'own trades',
      method: 'GET',
      path: '/sapi/v1/myTrades',
      security: 'TRADE',
      weight: 1,
      section: '4.2',
    },
  },
  margin: {
    create: {
      name: 'margin order create',
      method: 'POST',
      path: '/sapi/v1/margin/order',
      security: 'TRADE',
      weight: 5,
      frequency: 100,
      section: '4.4',
    },
    query: {
      name: 'margin order query',
      method: 'GET',
      path: '/sapi/v1/margin/order',
      security: 'TRADE',
      weight: 5,
      frequency: 20,
      section: '4.4',
    },
    cancel: {
      name: 'margin order cancel',
      method: 'POST',
      path: '/sapi/v1/margin/cancel',
      security: 'TRADE',
      weight: 5,
      frequency: 100,
      section: '4.4',
    },
    // Two statements give 1 and 5 for this one (§4.4): the dearer is counted.
    openOrders: {
      name: 'margin open orders',
      method: 'GET',
      path: '/sapi/v1/margin/openOrders',
      security: 'TRADE',
      weight: 5,
      frequency: 20,
      section: '4.4',
    },
    myTrades: {
      name: 'margin own trades',
      method: 'GET',
      path: '/sapi/v1/margin/myTrades',
      security: 'TRADE',
      weight: 1,
      section: '4.4',
    },
  },
};

/** What a call takes from the budget. */
export const costOf = (endpoint: Endpoint): RequestCost =>
  endpoint.frequency === undefined
    ? { weight: endpoint.weight }
    : { weight: endpoint.weight, frequency: { endpoint: endpoint.name, max: endpoint.frequency } };
