/** A live daemon on an exchange that shows invalid trades: quarantined, and decided by a human. */
import { afterEach, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { makeRig, openExchange, price, quotes, type Rig, target, trader } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;
afterEach(async () => {
  rig.remove();
  await exchange.close();
});

/** Own trades are shown with these fields from now on; gives what ends that. */
const lie = (set: Readonly<Record<string, string>>): (() => void) =>
  exchange.addFault({ match: { path: '/sapi/v1/myTrades' }, do: { lie: { set } } });
const begin = async (set: Readonly<Record<string, string>>): Promise<() => void> => {
  exchange = await openExchange();
  rig = makeRig(exchange);
  return lie(set);
};
const quarantined = async (): Promise<readonly { readonly tradeId: string; readonly cause: string }[]> =>
  (JSON.parse((await rig.run('status', '--json')).stdout) as { quarantinedTrades: [] }).quarantinedTrades;
const written = () =>
  until('the row of the quarantine', () => rig.read((reader) => reader.quarantinedTrades().length === 1));
const fills = (): readonly string[] => rig.read((reader) => reader.fills().map(({ quantity }) => quantity));
const orders = (): number => exchange.allOrders(trader.uid).length;

test('one with a negative quantity is never booked, blocks its symbol over kill -9, and is discarded', async () => {
  const tellTrue = await begin({ qty: '-0.1' });
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await daemon.line(/trade \d+ on BTCUSDT is quarantined: its quantity is -0\.1/);
  await written();
  rig.emit('taker', undefined);
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  await pass(500);
  await daemon.end('SIGKILL');
  const next = await rig.start();
  const [trade] = await quarantined();
  expect(trade).toMatchObject({ cause: 'its quantity is -0.1', raw: expect.stringContaining('"qty":"-0.1"') });
  await pass(500);
  expect([fills(), orders()]).toEqual([[], 1]);
  const id = trade?.tradeId ?? '';
  const accepted = await rig.run('resolve-trade', id, '--accept', '--reason', 'seen');
  expect(accepted.code).not.toBe(0);
  expect(accepted.stderr).toContain(`trade ${id} cannot be accepted`);
  // What it moved on the account all the same.
  const { BTC, USDT } = exchange.balances(trader.uid);
  const spent = (Number(trader.balances['USDT']) - Number(USDT?.free)).toFixed(8);
  expect((await rig.run('adjust', 'BTC', BTC?.free ?? '', '--reason', 'the discarded trade')).code).toBe(0);
  expect((await rig.run('adjust', 'USDT', `-${spent}`, '--reason', 'the discarded trade')).code).toBe(0);
  expect((await rig.run('resolve-trade', id, '--discard', '--reason', 'no such trade')).code).toBe(0);
  await until('an order of the maker', () => exchange.openOrders(trader.uid).length === 1);
  expect([fills(), await quarantined()]).toEqual([[], []]);
  const why = await rig.run('why', exchange.allOrders(trader.uid)[0]?.orderId ?? '');
  expect(why.stdout).toContain(`quarantined trade discarded: trade ${id}, by operator: no such trade`);
  expect((await rig.run('journal', 'check')).code).toBe(0);
  tellTrue();
  expect((await next.end('SIGINT')).code).toBe(130);
});

test('one of more than its order asked for is accepted without a daemon, and booked once by the next', async () => {
  await begin({ qty: '0.3' });
  rig.emit('taker', target(0.1));
  const daemon = await rig.start();
  await daemon.line(/trade \d+ on BTCUSDT is quarantined: its value .* exceeds the remaining amount .* of order/);
  await written();
  rig.emit('taker', undefined);
  await daemon.end('SIGKILL');
  const [trade] = await quarantined();
  const { code } = await rig.run('resolve-trade', trade?.tradeId ?? '', '--accept', '--reason', 'seen on its page');
  expect([code, fills()]).toEqual([0, []]);
  for (let starts = 0; starts < 2; starts++) {
    const next = await rig.start();
    await until('the fill', () => fills().length > 0);
    await next.end('SIGKILL');
    expect([fills(), await quarantined()]).toEqual([['0.3'], []]);
  }
});
