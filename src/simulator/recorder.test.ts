import { expect, onTestFinished, test } from 'vitest';
import { alice, btc, limitOrder, listOf, objectOf, place, signed, startTime } from '../../test/kit/simulator.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { startSimulator } from './simulator.ts';

test('an exchange whose log nobody reads still tells a replica what changed', async () => {
  const clock = new SimClock(startTime);
  const simulator = await startSimulator({ users: [alice], instruments: [btc], clock });
  onTestFinished(() => simulator.close());
  const order = { symbol: 'BTCUSDT', ...limitOrder() };
  const before = await place(simulator, alice, order);
  simulator.addFault({ match: { method: 'GET' }, do: { lagMs: 1_000 } });
  const after = await place(simulator, alice, order);
  const open = async () =>
    listOf(await signed(simulator, alice, 'GET', '/sapi/v1/openOrders?symbol=BTCUSDT')).map(
      (row) => row['orderIdString'],
    );
  const free = async () => objectOf(await signed(simulator, alice, 'GET', '/sapi/v1/account'))['balances'];
  expect(await open()).toEqual([before]);
  const lagging = await free();
  await clock.advanceTo(startTime + 1_000);
  expect(await open()).toEqual([after, before]);
  expect(await free()).not.toEqual(lagging);
});
