/** `sluice record` against the built-in exchange: what was shown is stored, also when the recorder is killed, and can be traded over. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { machineWall } from '../../src/clock/clock.ts';
import { ledgerOf } from '../../src/data/catalogue/gap-ledger.ts';
import { loadSeries } from '../../src/data/catalogue/load.ts';
import { type Manifest, readManifest } from '../../src/data/catalogue/manifest.ts';
import { decoded } from '../../src/data/frames/file.ts';
import { frameFiles } from '../../src/data/frames/folder.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { backtestHere, backtestYaml, desk } from '../kit/command.ts';
import { killLeftovers, type Program, startProgram } from '../kit/program.ts';
import { openExchange, speed } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

const at = desk();
let exchange: Simulator;
beforeEach(async () => {
  exchange = await openExchange();
});
afterEach(() => exchange.close());
afterAll(() => {
  killLeftovers();
  at.remove();
});

const recording = (dir: string, ...more: readonly string[]): Program =>
  startProgram(
    ['record', 'BTCUSDT', '--url', exchange.restUrl, '--speed', String(speed), '--data', join(at.dir, dir), ...more],
    { cwd: at.dir, env: { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') } },
  );
const stored = (dir: string, kind: 'klines' | 'trades' | 'depth'): Manifest => {
  const found = readManifest(join(at.dir, dir), {
    kind,
    symbol: 'BTCUSDT',
    ...(kind === 'klines' && { interval: '1min' }),
  });
  if (found === undefined) throw new Error(`no ${kind} were stored`);
  return found;
};
const rowsOf = ({ months }: Manifest): number => months.reduce((sum, { rows }) => sum + rows, 0);
const frames = (dir: string) => frameFiles(join(at.dir, dir));
const sizeOf = (dir: string): number => frames(dir).reduce((sum, { bytes }) => sum + bytes, 0);

test('what is recorded is stored with its holes, and can be traded over', async () => {
  const first = recording('a');
  await first.line(/^recording BTCUSDT into/);
  await pass(4_500);
  const { code } = await first.end('SIGINT');
  expect(code, first.lines.join('\n')).toBe(130);
  expect(first.lines.join('\n')).toMatch(/1 file of frames compacted/);
  expect(frames('a').map(({ state }) => state)).toEqual(['done']);
  const klines = stored('a', 'klines');
  expect(rowsOf(klines)).toBeGreaterThanOrEqual(3);
  expect(rowsOf(stored('a', 'trades'))).toBeGreaterThan(10);
  expect(rowsOf(stored('a', 'depth'))).toBeGreaterThan(100);
  expect(stored('a', 'depth').source).toBe('127.0.0.1');

  const second = recording('a', '--trades', '--depth');
  await second.line(/^recording BTCUSDT into/);
  await pass(1_500);
  await second.end('SIGINT');
  // Between the two nobody looked.
  expect(stored('a', 'trades').holes).toHaveLength(1);
  expect(ledgerOf(stored('a', 'depth')).some(({ channel }) => channel === 'depth')).toBe(true);

  at.write(
    'catalogue.yaml',
    `catalogue: a\ninstruments: ./instruments.yaml\n${backtestYaml
      .replaceAll('XBTUSD', 'BTCUSDT')
      .replace(/^data:\n.*\n/, '')
      .replace('params: { fast: 2, slow: 5 }', 'params: { fast: 1, slow: 2 }')}`,
  );
  at.write('instruments.yaml', 'BTCUSDT: { base: BTC, quote: USDT, pricePrecision: 2, quantityPrecision: 4 }\n');
  const { out, refusal } = await backtestHere(join(at.dir, 'catalogue.yaml'), { json: true });
  expect(refusal?.message).toBeUndefined();
  expect((JSON.parse(out) as { klines: number }).klines).toBeGreaterThanOrEqual(3);
});

test('a connection that breaks costs no trade and doubles none; of books the hole is known', async () => {
  await exchange.close();
  exchange = await openExchange({ profile: 'observed' });
  exchange.addFault({
    match: { method: 'WS', path: 'market_btcusdt_depth_step0', nth: 60 },
    do: { socket: 'disconnect' },
  });
  const tape = recording('r', '--trades', '--depth');
  await tape.line(/^recording/);
  await pass(5_000);
  await tape.end('SIGINT');
  const { columns } = await loadSeries(join(at.dir, 'r'), stored('r', 'trades'));
  const [times = new Float64Array(), prices = new Float64Array(), quantities = new Float64Array()] = columns;
  const recorded = [...times].map((time, row) => `${time} ${prices[row]} ${quantities[row]}`);
  const [first = 0, last = 0] = [times.at(0), times.at(-1)];
  const answer = await (await fetch(`${exchange.restUrl}/sapi/v1/trades?symbol=BTCUSDT&limit=1000`)).json();
  const shown = z
    .object({ list: z.array(z.object({ time: z.number(), price: z.coerce.number(), qty: z.coerce.number() })) })
    .parse(answer)
    .list.filter(({ time }) => time >= first && time <= last)
    .map(({ time, price, qty }) => `${time} ${price} ${qty}`);
  expect(recorded.length).toBeGreaterThan(20);
  expect(recorded.toSorted()).toEqual(shown.toSorted());
  expect(stored('r', 'depth').holes).toHaveLength(1);
});

test('of a recorder that is killed everything is there that had its second, and what it left is compacted', async () => {
  const killed = recording('k');
  await killed.line(/^recording BTCUSDT into/);
  await until('frames on the disk', () => sizeOf('k') > 20_000);
  const recordedTo = (): number => {
    const [left] = frames('k');
    return decoded(readFileSync(left?.path ?? ''))?.records.at(-1)?.machineAt ?? 0;
  };
  const askedAt = machineWall();
  await until('what came until now on the disk, without an end of the recording', () => recordedTo() >= askedAt);
  await killed.end('SIGKILL');
  const [left] = frames('k');
  expect(left?.state).toBe('open');
  expect(recordedTo()).toBeGreaterThanOrEqual(askedAt);
  // A record that was being written when the power went.
  truncateSync(left?.path ?? '', (left?.bytes ?? 0) - 5);
  const { code, out, err } = await at.sluice(['data', 'compact', '--data', 'k']);
  expect(code, err).toBe(0);
  expect(out).toContain('1 file of frames compacted');
  expect(err).toMatch(/bytes at its end were cut off when the recording ended/);
  expect(rowsOf(stored('k', 'depth'))).toBeGreaterThan(20);
  expect((await at.sluice(['data', 'compact', '--data', 'k'])).out).toBe('no recorded frames are left\n');
});

test('at the end of a day what was recorded goes into the catalogue while the recording goes on', async () => {
  await exchange.close();
  // Fifteen minutes before midnight, 15 s of ours: a recording that starts more slowly than that sees no day end.
  const begin = Date.UTC(2024, 0, 10, 23, 45);
  const column = (value: (row: number) => number): Float64Array =>
    Float64Array.from({ length: 600 }, (_, row) => value(row));
  const flat = column((row) => 10_000 + (row % 2));
  const klines = {
    openTime: column((row) => begin + (row - 300) * 60_000),
    open: flat,
    high: column(() => 10_010),
    low: column(() => 9_990),
    close: flat,
    volume: column(() => 200),
  };
  exchange = await openExchange({ markets: [{ kind: 'klines', symbol: 'BTCUSDT', klines, startIndex: 300 }] });
  const tape = recording('m', '--depth');
  await tape.line(/^recording/);
  await until('the compaction of the first day', () => frames('m').some(({ state }) => state === 'done'));
  expect(frames('m').map(({ state }) => state)).toEqual(['done', 'open']);
  const [first] = stored('m', 'depth').months;
  expect(new Date(first?.to ?? 0).toISOString()).toMatch(/^2024-01-1[01]T(23:5|00:0)/);
  await tape.end('SIGINT');
  expect(frames('m').map(({ state }) => state)).toEqual(['done', 'done']);
  // It went on without a hole.
  expect(stored('m', 'depth').holes).toBeUndefined();
  expect(rowsOf(stored('m', 'depth'))).toBeGreaterThan(first?.rows ?? 0);
});

test('two do not record into one catalogue, and one does not record what could not be stored', async () => {
  const first = recording('b');
  await first.line(/^recording/);
  const second = recording('b');
  expect((await second.exited).code).toBe(3);
  expect(second.lines.join('\n')).toMatch(/frames is in use by process \d+/);
  await pass(1_500);
  await first.end('SIGINT');
  const other = recording('b', '--source', 'elsewhere');
  expect((await other.exited).code).toBe(2);
  expect(other.lines.join('\n')).toContain('BTCUSDT has data from 127.0.0.1, and this is elsewhere');
});

test('a file that holds no frames is told of, and the others are compacted', async () => {
  const tape = recording('d', '--trades');
  await tape.line(/^recording/);
  await until('frames on the disk', () => sizeOf('d') > 3_000);
  await tape.end('SIGKILL');
  writeFileSync(join(at.dir, 'd', 'frames', '2020-01-01T00-00-00.000Z-000000.frames'), 'no frames at all');
  const { code, err, out } = await at.sluice(['data', 'compact', '--data', 'd']);
  expect(code).toBe(1);
  expect(err).toMatch(/000000\.frames is not a file of frames: remove it/);
  expect(out).toContain('1 file of frames compacted');
  expect(readdirSync(join(at.dir, 'd', 'trades'))).toEqual(['BTCUSDT']);
});

test('what is no symbol is refused before anything is recorded', async () => {
  expect(
    await at.sluice(['record', '../BTCUSDT', '--url', exchange.restUrl, '--data', join(at.dir, 'n')]),
  ).toMatchObject({
    code: 2,
    err: expect.stringContaining('"../BTCUSDT" is not a symbol: 2 to 30 letters and digits'),
  });
});
