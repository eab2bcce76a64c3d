import { beforeEach, describe, expect, test } from 'vitest';
import { btc, draft, eth } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import { lots, noTicks, noUnits, ticks, units } from '../domain/money.ts';
import type { VenueTrade } from '../domain/order.ts';
import { readQuarantinedTrades } from '../journal/load.ts';

let rig: TestRig;
beforeEach(() => {
  rig = new TestRig().listen();
});

/** From now on the exchange shows a trade so. */
const show = (tradeId: string, change: Partial<VenueTrade>): void => void rig.venue.shownAs.set(tradeId, change);
/** From now on it shows it as it was. */
const showRight = (): void => rig.venue.shownAs.clear();
/** Two complete reads, the sweep gap apart. */
async function readTwice(): Promise<void> {
  await rig.sweep();
  await rig.pass(timing.sweepGapMs);
  await rig.sweep();
}
const rows = async () => {
  await rig.written();
  return readQuarantinedTrades(rig.db).map(({ tradeId, why, decision, by, reason }) => ({
    tradeId,
    why,
    decision,
    by,
    reason,
  }));
};
const restart = async (): Promise<void> => {
  await rig.written();
  rig.crash();
  rig.listen();
  await rig.finish(rig.assembled.trader.recover());
};
const isBlocked = (symbol = btc.symbol): boolean => rig.assembled.portfolio.isUndecided(symbol);
const decide = (as: 'accepted' | 'discarded', subject = '1') =>
  rig.finish(rig.assembled.resolveTrade(subject, as, 'operator', 'seen on its page'));

const amount = (text: string): Partial<VenueTrade> => ({ quantity: lots(text, btc) });
const at = (text: string): Partial<VenueTrade> => ({ price: ticks(text, btc) });

