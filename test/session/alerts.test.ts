/** Alerts of a running daemon: what happens arrives by a webhook, a channel that hangs delays nothing, and no secret is in it. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sluice } from '../kit/program.ts';
import { target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Where messages arrive; `hangs`: it never answers. */
async function receiver(hangs = false) {
  const bodies: string[] = [];
  const server = createServer((request, answer) => {
    let body = '';
    request.on('data', (part) => {
      body += String(part);
    });
    request.on('end', () => {
      bodies.push(body);
      if (!hangs) answer.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`, bodies };
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

test('a canary: no secret in any message, log, outbox or output, whatever an exchange or a strategy says', async () => {
  const hook = await receiver();
  const canary = 'canary-4f1c2a9e-topic';
  Object.assign(rig.env, {
    SLUICE_ALERT_HOOK: hook.url,
    SLUICE_ALERT_STUCK: `http://127.0.0.1:1/${canary}`,
    SLUICE_PING_URL: `http://127.0.0.1:1/${canary}-ping`,
  });
  rig.configure({ alerts: { ...alerts, ping: { everyMs: 1_000 } } });
  const daemon = await rig.start();
  await rig.run('kill', '--reason', `the page showed ${canary} and ${trader.secret}`);
  await until('the message of the kill', () =>
    hook.bodies.some((body) => body.includes('Killed') || body.includes('killed')),
  );
  await until('the failing ping', () => readFileSync(join(rig.state, 'sluice.log'), 'utf8').includes('the ping fails'));
  await daemon.end('SIGINT');
  const kept = ['alerts.db', 'alerts.db-wal'].map((name) => join(rig.state, name)).filter((path) => existsSync(path));
  const shown = [...hook.bodies, ...kept.map((path) => readFileSync(path, 'latin1'))].join('\n');
  for (const secret of [canary, trader.secret, trader.key]) expect(shown).not.toContain(secret);
  const log = readFileSync(join(rig.state, 'sluice.log'), 'utf8');
  for (const line of log.split('\n').filter((one) => one.includes('"alerts"'))) expect(line).not.toContain(canary);
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
