/**
 * node bench/order-path.ts: creating orders at the built-in exchange over HTTP, against a bare Node server that answers the
 * same bytes. Server and client are processes of their own, the client the same for both. The rate flatters the exchange where
 * the client is what limits it; the server's CPU time for each request does not.
 */
import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realMs } from '../src/clock/clock.ts';
import { instrument } from '../src/domain/instrument.ts';
import { startSimulator } from '../src/simulator/simulator.ts';
import { textTable } from '../src/terminal/table.ts';

const symbol = 'BTCUSDT';
const requests = 10_000;
/** The engine of JavaScript goes on compiling during the first three. */
const rounds = 6;
const sockets = 16;
/** Enough of them that the 100 creates in 2 s that each may send limit nobody. */
const users = Array.from({ length: 500 }, (_, index) => ({
  uid: String(10_001 + index),
  key: `key-${index}`,
  secret: `secret-${index}`,
  balances: { USDT: '1000000000' },
}));
const target = '/sapi/v1/order';
const body = JSON.stringify({ symbol, side: 'BUY', type: 'LIMIT', price: '9000', volume: '0.01' });

/** The bare server reads the whole body and answers what the exchange would. */
async function serveBare(): Promise<number> {
  const reply = JSON.stringify({
    ...{ symbol: 'btcusdt', clientOrderId: '', price: '9000', origQty: '0.01', type: 'LIMIT', side: 'BUY' },
    ...{ orderId: 1_800_000_000, orderIdString: '1800000000000000001', transactTime: 1_600_000_000_000 },
    ...{ executedQty: '0', status: 'NEW' },
  });
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) });
      response.end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function serveExchange(): Promise<number> {
  const at = instrument({ symbol, base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
  const limits = { ipWeightPerMinute: 1e12, uidWeightPerMinute: 1e12 };
  return (await startSimulator({ users, instruments: [at], limits })).port;
}

/** What a server tells: its port, and the CPU time it has used, µs. */
type Word = { readonly port: number } | { readonly cpuUs: number };

function create(port: number, agent: Agent, index: number): Promise<void> {
  const { key, secret } = users[index % users.length] as (typeof users)[number];
  const timestamp = String(Date.now());
  const sign = createHmac('sha256', secret).update(`${timestamp}POST${target}${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-ch-apikey': key,
    'x-ch-ts': timestamp,
    'x-ch-sign': sign,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path: target, method: 'POST', agent, headers }, (response) => {
      response.resume();
      if (response.statusCode !== 200) reject(new Error(`an order drew ${response.statusCode}`));
      response.on('end', resolve);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function measure(kind: 'bare' | 'exchange'): Promise<{ perSecond: number; cpuUs: number }> {
  const child = fork(import.meta.filename, [kind]);
  const word = <T extends Word>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (said) => resolve(said as T)));
  const { port } = await word<{ port: number }>();
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const cpuUs = async (): Promise<number> => {
    child.send('cpu');
    return (await word<{ cpuUs: number }>()).cpuUs;
  };
  const best = { perSecond: 0, cpuUs: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    const [startedAt, cpuBefore] = [realMs(), await cpuUs()];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < requests) await create(port, agent, next++);
    };
    await Promise.all(Array.from({ length: sockets }, lane));
    best.perSecond = Math.max(best.perSecond, (requests / (realMs() - startedAt)) * 1_000);
    best.cpuUs = Math.min(best.cpuUs, ((await cpuUs()) - cpuBefore) / requests);
  }
  agent.destroy();
  child.kill();
  return best;
}

if (process.send !== undefined) {
  process.send({ port: await (process.argv[2] === 'bare' ? serveBare() : serveExchange()) } satisfies Word);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system } satisfies Word);
  });
} else {
  const [bare, exchange] = [await measure('bare'), await measure('exchange')];
  const head = ['', 'requests/s', 'of bare', 'asked', 'CPU µs each', 'of bare'];
  const rows: string[][] = [];
  const row = (name: string, { perSecond, cpuUs }: typeof bare, asked: string): void => {
    const rate = (perSecond / bare.perSecond).toFixed(2);
    const cpu = (bare.cpuUs / cpuUs).toFixed(2);
    rows.push([name, Math.round(perSecond).toLocaleString('en'), rate, asked, cpuUs.toFixed(1), cpu]);
  };
  row('bare server', bare, '');
  row('built-in exchange', exchange, '0.40');
  console.log(textTable(head, rows));
}
