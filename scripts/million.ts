/**
 * One million requests to the built-in exchange, and what it keeps of them: `node scripts/million.ts [REQUESTS]`. The exchange runs in a
 * process of its own with a synthetic market and the plan `flaky-504`; its heap is measured after a
 * full collection. Flat: the heap of the second half grows by less than 5 %. Exit code 1 when it is not.
 */
import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { startSimulator } from '../src/simulator/simulator.ts';

const user = { uid: '1', key: 'key', secret: 'secret', balances: { USDT: '1000000000', BTC: '100000' } };
const samples = 20;
const speed = 100;
/** Requests under way at once. */
const lanes = 16;

interface Sample {
  readonly heapMb: number;
  readonly retained: Readonly<Record<string, number>>;
}

async function serve(): Promise<void> {
  const exchange = await startSimulator({
    users: [user],
    instruments: [{ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 }],
    markets: [{ kind: 'synthetic', symbol: 'BTCUSDT', price: '60000' }],
    limits: { ipWeightPerMinute: 1e12, uidWeightPerMinute: 1e12 },
    speed,
    faults: 'flaky-504',
    // What is kept fills and empties between this and twice as much: small, or that would pass for growth, and hide it.
    keptOrders: 500,
  });
  process.on('message', () => {
    globalThis.gc?.();
    const heapMb = process.memoryUsage().heapUsed / 1_048_576;
    process.send?.({ heapMb, retained: exchange.retained() } satisfies Sample);
  });
  process.on('disconnect', () => process.exit());
  process.send?.(exchange.restUrl);
}

/** One request in five creates, one cancels what the last list showed, the others ask. */
async function load(requests: number): Promise<boolean> {
  const child = fork(import.meta.filename, ['serve'], { execArgv: ['--expose-gc'] });
  const told = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const restUrl = await told<string>();
  const begun = await epochOf(restUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const send: Send = (method, target, body = '') => call({ agent, restUrl, now: begun() }, method, target, body);
  const post = (path: string, body: object): Promise<string> => send('POST', path, JSON.stringify(body));
  let open: string[] = [];
  let sent = 0;
  const one = async (turn: number): Promise<void> => {
    const kind = turn % 5;
    if (kind === 0) await post('/sapi/v1/order', orderOf(turn));
    else if (kind === 1) await post('/sapi/v1/batchCancel', { symbol: 'BTCUSDT', orderIds: open.splice(-10) });
    else if (kind === 2) {
      const list = await send('GET', '/sapi/v1/openOrders?symbol=BTCUSDT&limit=100');
      open = [...list.matchAll(/"orderIdString":"(\d+)"/g)].map(([, id = '']) => id);
    } else if (kind === 3) await send('GET', '/sapi/v1/myTrades?symbol=BTCUSDT&limit=10');
    else await send('GET', '/sapi/v1/depth?symbol=BTCUSDT&limit=10');
  };
  const heaps: number[] = [];
  for (let sample = 1; sample <= samples; sample++) {
    const until = Math.floor((requests * sample) / samples);
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        while (sent < until) await one(sent++);
      }),
    );
    const answer = told<Sample>();
    child.send('measure');
    const { heapMb, retained } = await answer;
    heaps.push(heapMb);
    console.log(`${sent} requests: heap ${heapMb.toFixed(1)} MB, kept ${JSON.stringify(retained)}`);
  }
  child.disconnect();
  agent.destroy();
  // Means of five, because a single sample may stand anywhere between full and half empty.
  const mean = (some: readonly number[]): number => some.reduce((sum, mb) => sum + mb, 0) / some.length;
  const grown = mean(heaps.slice(-5)) / mean(heaps.slice(samples / 2 - 5, samples / 2)) - 1;
  console.log(`the heap grew by ${(grown * 100).toFixed(1)} % in the second half; 5 % are allowed`);
  return grown < 0.05;
}

/** Mostly far from the market, to be cancelled later; some trade at once. */
function orderOf(turn: number): object {
  const buys = turn % 2 === 0;
  const common = { symbol: 'BTCUSDT', side: buys ? 'BUY' : 'SELL', newClientOrderId: `c${turn}` };
  if (turn % 7 === 0) return { ...common, type: 'MARKET', volume: buys ? '60' : '0.001' };
  return { ...common, type: 'LIMIT', volume: '0.001', price: buys ? '30000' : '120000' };
}

type Send = (method: string, target: string, body?: string) => Promise<string>;

/** The exchange's time, which runs at its speed from what /time says now. */
async function epochOf(restUrl: string): Promise<() => number> {
  const { serverTime } = (await (await fetch(`${restUrl}/sapi/v1/time`)).json()) as { serverTime: number };
  const at = performance.now();
  return () => Math.floor(serverTime + (performance.now() - at) * speed);
}

interface Way {
  readonly agent: Agent;
  readonly restUrl: string;
  readonly now: number;
}

/** A signed request; a fault may have cut it, which counts like an answer. */
function call({ agent, restUrl, now }: Way, method: string, target: string, body: string): Promise<string> {
  const timestamp = String(now);
  const sign = createHmac('sha256', user.secret).update(`${timestamp}${method}${target}${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'X-CH-APIKEY': user.key,
    'X-CH-TS': timestamp,
    'X-CH-SIGN': sign,
  };
  return new Promise((resolve) => {
    const outgoing = request(`${restUrl}${target}`, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
      response.on('error', () => resolve(''));
    });
    outgoing.on('error', () => resolve(''));
    outgoing.end(body);
  });
}

if (process.argv[2] === 'serve') await serve();
else if (!(await load(Number(process.argv[2] ?? 1_000_000)))) process.exitCode = 1;