describe('an invalid trade', () => {
  test.each<[string, Partial<VenueTrade>, string]>([
    ['a negative quantity', amount('-0.5'), 'its quantity is -0.5'],
    ['no quantity', amount('0'), 'its quantity is 0'],
    ['a negative price', at('-1000000000000000000000000000000'), 'its price is -1000000000000000000000000000000'],
    ['no price', at('0'), 'its price is 0'],
    ['another symbol', { symbol: eth.symbol }, 'its symbol is ETHUSDT, but it was listed under BTCUSDT'],
    ['a symbol that nobody trades', { symbol: 'NOSUCH' }, 'its symbol is NOSUCH, but it was listed under BTCUSDT'],
    ['an unreadable field', { price: noTicks, unreadable: 'it has no readable price' }, 'it has no readable price'],
    ['an unreadable time', { time: 0, unreadable: 'it has no readable time' }, 'it has no readable time'],
    ['the other side', { side: 'SELL' }, 'it is a SELL, and order '],
    ['a price beyond the limit', at('100.01'), 'its price is 100.01, beyond the limit 100 of order '],
    ['more than is left', amount('0.60001'), 'its quantity 0.60001 exceeds the remaining 0.6 of order '],
  ])('%s: is not booked, and quarantined once two complete reads show it', async (_, change, why) => {
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4', '99');
    await rig.sweep();
    rig.venue.fill('1001', '0.1');
    show('2', change);
    const first = await rig.sweep();
    expect(first).toMatchObject({ complete: false, failed: true });
    expect(first.cause).toContain(`trade 2 is not booked: ${why}`);
    expect([isBlocked(), await rows()]).toEqual([false, []]);
    await rig.pass(timing.sweepGapMs);
    await rig.sweep();
    expect(await rows()).toMatchObject([{ tradeId: '2', why: expect.stringContaining(why), decision: null }]);
    expect([isBlocked(), isBlocked(eth.symbol)]).toEqual([true, false]);
    expect((await rig.sweep()).complete).toBe(true);
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(order.state).toBe('open');
    expect(rig.notices).toHaveLength(1);
    expect(rig.notices[0]).toMatchObject({
      level: 'error',
      topic: 'quarantined',
      text: expect.stringContaining('sluice resolve-trade 2'),
    });
    expect(rig.db.prepare('SELECT trade_id FROM venue_trades').pluck().all()).toEqual(['1']);
  });

  test('of a sell is one below its limit', async () => {
    await rig.placed();
    rig.venue.fill('1001');
    await rig.sweep();
    await rig.placed({ side: 'SELL', price: '100' });
    rig.venue.fill('1002', '0.4', '99.99');
    await readTwice();
    expect(await rows()).toMatchObject([{ why: expect.stringContaining('its price is 99.99, beyond the limit 100') }]);
  });

  test.each(['running', 'restarted'])('with an unreadable time is booked when it is shown right, %s', async (how) => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', { time: 0, unreadable: 'it has no readable time' });
    await readTwice();
    if (how === 'restarted') await restart();
    showRight();
    await rig.sweep();
    expect([await rig.fillRows(), isBlocked()]).toEqual([['1 1001 0.4'], false]);
  });

  test('that is booked already contradicts nothing when one read cannot read it', async () => {
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    await rig.sweep();
    show('1', { price: noTicks, unreadable: 'it has no readable price' });
    await rig.sweep();
    showRight();
    await rig.sweep();
    expect([await rig.fillRows(), order.state, rig.notices]).toEqual([['1 1001 0.4'], 'open', []]);
    expect(rig.assembled.execution.halts.inForce).toEqual([]);
  });

  test('of a lost create is booked when it is accepted: its order is found first', async () => {
    rig.venue.creates = ['acceptLost'];
    rig.venue.onCreate = () => {};
    const { order, carried } = rig.begin({ price: '100' });
    await rig.pass(5);
    rig.venue.fill('1001', '1', '100.01');
    await rig.finish(carried);
    await readTwice();
    expect(await decide('accepted')).toBeUndefined();
    await rig.sweep();
    expect([await rig.fillRows(), order.orderId]).toEqual([['1 1001 1'], '1001']);
  });

  test('that was a trade with ourselves without readable orders is settled when they are shown', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', { orderIds: [], unreadable: 'it has no readable order id' });
    await readTwice();
    expect(isBlocked()).toBe(true);
    show('1', { orderIds: ['1001', '1002'] });
    await rig.sweep();
    expect([await rig.fillRows(), isBlocked()]).toEqual([['1 1001 0.4'], false]);
  });

  test('that differs at each read is quarantined once', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    for (const quantity of ['-0.4', '-0.5', '-0.6', '-0.7', '-0.8']) {
      show('1', amount(quantity));
      await rig.sweep();
      await rig.pass(timing.sweepGapMs);
    }
    expect([await rig.fillRows(), isBlocked(), rig.notices.length]).toEqual([[], true, 1]);
    expect(await rows()).toMatchObject([{ tradeId: '1', decision: null }]);
  });

  test('without readable fields is discarded, and the symbol trades again', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', { orderIds: [], price: noTicks, time: 0, unreadable: 'it has no readable order id' });
    await readTwice();
    await restart();
    expect(await decide('accepted')).toContain('it has no readable order id');
    expect(await decide('discarded')).toBeUndefined();
    await rig.sweep();
    expect([await rig.fillRows(), isBlocked()]).toEqual([[], false]);
  });

  test('is booked when the next read shows it right', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await rig.sweep();
    showRight();
    expect((await rig.sweep()).complete).toBe(true);
    expect([await rig.fillRows(), await rows(), rig.notices]).toEqual([['1 1001 0.4'], [], []]);
  });

  test('is nothing any more when the next read does not show it', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await rig.sweep();
    rig.venue.trades.length = 0;
    await rig.pass(timing.sweepGapMs);
    expect((await rig.sweep()).complete).toBe(true);
    expect(await rows()).toEqual([]);
  });

  test.each(['running', 'restarted'])('is booked when it is shown right after all, %s', async (how) => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await readTwice();
    if (how === 'restarted') await restart();
    expect(isBlocked()).toBe(true);
    showRight();
    await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(isBlocked()).toBe(false);
    expect(await rows()).toMatchObject([{ decision: 'corrected', by: 'exchange' }]);
  });

  test('that a start finds is quarantined by it, and then trading begins', async () => {
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await restart();
    expect([await rig.fillRows(), isBlocked()]).toEqual([[], true]);
    expect(await rows()).toHaveLength(1);
  });

  test('of somebody else is not entered into the ledger', async () => {
    const expected = () => rig.assembled.execution.books?.ledger.expected().get('BTC') ?? noUnits;
    await rig.placed();
    rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill('1002', '0.4');
    show('1', amount('-0.4'));
    await readTwice();
    await restart();
    expect([expected(), isBlocked()]).toEqual([noUnits, true]);
    expect(await decide('accepted')).toContain('trade 1 cannot be accepted');
    expect(await decide('discarded')).toBeUndefined();
    expect([expected(), isBlocked()]).toEqual([noUnits, false]);
  });

  test('of a time before this journal is left alone: it is in what the account held at first', async () => {
    rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await rig.pass(120_000);
    await restart();
    expect(await rig.sweep()).toMatchObject({ complete: true });
    expect([await rows(), isBlocked()]).toEqual([[], false]);
  });

  test('on margin is quarantined all the same', async () => {
    rig = new TestRig({ account: 'margin', balances: false }).listen();
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    show('1', amount('-0.4'));
    await readTwice();
    expect(await rows()).toHaveLength(1);
  });

  test('that a booked one is shown as later is a changed fill, as ever', async () => {
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    await rig.sweep();
    show('1', amount('-0.4'));
    await readTwice();
    expect(order).toMatchObject({ state: 'quarantined', quarantineReason: 'changed' });
    expect(await rows()).toEqual([]);
  });

  test('of a closed order is checked by its row and its fills', async () => {
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    await rig.sweep();
    rig.venue.end('1001');
    await rig.sweep();
    expect(await rig.stateOf(order)).toBe('canceled');
    rig.venue.fill('1001', '0.6');
    rig.venue.fill('1001', '0.1');
    await readTwice();
    expect(await rig.fillRows()).toEqual(['1 1001 0.4', '2 1001 0.6']);
    expect(await rows()).toMatchObject([
      { tradeId: '3', why: expect.stringContaining('exceeds the remaining 0 of order') },
    ]);
  });
});

