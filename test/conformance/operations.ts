/** Every operation that the specification names, with its section and, of REST, its weight. */

export interface Operation {
  /** `GET /sapi/v1/ping`, or `sub depth` on the socket. */
  readonly name: string;
  readonly section: string;
  /** §4 and §8; undefined where the specification gives none. */
  readonly weight?: number;
}

const rest = (section: string, list: readonly (readonly [name: string, weight?: number])[]): Operation[] =>
  list.map(([name, weight]) => ({ name, section, ...(weight !== undefined && { weight }) }));

export const operations: readonly Operation[] = [
  ...rest('4.1', [
    ['GET /sapi/v1/ping'],
    ['GET /sapi/v1/time'],
    ['GET /sapi/v1/symbols', 1],
    ['GET /sapi/v1/depth', 5],
    ['GET /sapi/v1/ticker', 5],
    ['GET /sapi/v1/trades', 5],
    ['GET /sapi/v1/klines', 1],
  ]),
  ...rest('4.2', [
    ['POST /sapi/v1/order', 5],
    ['POST /sapi/v1/order/test', 1],
    ['POST /sapi/v1/batchOrders', 10],
    ['GET /sapi/v1/order', 1],
    ['POST /sapi/v1/cancel', 5],
    ['POST /sapi/v1/batchCancel', 10],
    ['GET /sapi/v1/openOrders', 1],
    ['GET /sapi/v1/myTrades', 1],
  ]),
  ...rest('4.3', [['GET /sapi/v1/account', 1]]),
  ...rest('4.4', [
    ['POST /sapi/v1/margin/order', 5],
    ['GET /sapi/v1/margin/order', 5],
    ['POST /sapi/v1/margin/cancel', 5],
    ['GET /sapi/v1/margin/openOrders', 1],
    ['GET /sapi/v1/margin/myTrades', 1],
  ]),
  ...rest('4.5', [
    ['POST /sapi/v1/withdraw/apply', 100],
    ['POST /sapi/v1/withdraw/query', 100],
  ]),
  ...rest('4.6', [
    ['GET /open/pub/trades'],
    ['GET /open/pub/ticker'],
    ['GET /open/pub/asset'],
    [`GET /open/pub/orderbook`],
    ['GET /open/api/get_allticker'],
  ]),
  ...[
    ...['sub depth', 'unsub depth', 'sub trades', 'unsub trades', 'sub ticker', 'unsub ticker'],
    ...['sub klines', 'req klines', 'req trades'],
  ].map((name) => ({ name, section: '6.2' })),
];
