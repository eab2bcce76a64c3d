/** Queries of the account's orders, trades and balances. */
import type { Instrument } from '../../../domain/instrument.ts';
import type { Account, OrderReport, VenueTrade } from '../../../domain/order.ts';
import type { AccountReader, Answer, Balance, OrderEntry, Page } from '../../venue.ts';
import type { Count } from '../counters.ts';
import type { Instruments } from '../market/instruments.ts';
import { type Endpoint, endpoints, tradeEndpoints } from '../rest/endpoints.ts';
import { amountOf, idOf, isFields, textOf } from '../rest/json.ts';
import { readEach, rowsOf } from '../rest/reply.ts';
import type { Call, Rest } from '../rest/rest.ts';
import { readOrder } from './read-order.ts';
import { readTrade } from './read-trade.ts';

/** The most rows that a list gives (specification §8). At this length there may be more, and the page says so. */
const listLimit = 1_000;

export interface OrderQueriesOptions {
  readonly rest: Rest;
  readonly account: Account;
  readonly instruments: Instruments;
  readonly count: Count;
  /** Whether the deployment was proven to find spot orders by client id alone. */
  readonly byClientId?: boolean;
}

type OrderQueries = Pick<OrderEntry, 'query' | 'queryByClientId' | 'openOrders' | 'tradesSince'>;

export function orderQueries({ rest, account, instruments, count, byClientId }: OrderQueriesOptions): OrderQueries {
  const paths = tradeEndpoints[account];
  const readTrades = tradesReader();

  /** One signed query about a symbol, its answer read in the symbol's steps. */
  async function ask<T>(
    symbol: string,
    endpoint: Endpoint,
    query: Call['query'],
    read: (value: unknown, at: Instrument) => T | string,
  ): Promise<Answer<T>> {
    const at = await instruments.of(symbol);
    if (at.kind === 'failed') return at;
    return rest.ask({ endpoint, lane: 'reconcile', query: { ...query, symbol } }, (value) => read(value, at.value));
  }

  const oneOrder =
    (mismatch: (report: OrderReport) => string | undefined) =>
    (value: unknown, at: Instrument): OrderReport | string => {
      const report = readOrder(value, at, count);
      return typeof report === 'string' ? report : (mismatch(report) ?? report);
    };

  return {
    query: ({ symbol, orderId }) =>
      ask(
        symbol,
        paths.query,
        { orderId },
        oneOrder((report) => (report.orderId === orderId ? undefined : `the answer is about order ${report.orderId}`)),
      ),
    // On spot the specification requires an orderId (§4.2), so this is used there only where it was proven.
    ...((account === 'margin' || byClientId === true) && {
      queryByClientId: (symbol: string, clientOrderId: string) =>
        ask(
          symbol,
          paths.query,
          // The small o is the specification's, of spot alone.
          { [account === 'spot' ? 'newClientorderId' : 'newClientOrderId']: clientOrderId },
          oneOrder((report) =>
            report.clientOrderId?.toLowerCase() === clientOrderId.toLowerCase()
              ? undefined
              : `the answer is about client id ${report.clientOrderId ?? '(none)'}`,
          ),
        ),
    }),
    openOrders: (symbol) =>
      ask(symbol, paths.openOrders, { limit: listLimit }, (value, at) =>
        readPage(value, (row) => readOrder(row, at, count)),
      ),
    tradesSince: (symbol, fromId) => ask(symbol, paths.myTrades, { limit: listLimit, fromId }, readTrades),
  };
}

/** Reads pages of trades. An unchanged answer is the same object (reply.ts), whose page is kept. */
function tradesReader(): (value: unknown, at: Instrument) => Page<VenueTrade> | string {
  const pages = new WeakMap<object, { readonly at: Instrument; readonly page: Page<VenueTrade> | string }>();
  return (value, at) => {
    const known = typeof value === 'object' && value !== null ? pages.get(value) : undefined;
    if (known?.at === at) return known.page;
    const page = readPage<VenueTrade>(value, (row) => readTrade(row, at));
    if (typeof value === 'object' && value !== null) pages.set(value, { at, page });
    return page;
  };
}

function readPage<T>(value: unknown, read: (row: unknown) => T | string): Page<T> | string {
  const rows = rowsOf(value);
  if (rows === undefined) return 'the answer is not a list';
  const all = readEach(rows, read);
  return typeof all === 'string' ? all : { rows: all, full: rows.length >= listLimit };
}

/**
 * Always the spot balances: margin has no such operation (specification §4.4). `uidSeen` gets the uid that some deployments show
 * beside them.
 */
export const accountReader = (rest: Rest, uidSeen: (uid: string) => void = () => {}): AccountReader => ({
  balances: () =>
    rest.ask({ endpoint: endpoints.account, lane: 'reconcile' }, (value) => {
      const uid = isFields(value) ? idOf(value['uid']) : undefined;
      if (uid !== undefined) uidSeen(uid);
      return readBalances(value);
    }),
});

/** `{"balances":[{"asset":"BTC","free":"4723846.89208129","locked":"0.0000000000000000"}, …]}`, every coin; a text says why they cannot be read. */
function readBalances(value: unknown): readonly Balance[] | string {
  const rows = isFields(value) ? value['balances'] : undefined;
  if (!Array.isArray(rows)) return 'the answer has no list of balances';
  return readEach(rows, (row): Balance | string => {
    const asset = isFields(row) ? textOf(row['asset'])?.toUpperCase() : undefined;
    if (!isFields(row) || asset === undefined) return 'a balance has no asset';
    const free = amountOf(row['free']);
    const locked = amountOf(row['locked']);
    return free === undefined || locked === undefined
      ? `the balance of ${asset} cannot be read`
      : { asset, free, locked };
  });
}
