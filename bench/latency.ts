/**
 * Live: from a socket frame to the first byte of the order request that it leads to, orders at least 5 ms apart; against the
 * sum of what cannot be left out, measured in turn in the same run: one bare node:http request's way to its first byte, one hop to a
 * worker and back, one bare FULL commit. Both ends of every time are taken in the exchange's thread.
 *
 *     npx node bench/latency.ts [ORDERS]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openForWriting } from '../src/journal/open-for-writing.ts';
import { liveSession } from './live-session.ts';

const orders = Number(process.argv[2] ?? 300);
const dir = mkdtempSync(join(tmpdir(), 'sluice-latency-'));
const now = (): number => Number(process.hrtime.bigint());
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const answer = <T>(worker: Worker, message?: unknown): Promise<T> =>
  new Promise((resolve) => {
    worker.once('message', resolve);
    if (message !== undefined) worker.postMessage(message);
  });
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] as number;

const exchange = new Worker(new URL('./latency/exchange.ts', import.meta.url));
const port = await answer<number>(exchange);
const echo = new Worker(new URL('./latency/echo.ts', import.meta.url));
const file = join(dir, 'config.yaml');
writeFileSync(
  file,
  `exchange: { restUrl: http://127.0.0.1:${port}, wsUrl: ws://127.0.0.1:${port}/ }
strategies: [{ id: bench, use: ${join(import.meta.dirname, 'latency', 'strategy.ts')}, symbol: BTCUSDT, interval: 1min, allocation: "1000000" }]
risk: { maxOrderValue: "100000", maxPosition: "1000000", duplicateWindowMs: 0, maxOrdersPerSecond: 40 }
`,
);
const session = await liveSession(dir, file, 'key', 'secret');
await sleep(1_000);

const db = openForWriting(join(dir, 'bare.db'));
db.exec('CREATE TABLE rows (text TEXT)');
const insert = db.prepare('INSERT INTO rows VALUES (?)');
const agent = new Agent({ keepAlive: true });
const body = JSON.stringify({
  symbol: 'BTCUSDT',
  volume: 1,
  side: 'BUY',
  type: 'LIMIT',
  price: 90,
  newClientOrderId: 'x'.repeat(29),
  recvWindow: 2000,
});
const times = { ours: [] as number[], http: [] as number[], hop: [] as number[], commit: [] as number[] };
for (let round = 0; round < orders + 20; round++) {
  const ours = await answer<number>(exchange, 'trade');
  await sleep(30);
  // Each part begins as an order does: after a pause, in which the processor has gone on to other things.
  await answer(exchange, 'arm');
  const arrives = answer<number>(exchange);
  await sleep(30);
  const startedAt = now();
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const answered = Promise.withResolvers<void>();
  request(`http://127.0.0.1:${port}/sapi/v1/order`, { method: 'POST', agent, headers }, (response) => {
    response.resume().once('end', answered.resolve);
  }).end(body);
  await answered.promise;
  const bare = (await arrives) - startedAt;
  await sleep(30);
  const hopAt = now();
  await answer(echo, { body });
  const hop = now() - hopAt;
  await sleep(30);
  const commitAt = now();
  insert.run(body);
  const commit = now() - commitAt;
  // The first rounds warm everything up.
  if (round < 20) continue;
  times.ours.push(ours);
  times.http.push(bare);
  times.hop.push(hop);
  times.commit.push(commit);
  await sleep(5);
}
await session.stop();
await Promise.all([exchange.terminate(), echo.terminate()]);
agent.destroy();
db.close();
rmSync(dir, { recursive: true, force: true });

const ms = (ns: number): string => (ns / 1e6).toFixed(3);
const sums = times.http.map((value, index) => value + (times.hop[index] as number) + (times.commit[index] as number));
console.log(
  `${orders} orders; median ms: frame to first byte ${ms(median(times.ours))}; node:http ${ms(median(times.http))} + hop ${ms(median(times.hop))} + FULL commit ${ms(median(times.commit))} = ${ms(median(sums))}`,
);
const withoutCommit = median(times.ours) - median(times.commit);
console.log(
  `frame to first byte ${ms(median(times.ours))} (goal 2.0), less the commit ${ms(withoutCommit)} (goal 1.2)`,
);
console.log(
  `ratio of medians ${(median(times.ours) / median(sums)).toFixed(2)} (asked: at most 1.3); at p90 ${(quantile(times.ours, 0.9) / quantile(sums, 0.9)).toFixed(2)}`,
);
