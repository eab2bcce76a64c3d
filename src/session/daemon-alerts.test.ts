import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fillRowOf } from '../../test/kit/journal-rows.ts';
import type { Alert } from '../alerts/routes.ts';
import { alerts as schema } from '../config/alerts.ts';
import { DaemonAlerts } from './daemon-alerts.ts';
import { fillView, type SessionEvent } from './log/events.ts';

let sent: Alert[];
let alerts: DaemonAlerts;
beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  alerts = new DaemonAlerts({
    ...{ mode: 'live', stateDir: '/nowhere' },
    configured: {
      config: schema.parse({ channels: { phone: { type: 'ntfy' } }, routes: [{ minLevel: 'info', to: ['phone'] }] }),
      secrets: { channels: new Map(), ping: undefined },
    },
    send: () => ({
      ...{ alarms: [], cameUp() {}, well() {}, configure() {} },
      acknowledge: () => Promise.resolve(0),
      add: (alert) => void sent.push(alert),
      end: () => Promise.resolve(),
    }),
  });
  alerts.begin();
});
afterEach(() => {
  vi.useRealTimers();
});

const fill = (clientOrderId: string, price: string, quantity = '0.1'): SessionEvent => {
  const row = fillRowOf({ clientOrderId, price, quantity, side: 'SELL' });
  return { kind: 'fill', time: row.time, level: 'info', fill: fillView(row) };
};
const texts = (): readonly string[] => sent.map(({ text }) => text);

test('fills of an order that come together are one alert with their average price', async () => {
  for (const price of ['100.5', '100.4', '100.2']) alerts.add(fill('c1', price));
  alerts.add(fill('c2', '99'));
  expect(texts()).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(texts()).toEqual(['s SELL 0.3 BTCUSDT at 100.37 on average (3 fills)', 's SELL 0.1 BTCUSDT at 99']);
  alerts.add(fill('c1', '100.2'));
  await alerts.end();
  expect(texts().at(-1)).toBe('s SELL 0.1 BTCUSDT at 100.2');
  vi.advanceTimersByTime(1_000);
  expect(sent).toHaveLength(3);
});
