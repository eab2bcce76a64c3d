/** The ledger against the account, and the evidence that both are made of. */
import { describe, expect, test } from 'vitest';
import { btc } from '../../test/kit/builders.ts';
import { TestDesk, timing } from '../../test/kit/desk.ts';
import { lots, units, unitsText } from '../domain/money.ts';

/** A desk that knows what the account held at first. */
async function ready(options: ConstructorParameters<typeof TestDesk>[0] = {}): Promise<TestDesk> {
  const desk = new TestDesk(options).listen();
  await desk.finish(desk.assembled.trader.recover());
  return desk;
}

/** One with an order whose answer was lost, and whether the exchange has it. */
async function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestDesk>[0] = {}) {
  const desk = await ready(options);
  desk.venue.creates = [fate, 'accept'];
  return { desk, ...desk.begin({ price: '100' }) };
}

const halts = (desk: TestDesk): string[] => desk.assembled.execution.halts.inForce.map(({ cause }) => cause);

describe('what the account held at first', () => {
  test('is not taken from lists and an account that both hide a trade of a moment ago, and show it one after the other', async () => {
    const desk = new TestDesk().listen();
    const recovered = desk.assembled.trader.recover();
    await desk.pass(1_000);
    const other = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(other.orderId, '1');
    await desk.finish(recovered);
    for (let minute = 0; minute < 5; minute++) {
      await desk.finish(desk.assembled.audit());
      await desk.pass(60_000);
    }
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is taken down once, whoever asks while it is: what was paid meanwhile is no part of it', async () => {
    const desk = new TestDesk().listen();
    const recovered = desk.assembled.trader.recover();
    await desk.pass(timing.sweepGapMs - 500);
    desk.venue.failing.add('balances');
    const asked = desk.assembled.audit();
    await desk.pass(100);
    desk.venue.failing.delete('balances');
    await desk.finish(recovered);
    desk.venue.pay('USDT', units('-12.5'));
    await desk.finish(asked);
    expect(await desk.finish(desk.assembled.audit())).toMatchObject({
      kind: 'off',
      differences: [{ asset: 'USDT', amount: units('-12.5') }],
    });
    expect(halts(desk)).toEqual(['ledger']);
  });

  test('counts only once it is on disk: a crash before that takes it down anew, with what was paid in meanwhile', async () => {
    const desk = new TestDesk().listen();
    desk.diskFull = true;
    await desk.finish(desk.assembled.trader.recover());
    desk.venue.pay('USDT', units('12.5'));
    expect(await desk.finish(desk.assembled.audit())).toMatchObject({ kind: 'skipped' });
    desk.crash();
    desk.diskFull = false;
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
    // Whoever was told to adjust before the crash would count it twice.
    expect(desk.notices.filter(({ text }) => text.includes('sluice adjust'))).toEqual([]);
  });

  test('is what was taken down while the disk was full: what was paid in until there was space is no part of it', async () => {
    const desk = new TestDesk().listen();
    desk.diskFull = true;
    await desk.finish(desk.assembled.trader.recover());
    desk.venue.pay('USDT', units('12.5'));
    await desk.finish(desk.assembled.audit());
    desk.diskFull = false;
    for (const isRestarted of [false, true]) {
      if (isRestarted) {
        desk.crash();
        desk.listen();
        await desk.finish(desk.assembled.trader.recover());
      }
      const differences = [{ asset: 'USDT', amount: units('12.5') }];
      expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'off', differences });
    }
  });

  test('is not taken from an account that lags behind a trade', async () => {
    const desk = new TestDesk().listen();
    const other = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(other.orderId, '1');
    // The lists show it, the account will only later.
    desk.venue.pay('BTC', units('-1'));
    desk.venue.pay('USDT', units('100'));
    const recovered = desk.assembled.trader.recover();
    await desk.pass(1_000);
    desk.venue.pay('BTC', units('1'));
    desk.venue.pay('USDT', units('-100'));
    await desk.finish(recovered);
    expect(desk.assembled.execution.books?.ledger.begun).toBe(true);
    expect(await desk.finish(desk.assembled.audit())).toEqual({ kind: 'even' });
  });
});

