/** Orders on the real exchange: create, cancel, query, open orders, own trades. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import type { Account, Intent, OrderReport, VenueTrade } from '../../domain/order.ts';
import { type Answer, failed, type OrderEntry, ok, type Page, type PreparedOrder } from '../venue.ts';
import { failure } from './answer.ts';
import { cancelOutcome, createOutcome } from './classify.ts';
import type { Count } from './counters.ts';
import { type Endpoint, tradeEndpoints } from './endpoints.ts';
import type { Instruments } from './instruments.ts';
import { readOrder } from './read-order.ts';
import { readTrade } from './read-trade.ts';
import { rowsOf } from './reply.ts';
import type { Call, Rest } from './rest.ts';

/** How long the exchange may act on a create, real ms: short, because a lost one can only be given up for absent after it. */
const createWindowMs = 2_000;
/** The most rows that a list gives (specification §8). At this length there may be more, and the page says so. */
const listLimit = 1_000;

export interface OrdersOptions {
  readonly rest: Rest;
  readonly clock: Clock;
  readonly account: Account;
  readonly instruments: Instruments;
  readonly count: Count;
}

export function orders({ rest, clock, account, instruments, count }: OrdersOptions): OrderEntry {
  const paths = tradeEndpoints[account];

  function prepare(intent: Intent, at: Instrument): PreparedOrder {
    instruments.remember(at);
    const recvWindowMs = Math.round(clock.machine(createWindowMs));
    const body = createBody(intent, at, recvWindowMs);
    const request = rest.sign(paths.create, body);
    return {
      signedAt: request.signedAt,
      recvWindowMs,
      bodyHash: createHash('sha256').update(body).digest('hex'),
      send: async () => createOutcome(await request.send(), intent, at, request.signedAt, count),
    };
  }

  /** One signed query about a symbol, its answer read in the symbol's steps. */
  async function ask<T>(
    symbol: string,
    endpoint: Endpoint,
    query: Call['query'],
    read: (value: unknown, at: Instrument) => T | string,
  ): Promise<Answer<T>> {
    const at = await instruments.of(symbol);
    if (at.kind === 'failed') return at;
    const reply = await rest.call({ endpoint, lane: 'reconcile', query: { ...query, symbol } });
    if (reply.kind !== 'ok') return failure(endpoint, reply);
    const value = read(reply.value, at.value);
    return typeof value === 'string' ? failed(`${endpoint.name}: ${value}`) : ok(value);
  }

  const oneOrder =
    (wanted: (report: OrderReport) => string | undefined) =>
    (value: unknown, at: Instrument): OrderReport | string => {
      const report = readOrder(value, at, count);
      return typeof report === 'string' ? report : (wanted(report) ?? report);
    };

  return {
    admit: (until) => rest.admit(paths.create, 'create', until),
    prepare,
    async cancel({ symbol, orderId }) {
      const body = JSON.stringify({ orderId, symbol });
      return cancelOutcome(await rest.call({ endpoint: paths.cancel, lane: 'cancel', body }), orderId, count);
    },
    query: ({ symbol, orderId }) =>
      ask(
        symbol,
        paths.query,
        { orderId },
        oneOrder((report) => (report.orderId === orderId ? undefined : `the answer is about order ${report.orderId}`)),
      ),
    // On spot the specification requires an orderId (§4.2), so that there nobody may lean on this.
    ...(account === 'margin' && {
      queryByClientId: (symbol: string, clientOrderId: string) =>
        ask(
          symbol,
          paths.query,
          { newClientOrderId: clientOrderId },
          oneOrder((report) =>
            report.clientOrderId?.toLowerCase() === clientOrderId.toLowerCase()
              ? undefined
              : `the answer is about client id ${report.clientOrderId ?? '(none)'}`,
          ),
        ),
    }),
    openOrders: (symbol) =>
      ask(symbol, paths.openOrders, { limit: `${listLimit}` }, (value, at) =>
        readPage(value, (row) => readOrder(row, at, count)),
      ),
    tradesSince: (symbol, fromId) =>
      ask(
        symbol,
        paths.myTrades,
        fromId === undefined ? { limit: `${listLimit}` } : { limit: `${listLimit}`, fromId },
        (value, at) => readPage<VenueTrade>(value, (row) => readTrade(row, at)),
      ),
  };
}

/** Every row or none: a row left out would look like an order or a fill that is not there. */
function readPage<T>(value: unknown, read: (row: unknown) => T | string): Page<T> | string {
  const rows = rowsOf(value);
  if (rows === undefined) return 'the answer is no list';
  const all: T[] = [];
  for (const row of rows) {
    const one = read(row);
    if (typeof one === 'string') return one;
    all.push(one);
  }
  return { rows: all, full: rows.length >= listLimit };
}

/**
 * The exact bytes of a create: `{"symbol":"BTCUSDT","volume":0.001,"side":"BUY","type":"LIMIT","price":86650.65,"newClientOrderId":"s…",
 * "recvWindow":2000}`. Volume and price are JSON numbers (§4.2), written from their digits and never through a double.
 */
function createBody(intent: Intent, at: Instrument, recvWindowMs: number): string {
  const { volume, price } = intent;
  const amount = 'lots' in volume ? quantityText(volume.lots, at) : unitsText(volume.amount);
  const priced = price === undefined ? '' : `,"price":${priceText(price, at)}`;
  const names = `"side":"${intent.side}","type":"${intent.type}"`;
  const id = `"newClientOrderId":${JSON.stringify(intent.clientOrderId)}`;
  return `{"symbol":${JSON.stringify(intent.symbol)},"volume":${amount},${names}${priced},${id},"recvWindow":${recvWindowMs}}`;
}
