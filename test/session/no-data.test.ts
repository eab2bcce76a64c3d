/** A daemon whose market data never comes: the socket's address is wrong. */
import { afterEach, expect, test } from 'vitest';
import { viewIn } from '../kit/daemon-view.ts';
import { speed, target } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { closeServices, service } from '../kit/services.ts';
import { until } from '../kit/until.ts';

rigForEachTest();
afterEach(closeServices);

test('it is said on the terminal, by status, on the page and by one alert, and that it comes again', async () => {
  const { restUrl, wsUrl } = exchange;
  const hook = await service((reply) => void reply.end('{}'));
  Object.assign(rig.env, { SLUICE_ALERT_HOOK: hook.url });
  const alerts = { channels: { hook: { type: 'webhook' } }, routes: [{ minLevel: 'info', to: ['hook'] }] };
  const alertsOf = (words: RegExp): number => hook.taken.filter(({ body }) => words.test(body)).length;
  rig.configure({ alerts, exchange: { restUrl, wsUrl: wsUrl.replace(/\/kline-api.*/, '/nope'), speed } });
  rig.emit('taker', target(0.1));
  const daemon = rig.launch();
  await daemon.line(
    /Z ready, without data: No market data: ws:.*\/nope: .+ no new positions until it resumes, and stops do not work\.$/,
  );
  await daemon.line(/Z warn +no market data: ws:.*\/nope: .*400.*exchange\.wsUrl/);
  await until('status', async () => /^ATTENTION {2}no market data: ws:/m.test((await rig.run('status')).stdout));
  const { notices, stateText } = await viewIn(rig.state);
  expect(stateText).toMatch(/^No market data: /);
  expect(notices.map(({ level, text }) => `${level} ${text}`).join('\n')).toMatch(/^warn no market data: /m);
  await daemon.end('SIGTERM');
  expect(alertsOf(/no market data/i)).toBe(1);
  expect((await rig.run('status')).stdout).not.toContain('ATTENTION');
  rig.configure({ alerts });
  const again = await rig.start();
  await again.line(/Z ready: Trading\. 3 strategies running\.$/);
  expect((await rig.run('status')).stdout).not.toContain('ATTENTION');
  await again.end('SIGTERM');
  expect(again.lines.join('\n')).not.toMatch(/no market data/i);
  expect(alertsOf(/no market data/i)).toBe(1);
});
