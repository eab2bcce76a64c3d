/** A daemon on the margin account: the same way, its own orders and journal, no balances to prove anything by. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { makeRig, openExchange, type Rig, target, trader, whale } from '../kit/rig.ts';
import { until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;

const filled = (count: number) => until(`${count} fills`, () => exchange.allTrades(trader.uid).length >= count);

beforeEach(async () => {
  exchange = await openExchange({ users: [{ ...trader, margin: { USDT: '1000000' } }, whale] });
  rig = makeRig(exchange);
  rig.configure({ account: 'margin' });
});
afterEach(async () => {
  rig.remove();
  await exchange.close();
});

describe('a daemon on the margin account', () => {
  test('trades, survives kill -9, and has the exchange’s fills, under the account’s name', async () => {
    rig.emit('taker', target(0.1));
    const first = await rig.start();
    await filled(1);
    await first.end('SIGKILL');
    rig.emit('taker', target(0.05));
    await rig.start();
    await filled(2);
    await quiet(rig, exchange);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
    const accounts = rig.read((reader) => reader.orders().map(({ account }) => account));
    expect(new Set(accounts)).toEqual(new Set(['margin']));
  });

  test('quarantines an order that is lost and not found: nothing proves its absence, a human closes it', async () => {
    const lost = exchange.addFault({
      match: { method: 'POST', path: '/sapi/v1/margin/order' },
      do: { drop: 'before' },
    });
    rig.emit('taker', target(0.1));
    const daemon = await rig.start();
    await daemon.line(/Z unknown /);
    lost();
    await daemon.line(/is quarantined: .*no such operation for margin/);
    const quarantined = () => rig.read((reader) => reader.orders("state = 'quarantined'"));
    await until('its row', () => quarantined().length === 1);
    const said = await rig.run(
      'resolve',
      quarantined()[0]?.clientOrderId ?? '',
      '--as',
      'absent',
      '--reason',
      'looked',
    );
    expect([said.code, said.stderr]).toEqual([0, '']);
    await filled(1);
    expect(await differencesAtRest(rig, exchange)).toEqual([]);
  });

  test('does not share a journal with the spot account', async () => {
    await (await rig.start()).end('SIGINT');
    rig.configure({ account: 'spot' });
    const refused = rig.launch();
    expect((await refused.exited).code).toBe(3);
    expect(refused.lines.join('\n')).toContain('belongs to account "margin", not "spot"');
  });
});
