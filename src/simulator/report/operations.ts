/** What the specification lets a client send (§4, §8), for judging what one sent. */

export interface Operation {
  readonly params: readonly string[];
  /** Calls in 2 s that §8 allows a user. */
  readonly perTwoSeconds?: number;
}

/** The three spellings of §5.3. */
export const windows: readonly string[] = ['recvWindow', 'recvwindow', 'recwwindow'];
const created = ['symbol', 'volume', 'side', 'type', 'price', 'newClientOrderId', ...windows];
const listed = ['symbol', 'limit', ...windows];

/** By method and path. */
export const operations: Readonly<Record<string, Operation>> = {
  'GET /sapi/v1/ping': { params: [] },
  'GET /sapi/v1/time': { params: [] },
  'GET /sapi/v1/symbols': { params: [] },
  'GET /sapi/v1/depth': { params: ['symbol', 'limit'] },
  'GET /sapi/v1/ticker': { params: ['symbol'] },
  'GET /sapi/v1/trades': { params: ['symbol', 'limit'] },
  // §4.1 does not show the name of the count; deployments call it `limit` and take times too.
  'GET /sapi/v1/klines': { params: ['symbol', 'interval', 'limit', 'startTime', 'endTime'] },
  'POST /sapi/v1/order': { params: created, perTwoSeconds: 100 },
  'POST /sapi/v1/order/test': { params: created },
  'POST /sapi/v1/batchOrders': { params: ['symbol', 'orders', ...windows] },
  'GET /sapi/v1/order': { params: ['orderId', 'symbol', 'newClientorderId', 'newClientOrderId', ...windows] },
  'POST /sapi/v1/cancel': { params: ['orderId', 'symbol', 'newClientOrderId', ...windows] },
  'POST /sapi/v1/batchCancel': { params: ['symbol', 'orderIds', ...windows] },
  'GET /sapi/v1/openOrders': { params: listed },
  'GET /sapi/v1/myTrades': { params: [...listed, 'fromId'] },
  'GET /sapi/v1/account': { params: windows },
  'POST /sapi/v1/margin/order': { params: created, perTwoSeconds: 100 },
  'GET /sapi/v1/margin/order': { params: ['orderId', 'newClientOrderId', 'symbol', ...windows], perTwoSeconds: 20 },
  'POST /sapi/v1/margin/cancel': { params: ['orderId', 'newClientOrderId', 'symbol', ...windows], perTwoSeconds: 100 },
  'GET /sapi/v1/margin/openOrders': { params: listed, perTwoSeconds: 20 },
  'GET /sapi/v1/margin/myTrades': { params: [...listed, 'fromId'] },
  'POST /sapi/v1/withdraw/apply': {
    params: ['withdrawOrderId', 'amount', 'address', 'label', 'symbol', ...windows],
  },
  'POST /sapi/v1/withdraw/query': {
    params: ['symbol', 'withdrawId', 'withdrawOrderId', 'startTime', 'endTime', 'page', ...windows],
  },
  'GET /open/pub/trades': { params: ['base', 'quote', 'trades'] },
  'GET /open/pub/ticker': { params: [] },
  'GET /open/pub/asset': { params: [] },
  'GET /open/pub/orderbook': { params: ['base', 'quote', 'depth', 'bids', 'asks'] },
  'GET /open/api/get_allticker': { params: [] },
};
