/** The ledger against the account, and the evidence that both are made of. */
import { describe, expect, test } from 'vitest';
import { btc } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import { lots, units, unitsText } from '../domain/money.ts';

/** A rig that knows what the account held at first. */
async function ready(options: ConstructorParameters<typeof TestRig>[0] = {}): Promise<TestRig> {
  const rig = new TestRig(options).listen();
  await rig.finish(rig.assembled.trader.recover());
  return rig;
}

/** One with an order whose answer was lost, and whether the exchange has it. */
async function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestRig>[0] = {}) {
  const rig = await ready(options);
  rig.venue.creates = [fate, 'accept'];
  return { rig, ...rig.begin({ price: '100' }) };
}

const halts = (rig: TestRig): string[] => rig.assembled.execution.halts.inForce.map(({ cause }) => cause);

describe('what the account held at first', () => {
  test('is not taken from lists and an account that both hide a trade of a moment ago, and show it one after the other', async () => {
    const rig = new TestRig().listen();
    const recovered = rig.assembled.trader.recover();
    await rig.pass(1_000);
    const other = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(other.orderId, '1');
    await rig.finish(recovered);
    for (let minute = 0; minute < 5; minute++) {
      await rig.finish(rig.assembled.audit());
      await rig.pass(60_000);
    }
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
  });

  test('is taken down once, whoever asks while it is: what was paid meanwhile is no part of it', async () => {
    const rig = new TestRig().listen();
    const recovered = rig.assembled.trader.recover();
    await rig.pass(timing.sweepGapMs - 500);
    rig.venue.failing.add('balances');
    const asked = rig.assembled.audit();
    await rig.pass(100);
    rig.venue.failing.delete('balances');
    await rig.finish(recovered);
    rig.venue.pay('USDT', units('-12.5'));
    await rig.finish(asked);
    expect(await rig.finish(rig.assembled.audit())).toMatchObject({
      kind: 'off',
      differences: [{ asset: 'USDT', amount: units('-12.5') }],
    });
    expect(halts(rig)).toEqual(['ledger']);
  });

  test('counts only once it is on disk: a crash before that takes it down anew, with what was paid in meanwhile', async () => {
    const rig = new TestRig().listen();
    rig.diskFull = true;
    await rig.finish(rig.assembled.trader.recover());
    rig.venue.pay('USDT', units('12.5'));
    expect(await rig.finish(rig.assembled.audit())).toMatchObject({ kind: 'skipped' });
    rig.crash();
    rig.diskFull = false;
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
    // An adjustment reported before the crash would count it twice.
    expect(rig.notices.filter(({ text }) => text.includes('sluice adjust'))).toEqual([]);
  });

  test('is what was taken down while the disk was full: what was paid in until there was space is no part of it', async () => {
    const rig = new TestRig().listen();
    rig.diskFull = true;
    await rig.finish(rig.assembled.trader.recover());
    rig.venue.pay('USDT', units('12.5'));
    await rig.finish(rig.assembled.audit());
    rig.diskFull = false;
    for (const isRestarted of [false, true]) {
      if (isRestarted) {
        rig.crash();
        rig.listen();
        await rig.finish(rig.assembled.trader.recover());
      }
      const differences = [{ asset: 'USDT', amount: units('12.5') }];
      expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'off', differences });
    }
  });

  test('is not taken from an account that lags behind a trade', async () => {
    const rig = new TestRig().listen();
    const other = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(other.orderId, '1');
    // The lists show it, the account will only later.
    rig.venue.pay('BTC', units('-1'));
    rig.venue.pay('USDT', units('100'));
    const recovered = rig.assembled.trader.recover();
    await rig.pass(1_000);
    rig.venue.pay('BTC', units('1'));
    rig.venue.pay('USDT', units('-100'));
    await rig.finish(recovered);
    expect(rig.assembled.execution.books?.ledger.begun).toBe(true);
    expect(await rig.finish(rig.assembled.audit())).toEqual({ kind: 'even' });
  });
});

