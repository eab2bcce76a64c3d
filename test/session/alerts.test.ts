/** Alerts of a running daemon: what happens arrives by a webhook, a channel that hangs delays nothing, and no secret is in it. */
import { afterEach, expect, test, vi } from 'vitest';
import { writeOffline } from '../../src/session/control/offline-journal.ts';
import { sluice } from '../kit/program.ts';
import { target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { closeServices, service } from '../kit/services.ts';
import { until } from '../kit/until.ts';

rigForEachTest();
afterEach(closeServices);

/** Where messages arrive; `hangs`: it never answers. */
async function receiver(hangs = false) {
  const { url, taken } = await service((reply) => void (hangs || reply.end('{}')));
  return {
    url: `${url}/secret-path`,
    taken,
    get bodies() {
      return taken.map(({ body }) => body);
    },
  };
}

const alerts = {
  channels: { hook: { type: 'webhook' }, stuck: { type: 'ntfy' } },
  routes: [{ minLevel: 'info', to: ['hook', 'stuck'] }],
};

test('fills and a kill arrive, while another channel hangs, and orders go on', async () => {
  const [hook, stuck, check] = [await receiver(), await receiver(true), await receiver()];
  Object.assign(rig.env, {
    SLUICE_ALERT_HOOK: hook.url,
    SLUICE_ALERT_STUCK: stuck.url,
    SLUICE_PING_URL: check.url,
  });
  rig.configure({ alerts: { ...alerts, ping: {} } });
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await until('a fill', () => exchange.allOrders(trader.uid).length > 0);
  await until('the message of the fill', () => hook.bodies.some((body) => /taker BUY [\d.]+ BTCUSDT/.test(body)));
  await rig.run('kill', '--reason', 'enough');
  await until('the message of the kill', () => hook.bodies.some((body) => body.includes('killed by operator: enough')));
  // Whoever copies the command must not act on another daemon.
  expect(hook.bodies.join('\n')).toContain(`npx sluice resume --state ${rig.state}`);
  expect(stuck.bodies.length).toBeGreaterThan(0);
  await until('a ping, for all is well', () => check.bodies.length > 0);
  const all = [...hook.bodies, ...stuck.bodies].join('\n');
  for (const secret of [trader.key, trader.secret, hook.url, stuck.url]) expect(all).not.toContain(secret);
  const { stdout } = await rig.run('alerts', 'list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ waiting: { stuck: expect.any(Number) } });
  expect(await daemon.end('SIGINT')).toMatchObject({ code: 130 });
  expect(hook.bodies.filter((body) => body.includes('enough'))).toHaveLength(1);
});

test('a resume of all acknowledges the alarm of a kill', async () => {
  const hook = await receiver();
  Object.assign(rig.env, { SLUICE_ALERT_HOOK: hook.url });
  const escalate = { repeatMs: 3_600_000, to: ['hook'] };
  rig.configure({
    alerts: { channels: { hook: { type: 'webhook' } }, routes: [{ minLevel: 'error', to: ['hook'], escalate }] },
  });
  const daemon = await rig.start();
  const open = async (): Promise<number> =>
    (JSON.parse((await rig.run('alerts', 'list', '--json')).stdout) as { readonly alarms: readonly object[] }).alarms
      .length;
  await rig.run('kill');
  await until('the alarm', async () => (await open()) === 1);
  await rig.run('resume');
  await until('its end', async () => (await open()) === 0);
  await daemon.end('SIGINT');
});

test('a secret that is missing is refused before anything is opened, and a test says which channel fails', async () => {
  const hook = await receiver();
  Object.assign(rig.env, { SLUICE_ALERT_HOOK: hook.url });
  const file = rig.configure({ alerts });
  const refused = rig.launch();
  expect((await refused.exited).code).toBe(2);
  expect(refused.lines.join('\n')).toContain('SLUICE_ALERT_STUCK is not set');
  Object.assign(rig.env, { SLUICE_ALERT_STUCK: 'http://127.0.0.1:1/nobody' });
  const { code, stdout } = await sluice(['alerts', 'test', '--config', file], rig);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^ok {4}hook \(webhook\)\nfail {2}stuck \(ntfy\): nothing listens at that address and port \(ECONNREFUSED\)/,
  );
});

test('the daily summary has the whole day from the journal, and comes once', async () => {
  const hook = await receiver();
  Object.assign(rig.env, { SLUICE_ALERT_HOOK: hook.url });
  rig.configure({
    alerts: {
      channels: { hook: { type: 'webhook' } },
      routes: [{ minLevel: 'info', kinds: ['summary'], to: ['hook'] }],
      summary: { at: '00:00' },
    },
  });
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await until('a fill', () => rig.read((reader) => reader.fillCount()) > 0);
  const kept = (): string | undefined => rig.read((reader) => reader.memories().get('dailySummary'));
  await until('what the next summary is compared with', () => kept() !== undefined);
  await daemon.end('SIGINT');
  // As if it had been kept a day ago: the next daemon is late with its summary.
  const base = JSON.parse(kept() ?? '') as { readonly due: number };
  vi.stubEnv('XDG_STATE_HOME', rig.env['XDG_STATE_HOME']);
  const value = JSON.stringify({ ...base, due: base.due - 86_400_000 });
  writeOffline(rig.state, [{ kind: 'memory', name: 'dailySummary', value }]);
  vi.unstubAllEnvs();
  const next = await rig.start();
  await until('the summary', () => hook.bodies.length > 0);
  expect(JSON.parse(hook.bodies[0] ?? '').text).toMatch(
    /^\[state\] Daily summary \(live\), .* UTC\nEquity .* USDT, [+-][\d,.]+\nClosed less fees: taker -[\d.]+ USDT\n\d+ fills?, no denials, no unknown outcomes\nAccount and ledger: .* even at /,
  );
  await next.end('SIGINT');
  expect(hook.bodies).toHaveLength(1);
});