describe('a purchase by an amount', () => {
  test.each([
    ['0.99999', 0],
    ['1', 0],
    ['1.00001', 1],
  ])('of 99.9995 may buy what rounding to a step makes of it: %s', async (quantity, quarantined) => {
    rig.venue.market = undefined;
    const { carried } = rig.begin(draft({ amount: '99.9995' }));
    await rig.finish(carried);
    rig.venue.fill('1001', quantity, '100');
    await readTwice();
    expect(await rows()).toHaveLength(quarantined);
  });
});

describe('a human', () => {
  async function overfilled(): Promise<void> {
    await rig.placed();
    rig.venue.fill('1001', '1.5');
    await readTwice();
  }

  test('accepts a trade: it is booked once, as it is shown, also over restarts', async () => {
    await overfilled();
    expect(await decide('accepted')).toBeUndefined();
    expect(await rig.fillRows()).toEqual(['1 1001 1.5']);
    expect(isBlocked()).toBe(false);
    await restart();
    await readTwice();
    expect([await rig.fillRows(), isBlocked()]).toEqual([['1 1001 1.5'], false]);
    expect(await rows()).toMatchObject([{ decision: 'accepted', by: 'operator', reason: 'seen on its page' }]);
    expect(rig.assembled.portfolio.position('s', btc.symbol).base).toBe(units('1.5'));
  });

  test('discards a trade: it is never booked, also over restarts', async () => {
    await overfilled();
    await restart();
    expect(isBlocked()).toBe(true);
    expect(await decide('discarded')).toBeUndefined();
    expect(isBlocked()).toBe(false);
    await restart();
    await readTwice();
    expect([await rig.fillRows(), isBlocked()]).toEqual([[], false]);
    expect(await rows()).toMatchObject([{ decision: 'discarded', by: 'operator', reason: 'seen on its page' }]);
  });

  test('is asked again about a discarded trade that is shown with other numbers', async () => {
    await overfilled();
    await decide('discarded');
    show('1', amount('0.5'));
    await readTwice();
    expect(await rig.fillRows()).toEqual([]);
    expect(await rows()).toMatchObject([{ why: expect.stringContaining('it was discarded'), decision: null }]);
    await decide('accepted');
    expect(await rig.fillRows()).toEqual(['1 1001 0.5']);
    const said = rig.db.prepare("SELECT text FROM notices WHERE level = 'info'").pluck().all();
    expect(said).toEqual([
      'trade 1 on BTCUSDT is discarded by operator: seen on its page',
      'trade 1 on BTCUSDT is accepted by operator: seen on its page',
    ]);
  });

  test('decides once, and nothing that is not quarantined', async () => {
    await overfilled();
    expect(await decide('discarded', '2')).toContain('trade 2 is not quarantined');
    expect(await decide('discarded', 'BTCUSDT:1')).toBeUndefined();
    expect(await decide('accepted')).toContain('trade 1 is not quarantined');
  });
});

describe('an order whose fills fall short because of a quarantined trade', () => {
  async function short(): Promise<ReturnType<TestRig['placed']>> {
    const order = await rig.placed();
    rig.venue.fill('1001', '1');
    show('1', amount('-1'));
    await readTwice();
    return order;
  }

  test('is neither read again nor reported until somebody decides', async () => {
    const order = await short();
    await rig.sweep();
    const [asked, said] = [rig.asked('trades'), rig.notices.length];
    for (let sweeps = 0; sweeps < 20; sweeps++) {
      await rig.pass(5_000);
      await rig.sweep();
    }
    expect(order.state).toBe('closing');
    expect([rig.asked('trades'), rig.notices.length]).toEqual([asked + 20, said]);
    expect(await rig.finish(rig.assembled.audit())).toMatchObject({ kind: 'skipped' });
  });

  test.each(['running', 'restarted'])('ends when the trade is discarded, %s', async (how) => {
    const order = await short();
    await decide('discarded');
    if (how === 'restarted') await restart();
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'filled', filled: '0', executed: '1' });
    expect(await rig.steps(order)).toContain('resolved');
    expect(rig.assembled.portfolio.isIdle).toBe(true);
  });
});
