/** `sluice simulator` as a process of its own: steered from its control address, its log judged by `simulator report`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ScaledClock, type SimulatorUser } from '../../src/simulator/simulator.ts';
import { killLeftovers, sluice, startProgram } from '../kit/program.ts';
import { call, objectOf, signed } from '../kit/simulator.ts';

const cwd = mkdtempSync(join(tmpdir(), 'sluice-simulator-'));
const surroundings = { cwd, env: { PATH: process.env['PATH'] ?? '' } };
afterAll(() => {
  killLeftovers();
  rmSync(cwd, { recursive: true, force: true });
});

const address = ['simulator', '--json', '--port', '0', '--scenario', 'synthetic'];

test('markets, faults, control address and log work together, and the report tells what a client did wrong', async () => {
  const program = startProgram(
    [...address, '--control', '0', '--log', 'truth.jsonl', '--faults', 'outage-5m'],
    surroundings,
  );
  const line = await program.line(/controlUrl/);
  const { restUrl, controlUrl } = JSON.parse(line) as { restUrl: string; controlUrl: string };
  expect(controlUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const depth = await fetch(`${restUrl}/sapi/v1/depth?symbol=ETHUSDT&levels=5`);
  expect(((await depth.json()) as { bids: unknown[] }).bids.length).toBeGreaterThan(10);

  // The plan takes the exchange away after a minute, which need not be waited for.
  await fetch(`${controlUrl}/time`, { method: 'POST', body: '{"advanceMs": 61000}' });
  await expect(fetch(`${restUrl}/sapi/v1/ping`)).rejects.toThrow();
  await fetch(`${controlUrl}/outage`, { method: 'DELETE' });
  expect((await fetch(`${restUrl}/sapi/v1/ping`)).status).toBe(200);
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 });

  const report = await sluice(['simulator', 'report', 'truth.jsonl'], surroundings);
  expect(report).toMatchObject({ code: 0, stderr: '' });
  expect(report.stdout).toContain('unknownParameter');
  const asJson = await sluice(['simulator', 'report', 'truth.jsonl', '--json'], surroundings);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    requests: 2,
    findings: [{ mistake: 'unknownParameter', count: 1 }],
  });
});

test('a file says who may trade there, withdraw and owe, and what the exchange is like', async () => {
  const users = [
    { uid: '1', key: 'one', secret: 's1', permissions: ['read', 'withdraw'], balances: { USDT: '50' } },
    { uid: '2', key: 'two', secret: 's2', balances: {}, margin: { USDT: '700' } },
  ] as const satisfies SimulatorUser[];
  const lines = {
    markets: [{ symbol: 'BTCUSDT', empty: true }],
    users,
    limits: { ipWeightPerMinute: 110 },
    quirks: { errorStatus: 'http200' },
  };
  writeFileSync(join(cwd, 'mine.yaml'), JSON.stringify(lines));
  const program = startProgram(
    ['simulator', '--json', '--port', '0', '--markets', 'mine.yaml', '--persist', 'mine'],
    surroundings,
  );
  const { restUrl } = JSON.parse(await program.line(/restUrl/)) as { restUrl: string };
  const now = async () => Number(objectOf(await call(`${restUrl}/sapi/v1/time`, 'GET')).serverTime);
  const ask = async (user: SimulatorUser, path: string, body: Record<string, unknown>) =>
    signed({ restUrl, clock: new ScaledClock() }, user, 'POST', path, body, { timestamp: await now() });
  const withdrawal = { withdrawOrderId: 'w1', amount: '20', address: 'abc', symbol: 'USDT' };
  expect(objectOf(await ask(users[0], '/sapi/v1/withdraw/apply', withdrawal))).toMatchObject({ data: { id: 1 } });
  const order = { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', price: '600', volume: '1' };
  expect(objectOf(await ask(users[1], '/sapi/v1/margin/order', order)).status).toBe('NEW');
  const refused = await ask(users[1], '/sapi/v1/order', order);
  expect([refused.status, objectOf(refused)['code']]).toEqual([200, -2017]);
  expect((await ask(users[0], '/sapi/v1/withdraw/query', {})).status).toBe(429);
  await program.end('SIGTERM');
});

test('no control address is open when none was asked for', async () => {
  const program = startProgram([...address, '--persist', 'other'], surroundings);
  expect(JSON.parse(await program.line(/restUrl/))).not.toHaveProperty('controlUrl');
  await program.end('SIGTERM');
});
