/**
 * A stranger's client, written from the specification alone (section numbers are its): what it does not say, this does not
 * know. It reads ids where they are strings, sends what the tables name, and takes any HTTP status but 200 for an error.
 */
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { WebSocket } from 'ws';

export interface Access {
  /** {base_url} */
  readonly url: string;
  /** {ws_url} with the path of the feed. */
  readonly wsUrl: string;
  readonly key: string;
  readonly secret: string;
}

/** §7: an error payload, or a status that is none of success. */
export class ExchangeError extends Error {
  readonly status: number;
  readonly code: number | undefined;
  constructor(status: number, code: number | undefined, msg: string) {
    super(`HTTP ${status}, code ${code}: ${msg}`);
    this.status = status;
    this.code = code;
  }
}

/** §2.2. */
export interface Order {
  readonly orderId: string;
  readonly status: 'NEW' | 'PARTIALLY_FILLED' | 'FILLED' | 'CANCELED' | 'REJECTED';
  readonly price: string;
  readonly origQty: string;
  readonly executedQty: string;
  readonly avgPrice: string;
}

/** §2.3; the ids are beyond what a number holds, and not needed here. */
export interface OwnTrade {
  readonly price: string;
  readonly qty: number;
  readonly isBuyer: boolean;
  readonly isMaker: boolean;
  readonly feeCoin: string;
  readonly fee: number;
}

export interface NewOrder {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly type: 'LIMIT' | 'MARKET';
  readonly volume: number;
  readonly price?: number;
  readonly newClientOrderId?: string;
}

/** §2.6. */
export interface Withdrawal {
  readonly id: number;
  readonly withdrawOrderId: string;
  readonly amount: number;
  readonly status: number;
  readonly txId: string;
  readonly info: string;
}

type Params = Readonly<Record<string, string>>;

