/** A small share of scripts/million.ts: what is kept is counted, not timed. */
import { expect, test } from 'vitest';
import { alice, call, exchange, limitOrder, signed } from '../../test/kit/simulator.ts';

test('however many requests come, what is kept of them has a limit', async () => {
  const kept = 50;
  const one = await exchange({ keptOrders: kept, faults: [{ match: { method: 'GET' }, do: { lagMs: 1_000 } }] });
  const { simulator, clock } = one;
  const order = { symbol: 'BTCUSDT', ...limitOrder({ volume: '0.01' }) };
  for (let turn = 0; turn < 300; turn++) {
    await signed(simulator, alice, 'POST', '/sapi/v1/order', { ...order, side: turn % 2 === 0 ? 'BUY' : 'SELL' });
    await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT');
    await call(`${simulator.restUrl}/sapi/v1/nothing`, 'GET');
    await clock.advanceTo(clock.now() + 100);
  }
  const { orders = 0, trades = 0, openOrders, waitingForReplicas = 0 } = simulator.retained();
  expect(one.log.filter(({ kind }) => kind === 'request')).toHaveLength(900);
  expect(orders).toBeLessThanOrEqual(2 * kept);
  expect(trades).toBeLessThanOrEqual(2 * kept);
  expect(openOrders).toBe(0);
  // A second of changes.
  expect(waitingForReplicas).toBeLessThanOrEqual(15);
});
