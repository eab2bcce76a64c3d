/**
 * The source files between a kline and the row of its fill, by V8's coverage: in a backtest over klines, and live, from the socket's frame on.
 *
 *     node bench/path-files.ts
 *
 * A file is listed where one of its functions runs for every order; live, only if it does not run between orders as well, as the readers of
 * sockets do. Files of types and constants alone never run.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session as Inspector } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { runBacktest } from '../src/backtest/engines.ts';
import type { Columns } from '../src/domain/market.ts';
import { trader } from '../test/kit/rig.ts';
import { liveSession } from './live-session.ts';
import { inputFor } from './market.ts';
import alternating from './path-files/strategy.ts';

const src = join(import.meta.dirname, '..', 'src');
const minuteMs = 60_000;
/** Times real time: a minute of the market is five seconds, so that timers of the machine hardly ever fall into one with an order. */
const speed = 12;
/** How often each function of ours ran since the last call, by file and place. */
async function counts(inspector: Inspector): Promise<ReadonlyMap<string, number>> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const all = new Map<string, number>();
  for (const { url, functions } of result) {
    const path = url.startsWith('file:') ? relative(src, fileURLToPath(url)) : '..';
    if (path.startsWith('..')) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      if (whole !== undefined) all.set(`${path} ${functionName} ${whole.startOffset}`, whole.count);
    }
  }
  return all;
}

const filesOf = (functions: Iterable<string>): ReadonlySet<string> =>
  new Set(Array.from(functions, (key) => key.split(' ', 1)[0] as string));

async function inBacktest(inspector: Inspector): Promise<ReadonlySet<string>> {
  const rows = 4_000;
  const column = (value: (row: number) => number): Float64Array =>
    Float64Array.from({ length: rows }, (_, row) => value(row));
  const columns = {
    openTime: column((row) => Date.UTC(2024, 0, 1) + row * minuteMs),
    ...{
      open: column(() => 100),
      high: column(() => 101),
      low: column(() => 99),
      close: column(() => 100),
      volume: column(() => 100),
    },
  } satisfies Columns;
  const input = inputFor(columns, 1, 2);
  const hosted = input.hosted.map((one) => ({ ...one, strategy: alternating, params: {} }));
  await counts(inspector);
  const { fills } = await runBacktest({ ...input, hosted, limits: { ...input.limits, maxOrdersPerSecond: 40 } });
  const ran = await counts(inspector);
  return filesOf([...ran].filter(([, count]) => count >= fills.length).map(([key]) => key));
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Files with a function that runs each time between a kline's close and the row of its fill, and never in the middle of a minute. */
async function live(inspector: Inspector): Promise<ReadonlySet<string>> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-path-'));
  const exchange = fork(join(import.meta.dirname, 'path-files', 'exchange.ts'), [String(speed)]);
  const urls = await new Promise<{ restUrl: string; wsUrl: string }>((resolve) =>
    exchange.once('message', (sent) => resolve(sent as { restUrl: string; wsUrl: string })),
  );
  const file = join(dir, 'config.yaml');
  const stateDir = join(dir, 'state');
  const strategies = [
    {
      id: 's',
      use: join(import.meta.dirname, 'path-files', 'strategy.ts'),
      symbol: 'BTCUSDT',
      interval: '1min',
      allocation: '500000',
    },
  ];
  const risk = {
    maxOrderValue: '100000',
    maxPosition: '500000',
    priceCollar: '0.9',
    maxDailyLoss: '1',
    duplicateWindowMs: 0,
  };
  writeFileSync(file, JSON.stringify({ exchange: { ...urls, speed }, account: 'spot', strategies, risk }));
  const session = await liveSession(dir, file, trader.key, trader.secret);
  const askedAt = Date.now();
  const { serverTime } = (await (await fetch(`${urls.restUrl}/sapi/v1/time`)).json()) as { serverTime: number };
  /** The exchange's time, UTC ms. */
  const now = (): number => serverTime + (Date.now() - askedAt) * speed;
  const db = new Database(join(stateDir, 'journal.db'), { readonly: true });
  const rows = db.prepare('SELECT count(*) FROM fills').pluck();
  const orders: string[][] = [];
  const idle = new Set<string>();
  const ran = async (): Promise<string[]> =>
    Array.from(await counts(inspector)).flatMap(([key, count]) => (count > 0 ? [key] : []));
  for (let minute = Math.floor(now() / minuteMs) + 1; orders.length < 10; minute++) {
    while (now() < minute * minuteMs - 200) await sleep(1);
    const known = rows.get();
    await counts(inspector);
    while (rows.get() === known && now() < (minute + 0.3) * minuteMs) await sleep(1);
    const some = await ran();
    if (rows.get() !== known) orders.push(some);
    while (now() < (minute + 0.5) * minuteMs) await sleep(1);
    await counts(inspector);
    while (now() < (minute + 0.9) * minuteMs) await sleep(1);
    for (const key of await ran()) idle.add(key);
  }
  db.close();
  await session.stop();
  exchange.kill();
  rmSync(dir, { recursive: true, force: true });
  const [first = new Set<string>(), ...others] = orders.map((some) => filesOf(some.filter((key) => !idle.has(key))));
  return new Set(Array.from(first).filter((path) => others.every((files) => files.has(path))));
}

const inspector = new Inspector();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (const [name, files] of [
  ['a backtest', await inBacktest(inspector)],
  ['live', await live(inspector)],
] as const) {
  console.log(`${files.size} files ${name}`);
  for (const path of [...files].sort()) console.log(`  ${path}`);
}
