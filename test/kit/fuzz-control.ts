/** Bad requests against the control address of the built-in exchange: each gets an answer in JSON, and the exchange goes on. */
import { request } from 'node:http';
import { type Rng, seededRng } from '../../src/clock/clock.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { pick, spoiltText } from './nasty.ts';

const shape = { symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 };
const options: SimulatorOptions = {
  users: [
    { uid: '10001', key: 'a', secret: 'as', balances: { USDT: '100000', BTC: '10' } },
    { uid: '10002', key: 'b', secret: 'bs', balances: { USDT: '100000', BTC: '10' } },
  ],
  instruments: [instrument(shape)],
  markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '9000', historyMinutes: 5 }],
  control: { port: 0 },
};

/** A good body for each request that takes one. */
const good: Readonly<Record<string, readonly string[]>> = {
  'POST /faults': [
    '[{"match":{"method":"GET","path":"/sapi/v1/none","probability":0.5},"do":{"status":503,"when":"before"}}]',
    '[{"match":{"method":"WS","path":"market_*","nth":3},"do":{"socket":"silence","forMs":5}}]',
    '{"at":{"afterMs":1000,"everyMs":60000,"times":2},"do":{"spend":1}}',
    '{"plan":"bad-frames"}',
  ],
  'POST /events': [
    '{"place":{"user":"10001","side":"BUY","price":"8999.5","volume":"0.01","clientOrderId":"x"}}',
    '{"adjust":{"user":"10002","asset":"USDT","amount":"-0.5"}}',
    '{"terms":{"symbol":"BTCUSDT","pricePlacesFewer":1,"minNotional":"5"}}',
    '{"stepMs":-3000}',
    '{"driftPpm":30}',
    '{"bust":{"user":"10001","which":"oldest"}}',
    '{"cancel":{"which":"all"}}',
    '{"spend":3,"ip":"10.0.0.1"}',
  ],
  'POST /human/place': ['{"side":"SELL","type":"LIMIT","offsetBps":-50,"volume":"0.02"}', '{"type":"MARKET"}'],
  'POST /human/cancel': ['{"user":"10001","symbol":"BTCUSDT","which":"newest"}'],
  'POST /human/adjust': ['{"asset":"BTC","amount":"1.5"}'],
  'POST /time': ['{"advanceMs":2500}', '{"stepMs":10,"driftPpm":-5}'],
  'POST /outage': ['{"scope":"socket","how":"hang","forMs":50}'],
  'POST /release/x': [''],
  'POST /withdrawals/1': ['{"to":"reject","info":"no"}'],
};
const plain = [
  ...['GET /', 'GET /state', 'GET /log?after=3&limit=5', 'GET /log?kind=event&limit=1e9', 'GET /faults'],
  ...[
    'GET /users/10001',
    'GET /users/__proto__',
    'GET /users/',
    'GET /withdrawals',
    'DELETE /faults',
    'DELETE /outage',
  ],
  ...['DELETE /faults/1', 'DELETE /faults/__proto__', 'PUT /state', 'GET //', 'GET /%ff', 'POST /constructor'],
];
/** Deep, wide and prototype keys, which a spoilt good body seldom has. */
const odd = (rng: Rng): string => {
  const deep = Math.floor(rng() * 20_000);
  return pick(rng, [
    '['.repeat(deep),
    '{"place":'.repeat(deep),
    `${'['.repeat(deep)}${']'.repeat(deep)}`,
    `[${'{"at":{},"do":{"spend":1}},'.repeat(deep % 3_000)}{}]`,
    '{"__proto__":{"place":{}}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"place":{"__proto__":{"price":"1"}}}',
    '{"advanceMs":1e308}',
    '{"advanceMs":-1}',
    `{"plan":"${'x'.repeat(deep)}"}`,
    '{"plan":"__proto__"}',
  ]);
};

interface Sent {
  readonly status: number;
  readonly text: string;
}

function send(url: string, method: string, path: string, body: Buffer): Promise<Sent> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length };
    const outgoing = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject).end(body);
  });
}

const statuses = new Set([200, 400, 403, 404, 413]);

/** Sends `count` requests; throws at the first that is not answered as it should be, and gives how many were carried out. */
export async function fuzzControl(seed: number, count: number): Promise<number> {
  const rng = seededRng(seed);
  const simulator = await startSimulator(options);
  const url = simulator.controlUrl ?? '';
  let done = 0;
  try {
    for (let one = 0; one < count; one++) {
      const [method = 'GET', path = '/'] = pick(rng, [...plain, ...Object.keys(good), ...Object.keys(good)]).split(' ');
      const bodies = good[`${method} ${path}`];
      const text = bodies === undefined ? '' : rng() < 0.15 ? odd(rng) : pick(rng, bodies);
      const body = rng() < 0.4 ? Buffer.from(text) : spoilt(rng, text);
      const { status, text: answer } = await send(url, method, path, body);
      const said = `${method} ${path} ${body.toString('latin1').slice(0, 300)} -> ${status} ${answer.slice(0, 300)}`;
      if (!statuses.has(status)) throw new Error(`not an answer: ${said}`);
      if (!isJson(answer)) throw new Error(`no JSON: ${said}`);
      if (status === 200) done++;
      // Rules that add up would make each later event dearer than the one before.
      if (one % 50 === 49) simulator.removeFaults();
    }
    simulator.checkLedger();
    simulator.endOutage();
    simulator.removeFaults();
    const ping = await send(simulator.restUrl, 'GET', '/sapi/v1/ping', Buffer.alloc(0));
    if (ping.status !== 200) throw new Error(`the exchange answers a ping with ${ping.status} afterwards`);
    return done;
  } finally {
    await simulator.close();
  }
}

/** A text with something wrong in it, or bytes that are no UTF-8. */
function spoilt(rng: Rng, text: string): Buffer {
  const bytes = Buffer.from(spoiltText(rng, text));
  if (rng() < 0.2 && bytes.length > 0) bytes[Math.floor(rng() * bytes.length)] = 0xff;
  return bytes;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