function http(url: string, method: string, headers: Params, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, 'Content-Type': 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** §7. */
function read<T>({ status, text }: { status: number; text: string }): T {
  const value = JSON.parse(text) as T & { code?: number | string; msg?: string };
  if (status !== 200) throw new ExchangeError(status, Number(value.code), value.msg ?? '');
  return value;
}

/** Lists of ids have to be written by hand: JSON.stringify knows no longs. */
const longs = (ids: readonly string[]): string => `[${ids.join(',')}]`;

const query = (path: string, params: Params): string => `${path}?${new URLSearchParams(params).toString()}`;

/** Requests as §4 and §5.2 have them. */
function wire({ url, key, secret }: Access) {
  /** §5.2. */
  async function signed<T>(method: 'GET' | 'POST', path: string, body = ''): Promise<T> {
    const timestamp = String(Date.now());
    const sign = createHmac('sha256', secret)
      .update(timestamp + method + path + body)
      .digest('hex');
    const headers = { 'X-CH-APIKEY': key, 'X-CH-TS': timestamp, 'X-CH-SIGN': sign };
    return read(await http(url + path, method, headers, body));
  }
  const get = async <T>(path: string, params: Params = {}): Promise<T> =>
    read(await http(url + (Object.keys(params).length === 0 ? path : query(path, params)), 'GET', {}, ''));
  const post = <T>(path: string, body: object): Promise<T> => signed('POST', path, JSON.stringify(body));

  /** §4.5: the code of withdrawals is a string, and 0 is success. */
  async function withdrawal<T>(path: string, body: object): Promise<T> {
    const { code, msg, data } = await post<{ code: string; msg: string; data: T }>(path, body);
    if (code !== '0') throw new ExchangeError(200, Number(code), msg);
    return data;
  }
  return { get, signed, post, withdrawal };
}
type Wire = ReturnType<typeof wire>;

/** §4.1. */
const market = ({ get }: Wire) => ({
  ping: () => get<object>('/sapi/v1/ping'),
  time: () => get<{ timezone: string; serverTime: number }>('/sapi/v1/time'),
  symbols: () =>
    get<{
      symbols: {
        symbol: string;
        baseAsset: string;
        quoteAsset: string;
        pricePrecision: number;
        quantityPrecision: number;
      }[];
    }>('/sapi/v1/symbols'),
  depth: (symbol: string, limit = '100') =>
    get<{ time: number; bids: [string, string][]; asks: [string, string][] }>('/sapi/v1/depth', { symbol, limit }),
  ticker: (symbol: string) => get<{ last: string; vol: string }>('/sapi/v1/ticker', { symbol }),
  trades: (symbol: string, limit = '100') =>
    get<{ list: { price: string; side: 'BUY' | 'SELL' }[] }>('/sapi/v1/trades', { symbol, limit }),
  klines: (symbol: string, interval: string) =>
    get<{ idx: number; close: string }[]>('/sapi/v1/klines', { symbol, interval }),
});

/** §4.2, §4.3. */
const spot = ({ signed, post }: Wire) => ({
  create: (order: NewOrder) => post<{ orderIdString: string; status: string }>('/sapi/v1/order', order),
  test: (order: NewOrder) => post<unknown>('/sapi/v1/order/test', order),
  query: (symbol: string, orderId: string) => signed<Order>('GET', query('/sapi/v1/order', { orderId, symbol })),
  cancel: (symbol: string, orderId: string) => post<{ status: string }>('/sapi/v1/cancel', { orderId, symbol }),
  batch: (symbol: string, orders: readonly { price: number; volume: number; side: string; batchType: string }[]) =>
    post<{ idsString: string[] }>('/sapi/v1/batchOrders', { symbol, orders }),
  batchCancel: (symbol: string, ids: readonly string[]) =>
    signed<{ success: unknown[]; failed: unknown[] }>(
      'POST',
      '/sapi/v1/batchCancel',
      `{"symbol":${JSON.stringify(symbol)},"orderIds":${longs(ids)}}`,
    ),
  openOrders: (symbol: string) =>
    signed<(Order & { orderIdString: string })[]>('GET', query('/sapi/v1/openOrders', { symbol })),
  myTrades: (symbol: string) => signed<OwnTrade[]>('GET', query('/sapi/v1/myTrades', { symbol, limit: '1000' })),
  account: () => signed<{ balances: { asset: string; free: string; locked: string }[] }>('GET', '/sapi/v1/account'),
});

/** §4.4. */
const margin = ({ signed, post }: Wire) => ({
  marginCreate: (order: NewOrder) => post<{ orderId: string; status: string }>('/sapi/v1/margin/order', order),
  marginQuery: (symbol: string, orderId: string) =>
    signed<Order>('GET', query('/sapi/v1/margin/order', { orderId, symbol })),
  marginCancel: (symbol: string, orderId: string) =>
    post<{ status: string }>('/sapi/v1/margin/cancel', { orderId, symbol }),
  marginOpenOrders: (symbol: string) => signed<Order[]>('GET', query('/sapi/v1/margin/openOrders', { symbol })),
  marginTrades: (symbol: string) => signed<OwnTrade[]>('GET', query('/sapi/v1/margin/myTrades', { symbol })),
});

/** §4.5. */
const withdrawals = ({ withdrawal }: Wire) => ({
  withdraw: (order: { withdrawOrderId: string; amount: string; address: string; symbol: string }) =>
    withdrawal<{ id: number }>('/sapi/v1/withdraw/apply', order),
  withdrawals: (withdrawOrderId: string) =>
    withdrawal<{ withdrawList: Withdrawal[]; count: number }>('/sapi/v1/withdraw/query', { withdrawOrderId }),
});

/** §4.6. */
const openData = ({ get }: Wire) => ({
  openTrades: (base: string, quote: string) =>
    get<Envelope<{ trades: unknown[] }>>('/open/pub/trades', { base, quote }),
  openTicker: () => get<Envelope<{ ticker: Record<string, { last_price: string }> }>>('/open/pub/ticker'),
  openAssets: () => get<Envelope<{ asset: Record<string, { can_withdraw: string }> }>>('/open/pub/asset'),
  openDepth: (base: string, quote: string) =>
    get<Envelope<Record<string, unknown>>>(`/open/pub/orderbook`, { base, quote }),
  openTickers: () => get<Envelope<{ ticker: { symbol: string; last: number }[] }>>('/open/api/get_allticker'),
});

export function connect(access: Access) {
  const at = wire(access);
  return { ...market(at), ...spot(at), ...margin(at), ...withdrawals(at), ...openData(at) };
}

/** §2.7. */
export interface Envelope<T> {
  readonly code: string;
  readonly data: T & { readonly date: number };
}

/** §6.3. */
export interface Frame {
  readonly channel: string;
  readonly event_rep?: string;
  readonly cb_id?: string;
  readonly tick?: Readonly<Record<string, unknown>>;
  readonly data?: readonly Readonly<Record<string, unknown>>[];
}

/** §6: subscribes, unpacks, answers pings, and keeps what came. */
export async function openFeed(wsUrl: string) {
  const socket = new WebSocket(wsUrl);
  const frames: Frame[] = [];
  let pings = 0;
  socket.on('message', (bytes) => {
    const frame = JSON.parse(gunzipSync(bytes as Buffer).toString()) as Frame & { ping?: number };
    if (frame.ping === undefined) frames.push(frame);
    else {
      pings++;
      socket.send(JSON.stringify({ pong: frame.ping }));
    }
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const send = (event: string, channel: string, more: object = {}): void =>
    socket.send(JSON.stringify({ event, params: { channel, ...more } }));
  return {
    frames,
    pings: () => pings,
    subscribe: (channel: string) => send('sub', channel, { cb_id: '1' }),
    unsubscribe: (channel: string) => send('unsub', channel),
    ask: (channel: string, more: object = {}) => send('req', channel, { cb_id: 'mine', ...more }),
    /** The first frame that matches, from `after` on. */
    async next(matches: (frame: Frame) => boolean, after = 0): Promise<Frame> {
      for (const deadline = Date.now() + 20_000; ; ) {
        const found = frames.slice(after).find(matches);
        if (found !== undefined) return found;
        if (Date.now() > deadline) throw new Error(`no such frame; the last is ${JSON.stringify(frames.at(-1))}`);
        await pause(20);
      }
    },
    close: () => socket.close(),
  };
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
