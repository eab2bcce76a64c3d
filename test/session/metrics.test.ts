/** /health, /ready and /metrics of a running daemon: what they say as it trades, is killed, and loses its market data. */
import { expect, test } from 'vitest';
import type { Program } from '../kit/program.ts';
import { puppets, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

async function started(): Promise<readonly [Program, (path: string) => Promise<Response>]> {
  rig.configure({ metrics: { port: 0 }, risk: { maxOrderValue: '2000' } });
  const daemon = await rig.start();
  const address = /http:\/\/[\d.:]+/.exec(await daemon.line(/^metrics +http:/))?.[0] ?? '';
  return [daemon, (path) => fetch(`${address}${path}`)];
}
/** The value of a metric, with its labels in their order. */
const valueIn = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

test('orders, fills, denials, kills and readiness are what happened, and no secret is in them', async () => {
  const [daemon, get] = await started();
  const scrape = async (): Promise<string> => (await get('/metrics')).text();
  const waitFor = (name: string, value: number) =>
    until(`${name} ${value}`, async () => valueIn(await scrape(), name) === value);
  await until('ready', async () => (await get('/ready')).status === 200);
  expect(await (await get('/ready')).json()).toEqual({ ok: true, state: 'ready', reasons: [], paused: [], killed: [] });
  rig.emit('taker', target(0.1));
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  await until(
    'the fill',
    async () => (valueIn(await scrape(), 'sluice_fills_total{strategy="taker",symbol="BTCUSDT",side="BUY"}') ?? 0) > 0,
  );
  rig.emit('other', target(1));
  await until(
    'a denial',
    async () => (valueIn(await scrape(), 'sluice_denials_total{strategy="other",rule="orderValue"}') ?? 0) > 0,
  );
  const text = await scrape();
  for (const outcome of ['sent', 'accepted'])
    expect(valueIn(text, `sluice_orders_total{strategy="taker",outcome="${outcome}"}`)).toBeGreaterThan(0);
  for (const stage of ['decide', 'weight', 'commit', 'create'])
    expect(valueIn(text, `sluice_latency_seconds_count{stage="${stage}"}`), stage).toBeGreaterThan(0);
  expect(valueIn(text, 'sluice_state{state="ready"}')).toBe(1);
  expect(valueIn(text, 'sluice_unknown_outcomes')).toBe(0);
  expect(valueIn(text, 'sluice_request_weight_limit{of="ip"}')).toBe(12_000);
  expect(valueIn(text, 'sluice_request_weight_used{of="ip"}')).toBeGreaterThan(0);
  expect(valueIn(text, 'sluice_feed_age_seconds{symbol="BTCUSDT"}')).toBeLessThan(30);
  expect(valueIn(text, 'sluice_equity')).toBeGreaterThan(500_000);
  expect(valueIn(text, 'sluice_position_value{strategy="taker",symbol="BTCUSDT"}')).toBeCloseTo(1_000, -2);
  expect(valueIn(text, 'sluice_journal_bytes')).toBeGreaterThan(10_000);
  expect(valueIn(text, 'sluice_kills_in_force{kind="kill"}')).toBe(0);
  await rig.run('kill', '--reason', 'a reason that is nobody else’s');
  await waitFor('sluice_kills_in_force{kind="kill"}', 1);
  const killed = await get('/ready');
  const ids = puppets.map(({ id }) => id);
  expect([killed.status, await killed.json()]).toEqual([
    503,
    { ok: false, state: 'killed', reasons: ['killed'], paused: [], killed: ids },
  ]);
  expect((await get('/health')).status).toBe(200);
  await rig.run('resume');
  await until('ready again', async () => (await get('/ready')).status === 200);
  // A deliberate pause is no failure; the answer names who is paused.
  await rig.run('pause');
  await rig.run('kill', '--strategy', 'maker');
  const paused = await get('/ready');
  expect([paused.status, await paused.json()]).toEqual([
    200,
    { ok: true, state: 'ready', reasons: [], paused: ids.filter((id) => id !== 'maker'), killed: ['maker'] },
  ]);
  await rig.run('resume');
  await exchange.close();
  await until('that market data are missing', async () => (await get('/ready')).status === 503);
  // One look: what is missing changes while the outage goes on.
  expect(await (await get('/ready')).json()).toMatchObject({ ok: false, state: 'waiting' });
  expect((await get('/health')).status).toBe(200);
  const all = `${await scrape()}${await (await get('/ready')).text()}`;
  for (const secret of [trader.key, trader.secret, 'nobody else', rig.dir]) expect(all).not.toContain(secret);
  await daemon.end('SIGKILL');
});

test('an address that others reach needs a token before anything is opened', async () => {
  rig.configure({ metrics: { host: '0.0.0.0' } });
  const { code, stderr } = await rig.run('live', '--config', `${rig.dir}/live.yaml`);
  expect(code).toBe(2);
  expect(stderr).toContain('metrics.host 0.0.0.0 can be reached from other machines: put a token');
});

test('a second daemon on the same state is refused for the first one, not for the port of its metrics', async () => {
  const [daemon] = await started();
  const port = Number(/:(\d+)$/.exec(/http:\/\/[\d.:]+/.exec(await daemon.line(/^metrics +http:/))?.[0] ?? '')?.[1]);
  rig.configure({ metrics: { port } });
  const { code, stderr } = await rig.run('live', '--config', `${rig.dir}/live.yaml`);
  expect(stderr).toContain('is in use by a running daemon');
  expect(code).toBe(3);
  await daemon.end('SIGKILL');
});
