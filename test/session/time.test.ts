/** The exchange's clock steps, or its gateways disagree about the time, while a daemon trades. */
import { expect, test } from 'vitest';
import type { View } from '../../src/dashboard/view.ts';
import { viewIn } from '../kit/daemon-view.ts';
import { price, quotes, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

const fills = (count: number) => until(`${count} fills`, () => exchange.allTrades(trader.uid).length >= count);

const view = (): Promise<View> => viewIn(rig.state);

test('a clock that steps is followed at the first request that is refused for it, and trading goes on', async () => {
  const daemon = await rig.start();
  // Ahead of what the exchange takes: a second, of which the clock has sixty.
  exchange.happen({ stepMs: -100_000 });
  rig.emit('taker', target(0.1));
  await fills(1);
  await daemon.line(/the exchange's time differed by -(?:99|100)\d{3} ms from our clock/);
  expect(exchange.allOrders(trader.uid)).toHaveLength(1);
});

test('gateways that disagree about the time stop creation and nothing else, until they agree', async () => {
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  const daemon = await rig.start();
  await until('a resting order', () => exchange.openOrders(trader.uid).length === 1);
  exchange.addFault({ match: { path: '/sapi/v1/time', every: 2 }, do: { skewMs: 90_000 } });
  exchange.addFault({ match: { method: 'POST', path: '/sapi/v1/order', times: 1 }, do: { code: -1021 } });
  rig.emit('taker', target(0.1));
  await daemon.line(/no order is created: readings of the exchange's time contradict each other by \d+ ms/);
  expect((await view()).stateText).toMatch(/^No order is created: .*contradict each other.* ends automatically\.$/);
  await until('why', async () => (await rig.run('why', 'taker')).stdout.includes('contradict each other'));
  rig.emit('maker', quotes());
  await until('the cancel', () => exchange.openOrders(trader.uid).length === 0);
  expect(exchange.allTrades(trader.uid)).toEqual([]);
  exchange.removeFaults();
  await fills(1);
  await daemon.line(/orders are created again: the exchange's time is known to within \d+ ms/);
});
