/** A daemon that records what it trades on: into the catalogue at its end, and never at the cost of trading. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ledgerOf } from '../../src/data/catalogue/gap-ledger.ts';
import { listSeries, readManifest } from '../../src/data/catalogue/manifest.ts';
import { frameFiles } from '../../src/data/frames/folder.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { quiet } from '../kit/books.ts';
import { sluice } from '../kit/program.ts';
import { makeRig, openExchange, type Rig, target, trader } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;
let data = '';
beforeEach(async () => {
  exchange = await openExchange();
  rig = makeRig(exchange);
  data = join(rig.dir, 'recorded');
  rig.configure({ record: true, catalogue: 'recorded' });
});
afterEach(async () => {
  rig.remove();
  await exchange.close();
});

const bytes = (): number => frameFiles(data).reduce((sum, file) => sum + file.bytes, 0);

test('what it traded on is in the catalogue when it has stopped, and after a kill once compacted', async () => {
  const daemon = await rig.start();
  rig.emit('taker', target(0.1));
  await quiet(rig, exchange);
  await until('frames on the disk', () => bytes() > 20_000);
  await pass(2_000);
  expect((await daemon.end('SIGINT')).code).toBe(130);
  expect(frameFiles(data).map(({ state }) => state)).toEqual(['done']);
  const names = listSeries(data).map(({ kind, symbol, interval = '' }) => `${kind} ${symbol} ${interval}`.trim());
  expect(names).toEqual([
    'klines BTCUSDT 1min',
    'klines ETHUSDT 1min',
    'trades BTCUSDT',
    'trades ETHUSDT',
    'depth BTCUSDT',
    'depth ETHUSDT',
  ]);
  const next = await rig.start();
  await until('more frames', () => frameFiles(data).some((file) => file.state === 'open' && file.bytes > 10_000));
  await next.end('SIGKILL');
  const { code, stderr } = await sluice(['data', 'compact', '--data', data], rig);
  expect(code, stderr).toBe(0);
  const trades = readManifest(data, { kind: 'depth', symbol: 'BTCUSDT' });
  expect(trades?.imports).toHaveLength(2);
  // Nobody looked between the two runs.
  expect(trades && ledgerOf(trades).length).toBeGreaterThan(0);
});

test('a full disk ends the recording and not the trading', async ({ skip }) => {
  mkdirSync(data, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', data], { stdio: 'ignore' });
  } catch {
    skip('mounting a tmpfs is not allowed here');
  }
  try {
    const daemon = await rig.start();
    await daemon.line(/recording ended, trading goes on: the disk is full \(ENOSPC\)/);
    const before = exchange.allOrders(trader.uid).length;
    rig.emit('taker', target(0.1));
    await until('an order', () => exchange.allOrders(trader.uid).length > before);
    await quiet(rig, exchange);
    expect(daemon.runs).toBe(true);
    expect((await daemon.end('SIGINT')).code).toBe(130);
  } finally {
    execFileSync('umount', ['-l', data], { stdio: 'ignore' });
  }
});

test('a catalogue that somebody else records into is told of, and trading begins', async () => {
  const first = await rig.start();
  await until('frames on the disk', () => bytes() > 0);
  const other = makeRig(exchange);
  other.configure({ record: true, catalogue: data });
  const second = await other.start();
  await second.line(/recording ended, trading goes on: .*frames is in use by process \d+/);
  await second.end('SIGINT');
  await first.end('SIGINT');
  other.remove();
});