describe('the ledger', () => {
  const audit = async (desk: TestDesk): Promise<string> => {
    const audited = await desk.finish(desk.assembled.audit());
    return audited.kind === 'off'
      ? audited.differences.map(({ asset, amount }) => `${unitsText(amount)} ${asset}`).join()
      : audited.kind;
  };

  test('equals the account after our trades, others’ trades and trades with ourselves, over a restart', async () => {
    const desk = await ready();
    expect(await audit(desk)).toBe('even');
    await desk.placed({ price: '100' });
    desk.venue.fill('1001', '0.3');
    const other = desk.venue.place({ clientOrderId: 'web_1', side: 'SELL' });
    desk.venue.fill(other.orderId, '0.7');
    const mine = await desk.placed({ price: '97' });
    const human = desk.venue.place({ side: 'SELL', price: '97' });
    desk.venue.selfTrade(human.orderId, mine.orderId ?? '', '0.2', '97');
    await desk.sweep();
    expect(await audit(desk)).toBe('even');
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await audit(desk)).toBe('even');
  });

  test('leaves a row of the day and of each outcome with what the account held, the last time', async () => {
    const desk = await ready();
    const rows = async (): Promise<unknown[]> => {
      await desk.written();
      return desk.db.prepare('SELECT outcome, differences, held FROM audits ORDER BY at').all();
    };
    expect(await audit(desk)).toBe('even');
    await desk.placed({ price: '100' });
    desk.venue.fill('1001', '0.5');
    await desk.sweep();
    expect(await audit(desk)).toBe('even');
    const even = { outcome: 'even', differences: '{}' };
    const [only, ...others] = (await rows()) as { held: string }[];
    expect(others).toEqual([]);
    expect(only).toMatchObject(even);
    expect(JSON.parse(only?.held ?? '')).toEqual({ USDT: '9999950', BTC: '1000.5' });
    desk.venue.pay('USDT', units('5'));
    await audit(desk);
    await audit(desk);
    expect(await rows()).toMatchObject([even, { outcome: 'off', differences: '{"USDT":"5"}' }]);
  });

  test.each([undefined, 0, 3_000])(
    'equals the account after a human’s trade with itself (second row after %s ms)',
    async (lagMs) => {
      const desk = await ready();
      desk.venue.twinLagMs = lagMs;
      desk.venue.fee = lagMs === undefined ? units('0') : units('0.25');
      const [buy, sell] = [desk.venue.place({ price: '97' }), desk.venue.place({ side: 'SELL', price: '97' })];
      desk.venue.selfTrade(sell.orderId, buy.orderId, '0.2', '97');
      await desk.sweep();
      for (let looks = 0; looks < 3; looks++) {
        await desk.pass(timing.sweepGapMs);
        await desk.sweep();
      }
      expect(await audit(desk)).toBe('even');
      await desk.written();
      desk.crash();
      desk.listen();
      await desk.finish(desk.assembled.trader.recover());
      await desk.pass(timing.sweepGapMs);
      expect(await audit(desk)).toBe('even');
    },
  );

  test('tells once of what is more, with the command that explains it, and is even after it', async () => {
    const desk = await ready();
    desk.venue.pay('USDT', units('12.5'));
    expect(await audit(desk)).toBe('12.5 USDT');
    expect(await audit(desk)).toBe('12.5 USDT');
    expect(desk.notices.filter(({ text }) => text.includes('sluice adjust USDT 12.5'))).toHaveLength(1);
    expect(halts(desk)).toEqual([]);
    await desk.finish(desk.assembled.adjust('USDT', units('12.5'), 'operator', 'paid in'));
    expect(await audit(desk)).toBe('even');
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await audit(desk)).toBe('even');
  });

  test('halts when something is missing', async () => {
    const desk = await ready();
    desk.venue.pay('BTC', units('-0.00000001'));
    expect(await audit(desk)).toBe('-0.00000001 BTC');
    expect(halts(desk)).toEqual(['ledger']);
  });

  test('looks at every symbol first, also at one that this run has not looked at yet', async () => {
    const desk = await ready();
    await desk.placed();
    await desk.written();
    desk.venue.fill('1001');
    desk.crash();
    desk.listen();
    expect(await audit(desk)).toBe('even');
  });

  test('takes nothing for missing while the list of open orders lags behind the account', async () => {
    const desk = await ready();
    const other = desk.venue.place({ clientOrderId: 'web_1', price: '100' });
    await desk.sweep();
    // The account has the fill already, the lists will show it later.
    desk.venue.pay('USDT', units('-100'));
    desk.venue.pay('BTC', units('1'));
    desk.venue.unlocked.add(other.orderId);
    expect(await audit(desk)).toBe('skipped');
    expect(halts(desk)).toEqual([]);
    // No list lags for so long: something else was locked, and something is missing.
    await desk.pass(2 * timing.horizonMs);
    expect(await audit(desk)).toBe('-100 USDT,1 BTC');
    expect(halts(desk)).toEqual(['ledger']);
  });

  test('takes nothing for missing that comes back: balances can lag behind lists', async () => {
    const desk = await ready();
    desk.venue.pay('USDT', units('-5'));
    const audited = desk.assembled.audit();
    await desk.pass(1_000);
    desk.venue.pay('USDT', units('5'));
    expect(await desk.finish(audited)).toEqual({ kind: 'even' });
    expect(halts(desk)).toEqual([]);
  });

  test('takes nothing for missing whose amount still changes', async () => {
    const desk = await ready();
    desk.venue.pay('USDT', units('-5'));
    const audited = desk.assembled.audit();
    await desk.pass(1_000);
    desk.venue.pay('USDT', units('3'));
    expect(await desk.finish(audited)).toEqual({ kind: 'skipped', why: 'the balances were on the move' });
    expect(halts(desk)).toEqual([]);
    // It stays as it is from now on.
    expect(await audit(desk)).toBe('-2 USDT');
    expect(halts(desk)).toEqual(['ledger']);
  });

  test('says when it has not been compared for long, and why', async () => {
    const desk = await ready();
    desk.venue.failing.add('balances');
    for (let minute = 0; minute < 12; minute++) {
      await audit(desk);
      await desk.pass(60_000);
    }
    expect(desk.notices.flatMap(({ level, text }) => (level === 'info' ? [] : text))).toEqual([
      'the account has not been compared with the journal for 10 minutes: account: account failed',
    ]);
  });

  test('is not compared while an outcome is open', async () => {
    const { desk } = await lost('dropLost');
    await desk.pass(1_000);
    desk.venue.pay('USDT', units('-5'));
    expect(await audit(desk)).toBe('skipped');
  });
});

describe('evidence', () => {
  test('is kept as the exchange showed it, with the cursor and the fills, and gives the same fills again', async () => {
    const desk = await ready();
    await desk.placed();
    desk.venue.fill('1001', '0.4');
    const other = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(other.orderId, '0.1');
    await desk.sweep();
    await desk.written();
    const rows = desk.db.prepare('SELECT trade_id AS id, order_ids AS orders, quantity FROM venue_trades').all();
    expect(rows).toEqual([
      { id: '1', orders: '["1001"]', quantity: '0.4' },
      { id: '2', orders: '["1002"]', quantity: '0.1' },
    ]);
    const orders = desk.db.prepare('SELECT order_id AS id, client_order_id AS client FROM venue_orders').all();
    expect(orders).toMatchObject([{ id: '1001' }, { id: '1002', client: 'web_1' }]);
    // The fill is lost although its evidence and the cursor are there: it is made again.
    desk.db.prepare('DELETE FROM fills').run();
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(lots('0.4', btc)).toBe([...desk.assembled.portfolio.orders()][0]?.filled);
  });
});