describe('the ledger', () => {
  const audit = async (rig: TestRig): Promise<string> => {
    const audited = await rig.finish(rig.assembled.audit());
    return audited.kind === 'off'
      ? audited.differences.map(({ asset, amount }) => `${unitsText(amount)} ${asset}`).join()
      : audited.kind;
  };

  test('equals the account after our trades, others’ trades and trades with ourselves, over a restart', async () => {
    const rig = await ready();
    expect(await audit(rig)).toBe('even');
    await rig.placed({ price: '100' });
    rig.venue.fill('1001', '0.3');
    const other = rig.venue.place({ clientOrderId: 'web_1', side: 'SELL' });
    rig.venue.fill(other.orderId, '0.7');
    const mine = await rig.placed({ price: '97' });
    const human = rig.venue.place({ side: 'SELL', price: '97' });
    rig.venue.selfTrade(human.orderId, mine.orderId ?? '', '0.2', '97');
    await rig.sweep();
    expect(await audit(rig)).toBe('even');
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await audit(rig)).toBe('even');
  });

  test('leaves a row of the day and of each outcome with what the account held, the last time', async () => {
    const rig = await ready();
    const rows = async (): Promise<unknown[]> => {
      await rig.written();
      return rig.db.prepare('SELECT outcome, differences, held FROM audits ORDER BY at').all();
    };
    expect(await audit(rig)).toBe('even');
    await rig.placed({ price: '100' });
    rig.venue.fill('1001', '0.5');
    await rig.sweep();
    expect(await audit(rig)).toBe('even');
    const even = { outcome: 'even', differences: '{}' };
    const [only, ...others] = (await rows()) as { held: string }[];
    expect(others).toEqual([]);
    expect(only).toMatchObject(even);
    expect(JSON.parse(only?.held ?? '')).toEqual({ USDT: '9999950', BTC: '1000.5' });
    rig.venue.pay('USDT', units('5'));
    await audit(rig);
    await audit(rig);
    expect(await rows()).toMatchObject([even, { outcome: 'off', differences: '{"USDT":"5"}' }]);
  });

  test.each([undefined, 0, 3_000])(
    'equals the account after a human’s trade with itself (second row after %s ms)',
    async (lagMs) => {
      const rig = await ready();
      rig.venue.twinLagMs = lagMs;
      rig.venue.fee = lagMs === undefined ? units('0') : units('0.25');
      const [buy, sell] = [rig.venue.place({ price: '97' }), rig.venue.place({ side: 'SELL', price: '97' })];
      rig.venue.selfTrade(sell.orderId, buy.orderId, '0.2', '97');
      await rig.sweep();
      for (let sweeps = 0; sweeps < 3; sweeps++) {
        await rig.pass(timing.sweepGapMs);
        await rig.sweep();
      }
      expect(await audit(rig)).toBe('even');
      await rig.written();
      rig.crash();
      rig.listen();
      await rig.finish(rig.assembled.trader.recover());
      await rig.pass(timing.sweepGapMs);
      expect(await audit(rig)).toBe('even');
    },
  );

  test('reports a surplus once, with the command that explains it, and is even after it', async () => {
    const rig = await ready();
    rig.venue.pay('USDT', units('12.5'));
    expect(await audit(rig)).toBe('12.5 USDT');
    expect(await audit(rig)).toBe('12.5 USDT');
    expect(
      rig.notices.filter(({ topic, text }) => topic === 'ledger' && text.includes('sluice adjust USDT 12.5')),
    ).toHaveLength(1);
    expect(halts(rig)).toEqual([]);
    await rig.finish(rig.assembled.adjust('USDT', units('12.5'), 'operator', 'paid in'));
    expect(await audit(rig)).toBe('even');
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await audit(rig)).toBe('even');
  });

  test('halts when something is missing', async () => {
    const rig = await ready();
    rig.venue.pay('BTC', units('-0.00000001'));
    expect(await audit(rig)).toBe('-0.00000001 BTC');
    expect(halts(rig)).toEqual(['ledger']);
  });

  test('sweeps every symbol first, also one that this run has not swept yet', async () => {
    const rig = await ready();
    await rig.placed();
    await rig.written();
    rig.venue.fill('1001');
    rig.crash();
    rig.listen();
    expect(await audit(rig)).toBe('even');
  });

  test('takes nothing for missing while the list of open orders lags behind the account', async () => {
    const rig = await ready();
    const other = rig.venue.place({ clientOrderId: 'web_1', price: '100' });
    await rig.sweep();
    // The account has the fill already, the lists will show it later.
    rig.venue.pay('USDT', units('-100'));
    rig.venue.pay('BTC', units('1'));
    rig.venue.unlocked.add(other.orderId);
    expect(await audit(rig)).toBe('skipped');
    expect(halts(rig)).toEqual([]);
    // No list lags for so long: something else was locked, and something is missing.
    await rig.pass(2 * timing.absentAfterMs);
    expect(await audit(rig)).toBe('-100 USDT,1 BTC');
    expect(halts(rig)).toEqual(['ledger']);
  });

  test('takes nothing for missing that comes back: balances can lag behind lists', async () => {
    const rig = await ready();
    rig.venue.pay('USDT', units('-5'));
    const audited = rig.assembled.audit();
    await rig.pass(1_000);
    rig.venue.pay('USDT', units('5'));
    expect(await rig.finish(audited)).toEqual({ kind: 'even' });
    expect(halts(rig)).toEqual([]);
  });

  test('takes nothing for missing whose amount still changes', async () => {
    const rig = await ready();
    rig.venue.pay('USDT', units('-5'));
    const audited = rig.assembled.audit();
    await rig.pass(1_000);
    rig.venue.pay('USDT', units('3'));
    expect(await rig.finish(audited)).toEqual({ kind: 'skipped', why: 'the balances were on the move' });
    expect(halts(rig)).toEqual([]);
    // It stays as it is from now on.
    expect(await audit(rig)).toBe('-2 USDT');
    expect(halts(rig)).toEqual(['ledger']);
  });

  test('says when it has not been compared for long, and why', async () => {
    const rig = await ready();
    rig.venue.failing.add('balances');
    for (let minute = 0; minute < 12; minute++) {
      await audit(rig);
      await rig.pass(60_000);
    }
    expect(rig.notices.flatMap(({ level, text }) => (level === 'info' ? [] : text))).toEqual([
      'the account has not been compared with the journal for 10 minutes: account: account failed',
    ]);
  });

  test('is not compared while an outcome is open', async () => {
    const { rig } = await lost('dropLost');
    await rig.pass(1_000);
    rig.venue.pay('USDT', units('-5'));
    expect(await audit(rig)).toBe('skipped');
  });
});

describe('evidence', () => {
  test('is kept as the exchange showed it, with the cursor and the fills, and gives the same fills again', async () => {
    const rig = await ready();
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    const other = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(other.orderId, '0.1');
    await rig.sweep();
    await rig.written();
    const rows = rig.db.prepare('SELECT trade_id AS id, order_ids AS orders, quantity FROM venue_trades').all();
    expect(rows).toEqual([
      { id: '1', orders: '["1001"]', quantity: '0.4' },
      { id: '2', orders: '["1002"]', quantity: '0.1' },
    ]);
    const orders = rig.db.prepare('SELECT order_id AS id, client_order_id AS client FROM venue_orders').all();
    expect(orders).toMatchObject([{ id: '1001' }, { id: '1002', client: 'web_1' }]);
    // The fill is lost although its evidence and the cursor are there: it is made again.
    rig.db.prepare('DELETE FROM fills').run();
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(lots('0.4', btc)).toBe([...rig.assembled.portfolio.orders()][0]?.filled);
  });
});
