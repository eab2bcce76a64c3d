/** For this folder's tests: a small exchange with defaults, and a client written from the specification with node:http alone. */
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import { lots, units } from '../../src/domain/money.ts';
import type { LogEntry } from '../../src/simulator/log.ts';
import type { MinuteColumns, Simulator, SimulatorOptions, SimulatorUser } from '../../src/simulator/simulator.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';

/** 2020-03-12T00:00Z: a whole day, hour and minute. */
export const startTime = Date.UTC(2020, 2, 12);

const shape = { symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 };
export const btc: Instrument = instrument({
  ...shape,
  minQuantity: lots('0.00010', shape),
  minNotional: units('5'),
});

export const alice: SimulatorUser = {
  uid: '10001',
  key: 'alice-key',
  secret: 'alice-secret',
  balances: { USDT: '100000', BTC: '10' },
};
export const bob: SimulatorUser = {
  uid: '10002',
  key: 'bob-key',
  secret: 'bob-secret',
  balances: { USDT: '100000', BTC: '10' },
};

export interface TestExchange {
  readonly simulator: Simulator;
  readonly clock: SimClock;
  /** What is true of it, as it happens. */
  readonly log: readonly LogEntry[];
}

/** An exchange on simulated time, with an empty BTCUSDT market unless told otherwise; it is closed when the test has ended. */
export async function exchange(options: Partial<SimulatorOptions> = {}): Promise<TestExchange> {
  const clock = new SimClock(startTime);
  const log: LogEntry[] = [];
  const defaults = { users: [alice, bob], instruments: [btc], clock, log: (entry: LogEntry) => log.push(entry) };
  const simulator = await startSimulator({ ...defaults, ...options });
  onTestFinished(() => simulator.close());
  return { simulator, clock, log };
}

/** The parameters of a LIMIT order, but for its symbol. */
export const limitOrder = (given: Row = {}) => ({
  side: 'BUY',
  type: 'LIMIT',
  price: '9000',
  volume: '1',
  ...given,
});

/** Minutes with these rows `[open, high, low, close, volume]`, the first opening at `from`. */
export function minutes(
  rows: readonly (readonly [number, number, number, number, number])[],
  from = startTime,
): MinuteColumns {
  const column = (index: 0 | 1 | 2 | 3 | 4): Float64Array => Float64Array.from(rows, (row) => row[index]);
  return {
    openTime: Float64Array.from(rows, (_, index) => from + index * 60_000),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: column(4),
  };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request as it is; rejects when the connection breaks before a whole answer has come. */
export function call(
  url: string,
  method: string,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
      ...(signal && { signal }),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.end(body);
  });
}

export interface Signing {
  /** Defaults to the exchange's time. */
  readonly timestamp?: number;
  /** Left out of what is signed, where the target begins with it. */
  readonly strip?: string;
  /** Breaks the connection off. */
  readonly signal?: AbortSignal;
}

/** A signed request; the body is sent as these exact bytes. */
export function signed(
  simulator: Pick<Simulator, 'restUrl' | 'clock'>,
  user: SimulatorUser,
  method: 'GET' | 'POST',
  target: string,
  body?: Record<string, unknown> | string,
  { timestamp = simulator.clock.now(), signal, strip = '' }: Signing = {},
): Promise<Answer> {
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  const payload = `${timestamp}${method}${target.replace(strip, '')}${text}`;
  const headers = {
    'X-CH-APIKEY': user.key,
    'X-CH-TS': String(timestamp),
    'X-CH-SIGN': createHmac('sha256', user.secret).update(payload).digest('hex'),
  };
  return call(`${simulator.restUrl}${target}`, method, text, headers, signal);
}

/** A row of an answer or a frame, as far as the tests name its fields. */
export interface Row {
  readonly [field: string]: unknown;
  readonly orderIdString?: unknown;
  readonly executedQty?: unknown;
  readonly id?: unknown;
  readonly isBuyer?: unknown;
  readonly isMaker?: unknown;
  readonly feeCoin?: unknown;
  readonly isSelf?: unknown;
  readonly channel?: unknown;
  readonly tick?: unknown;
  readonly data?: unknown;
  readonly ping?: unknown;
  readonly event_rep?: unknown;
  readonly cb_id?: unknown;
  readonly ts?: unknown;
  readonly serverTime?: unknown;
  readonly asks?: unknown;
  readonly status?: unknown;
}

/** The answer's body as an object; ids beyond 2^53 stand in `orderIdString`. */
export const objectOf = ({ text }: Answer): Row => JSON.parse(text) as Row;
export const listOf = ({ text }: Answer): Row[] => JSON.parse(text) as Row[];

/** Creates an order and gives its id as text. */
export async function place(
  simulator: Pick<Simulator, 'restUrl' | 'clock'>,
  user: SimulatorUser,
  order: Row,
): Promise<string> {
  const answer = await signed(simulator, user, 'POST', '/sapi/v1/order', { symbol: 'BTCUSDT', ...order });
  const id = objectOf(answer).orderIdString;
  if (typeof id !== 'string') throw new Error(`no order: ${answer.status} ${answer.text}`);
  return id;
}

export const queryOrder = async (simulator: Simulator, user: SimulatorUser, orderId: string): Promise<Row> =>
  objectOf(await signed(simulator, user, 'GET', `/sapi/v1/order?orderId=${orderId}&symbol=BTCUSDT`));

export interface TestSocket {
  /** Resolves with the next frame for which `wanted` holds, from those that came and those to come. */
  frame(wanted: (frame: Row) => boolean): Promise<Row>;
  readonly frames: readonly Row[];
  send(message: unknown): void;
  readonly closed: Promise<void>;
  close(): void;
}

export async function openSocket(simulator: Simulator): Promise<TestSocket> {
  const socket = new WebSocket(simulator.wsUrl);
  const frames: Row[] = [];
  const waiting: { wanted: (frame: Row) => boolean; resolve: (frame: Row) => void }[] = [];
  socket.on('message', (bytes: Buffer, isBinary) => {
    if (!isBinary) throw new Error('a text frame came');
    const frame = JSON.parse(gunzipSync(bytes).toString('utf8')) as Row;
    frames.push(frame);
    for (const one of waiting.filter(({ wanted }) => wanted(frame))) {
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve(frame);
    }
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  await new Promise<void>((resolve) => socket.on('open', () => resolve()));
  return {
    frame(wanted) {
      const found = frames.find(wanted);
      return found === undefined ? new Promise((resolve) => waiting.push({ wanted, resolve })) : Promise.resolve(found);
    },
    frames,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    closed,
    close: () => socket.terminate(),
  };
}
