import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alice, bob, call, exchange, limitOrder, place, signed, startTime } from '../../../test/kit/simulator.ts';
import type { LogEntry } from '../log.ts';
import { operations } from './operations.ts';
import { Reporter, wrongs } from './report.ts';

type Request = Extract<LogEntry, { kind: 'request' }>;
const request = (given: Partial<Request> = {}): Request => ({
  at: startTime,
  kind: 'request',
  ip: '127.0.0.1',
  method: 'GET',
  target: '/sapi/v1/ping',
  body: '',
  ageMs: undefined,
  status: 200,
  uid: undefined,
  weight: 0,
  code: undefined,
  ...given,
});
function judged(...entries: readonly LogEntry[]) {
  const one = new Reporter();
  for (const entry of entries) one.take(entry);
  return one.report();
}
const wrong = (...entries: readonly LogEntry[]) =>
  judged(...entries).findings.map(({ mistake: wrong, count }) => [wrong, count]);

describe('what a client did wrong', () => {
  test('nothing, when it kept to everything', () => {
    expect(wrong(request(), request({ target: '/sapi/v1/depth?symbol=BTCUSDT&limit=5', weight: 5 }))).toEqual([]);
  });

  test('more weight in any minute than the limits that were in force', () => {
    const limits = { ipWeightPerMinute: 10, uidWeightPerMinute: 15 };
    const start: LogEntry = { at: startTime, kind: 'start', profile: 'documented', seed: 1, limits };
    const depth = (at: number, weight: number) =>
      request({ at: startTime + at, target: '/sapi/v1/depth?symbol=BTCUSDT', weight, uid: '1' });
    expect(wrong(start, depth(0, 5), depth(59_999, 5), depth(60_000, 5))).toEqual([]);
    const report = judged(start, depth(0, 6), depth(59_999, 6), depth(60_000, 4));
    expect(report.findings).toMatchObject([
      { mistake: 'weight', who: '127.0.0.1', count: 1, first: startTime + 59_999 },
    ]);
    expect(report.peakWeight).toEqual({ ip: { '127.0.0.1': 12 }, uid: { 1: 12 } });
  });

  test('calls of one operation that come too often', () => {
    const query = (at: number) => request({ at: startTime + at, target: '/sapi/v1/margin/order?orderId=1', uid: '1' });
    const twenty = Array.from({ length: 20 }, (_, index) => query(index));
    expect(wrong(...twenty, query(2_020))).toEqual([]);
    expect(wrong(...twenty, query(1_999))).toEqual([['frequency', 1]]);
  });

  test('requests during a ban, and those that a limit refused', () => {
    const ban: LogEntry = { at: startTime, kind: 'ban', ip: '127.0.0.1', until: startTime + 120_000 };
    const late = request({ at: startTime + 119_999, status: 418, code: -1_003 });
    expect(wrong(request({ status: 429, code: -1_003 }), ban, late, request({ at: startTime + 120_000 }))).toEqual([
      ['refusedByLimit', 1],
      ['duringBan', 1],
    ]);
  });

  test('not what a fault answered, but what was sent then, and on after it had been told to stop', () => {
    const refused = { fault: 1, status: 429, code: -1_003, uid: '1', ageMs: 5 } as const;
    expect(wrong(request(refused))).toEqual([]);
    const at = (ms: number, given: Partial<Request> = {}) =>
      request({ at: startTime + ms, uid: '1', ageMs: 5, ...given });
    // Under way already when the answer came.
    expect(wrong(request(refused), at(100, { ageMs: 150 }), at(60_000))).toEqual([]);
    expect(wrong(request(refused), at(2_000, refused), at(59_999))).toEqual([['refusedByLimit', 2]]);
    expect(wrong(request({ ...refused, status: 418 }), at(2_000))).toEqual([['duringBan', 1]]);
    expect(wrong(request({ fault: 1, status: 504, target: '/sapi/v1/ping?x=1' }))).toEqual([['unknownParameter', 1]]);
  });

  test('not what a fault delivered once more, nor what a person placed with the same id', () => {
    const order = { at: startTime, kind: 'order', uid: '1', account: 'spot', clientOrderId: 'a' } as const;
    const made = (orderId: string, madeBy?: 'hand' | 'fault') =>
      ({ ...order, orderId, ...(madeBy && { madeBy }) }) as LogEntry;
    expect(wrong(made('1'), made('2', 'fault'), made('3', 'hand'))).toEqual([]);
    expect(wrong(made('1'), made('2', 'fault'), made('2', 'fault'), made('3'))).toEqual([['repeatedClientId', 1]]);
    expect(judged(request({ again: true, weight: 1_000_000 }))).toMatchObject({ requests: 0, findings: [] });
  });

  test('timestamps, signatures, keys, precision, minima and funds, by code', () => {
    const codes = [-1_021, -1_022, -2_015, -1_111, -1_136, -2_017, -1_121];
    const refused = codes.map((code) => request({ method: 'POST', target: '/sapi/v1/order', status: 400, code }));
    expect(wrong(...refused).map(([what]) => what)).toEqual([
      ...['window', 'signature', 'key', 'precision', 'minimum', 'funds', 'otherRefusal'],
    ]);
  });

  test('parameters that are unknown or in the wrong place, operations that there are not, wide windows', () => {
    const order = { method: 'POST', target: '/sapi/v1/order' } as const;
    expect(wrong(request({ ...order, body: '{"symbol":"X","quantity":"1"}' }))).toEqual([['unknownParameter', 1]]);
    expect(wrong(request({ ...order, target: '/sapi/v1/order?symbol=X' }))).toEqual([['misplaced', 1]]);
    expect(wrong(request({ body: '{}' }))).toEqual([['misplaced', 1]]);
    expect(wrong(request({ target: '/api/v3/order' }))).toEqual([['unknownOperation', 1]]);
    expect(wrong(request({ ...order, body: '{"recvwindow":"5001"}' }))).toEqual([['wideWindow', 1]]);
    expect(wrong(request({ ...order, body: '{"recvWindow":5000,' }))).toEqual([]);
  });

  test('a window is judged in real time: at 60 times that, 5 s are 300,000 ms', () => {
    const limits = { ipWeightPerMinute: 1_000, uidWeightPerMinute: 1_000 };
    const start: LogEntry = { at: startTime, kind: 'start', profile: 'documented', seed: 1, limits, speed: 60 };
    const window = (ms: number) =>
      request({ method: 'POST', target: '/sapi/v1/order', body: `{"symbol":"X","recvWindow":${ms}}` });
    expect(wrong(start, window(300_000))).toEqual([]);
    expect(wrong(start, window(300_001))).toEqual([['wideWindow', 1]]);
    expect(wrong(window(300_000))).toEqual([['wideWindow', 1]]);
  });

  test('questions that may be refused are told apart: nothing is wrong with asking', () => {
    const tried = request({ method: 'POST', target: '/sapi/v1/order/test', status: 400, code: -1_136 });
    const symbol = request({ target: '/sapi/v1/depth?symbol=NONE', status: 400, code: -1_121 });
    const mayWithdraw = { method: 'POST', target: '/sapi/v1/withdraw/query', status: 400, code: -2_015 } as const;
    expect(wrong(tried, symbol, request({ ...mayWithdraw, body: '{}' }))).toEqual([['probe', 3]]);
    expect(
      wrong(
        request({ ...tried, code: -1_022 }),
        request({ ...mayWithdraw, body: '{"symbol":"USDT"}' }),
        request({ ...tried, target: '/sapi/v1/order' }),
        request({ ...symbol, code: -1_130 }),
      ).map(([what]) => what),
    ).toEqual(['signature', 'key', 'minimum', 'otherRefusal']);
  });

  test('each has words of its own', () => {
    for (const words of Object.values(wrongs)) expect(words.length).toBeGreaterThan(20);
    for (const name of Object.keys(operations)) expect(name).toMatch(/^(GET|POST) \/(sapi\/v1|open)\//);
  });
});

test('each request is in the log, those that a fault kept from the exchange too, and whom a repeated id comes from', async () => {
  const { simulator, log, clock } = await exchange();
  const send = (newClientOrderId: string) =>
    signed(simulator, alice, 'POST', '/sapi/v1/order', { symbol: 'BTCUSDT', ...limitOrder({ newClientOrderId }) });
  const match = { method: 'POST', times: 1 } as const;
  const faults = [
    { status: 504, when: 'before' },
    { drop: 'before' },
    { body: '', when: 'before' },
    { code: -1_003, status: 429, when: 'before' },
    { deliver: 2 },
  ] as const;
  for (const action of faults) {
    await clock.advanceTo(clock.now() + 2_000);
    simulator.addFault({ match, do: action });
    await send('same').catch(() => undefined);
  }
  simulator.people.place({ user: alice.uid, side: 'BUY', price: '8000', copy: true });
  const requests = log.filter((entry) => entry.kind === 'request');
  expect(requests.map(({ status, weight, uid, fault, again }) => ({ status, weight, uid, fault, again }))).toEqual([
    ...[504, 0, 200, 429].map((status, index) => ({ status, weight: 0, uid: alice.uid, fault: index + 1 })),
    { status: 200, weight: 5, uid: alice.uid },
    { status: 200, weight: 5, uid: alice.uid, again: true },
  ]);
  expect(requests[0]).toMatchObject({ target: '/sapi/v1/order', body: expect.stringContaining('"same"'), ageMs: 0 });
  const made = log.flatMap((entry) => (entry.kind === 'order' ? [entry.madeBy] : []));
  expect(made).toEqual([undefined, 'fault', 'hand']);
  expect(judged(...log)).toMatchObject({ requests: 5, orders: 3, findings: [{ mistake: 'refusedByLimit', count: 1 }] });
});

test('a log in a file is read as it was written, and gives the same report', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const logFile = join(dir, 'truth.jsonl');
  const one = await exchange({ logFile });
  const order = limitOrder({ newClientOrderId: 'twice' });
  await place(one.simulator, bob, { ...order, side: 'SELL' });
  await place(one.simulator, alice, order);
  await place(one.simulator, alice, { ...order, price: '8000' });
  await signed(one.simulator, alice, 'POST', '/sapi/v1/order', { symbol: 'BTCUSDT', ...order, price: '1.001' });
  await call(`${one.simulator.restUrl}/sapi/v2/order`, 'GET');
  await one.simulator.close();
  const entries = readFileSync(logFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEntry);
  expect(entries).toEqual(JSON.parse(JSON.stringify(one.log)));
  const report = judged(...entries);
  expect(report).toEqual(judged(...one.log));
  expect(report).toMatchObject({ requests: 5, orders: 3, fills: 2, faults: 0, bans: 0 });
  expect(report.findings.map(({ mistake: what, who }) => [what, who])).toEqual([
    ['precision', '10001'],
    ['repeatedClientId', '10001'],
    ['unknownOperation', '127.0.0.1'],
  ]);
});
