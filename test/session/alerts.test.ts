/** Alerts of a running daemon: what happens arrives by a webhook, a channel that hangs delays nothing, and no secret is in it. */
import { afterEach, expect, test } from 'vitest';
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
  expect(stuck.bodies.length).toBeGreaterThan(0);
  await until('a ping, for all is well', () => check.bodies.length > 0);
  const all = [...hook.bodies, ...stuck.bodies].join('\n');
  for (const secret of [trader.key, trader.secret, hook.url, stuck.url]) expect(all).not.toContain(secret);
  const { stdout } = await rig.run('alerts', 'list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ waiting: { stuck: expect.any(Number) } });
  expect(await daemon.end('SIGINT')).toMatchObject({ code: 130 });
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
  expect(stdout).toMatch(/^ok {4}hook \(webhook\)\nfail {2}stuck \(ntfy\): ECONNREFUSED/);
});
