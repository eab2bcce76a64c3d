import { describe, expect, test } from 'vitest';
import { btc, fill, portfolio } from '../../test/kit/builders.ts';
import { fc, property } from '../../test/kit/properties.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { unitsText } from '../domain/money.ts';
import { Ledger, subLedgerDifferences } from './ledger.ts';

const trade = fc.record({
  strategy: fc.constantFrom('s', 't'),
  side: fc.constantFrom('BUY' as const, 'SELL' as const),
  price: fc.integer({ min: 1, max: 1_000_000 }).map((cents) => (cents / 100).toFixed(2)),
  quantity: fc.integer({ min: 1, max: 1_000_000 }).map((steps) => (steps / 100_000).toFixed(5)),
  fee: fc.integer({ min: 0, max: 1_000 }).map((steps) => (steps / 100_000_000).toFixed(8)),
  feeAsset: fc.constantFrom('BTC', 'USDT'),
});

describe('what strategies hold', () => {
  property.prop([fc.array(trade, { maxLength: 60 })])(
    'adds up to what the account moved, after every fill',
    (trades) => {
      const held = portfolio();
      const ledger = new Ledger([]);
      for (const one of trades) {
        const made = fill(one);
        held.apply(made);
        ledger.own(made, btc);
        expect(subLedgerDifferences(held, ledger)).toEqual([]);
      }
    },
  );

  test('is found not to when a fill counts for the account alone', () => {
    const held = portfolio();
    const ledger = new Ledger([]);
    ledger.own(fill({ quantity: '2' }), btc);
    held.apply(fill({ quantity: '1.99999' }));
    expect(subLedgerDifferences(held, ledger).map(({ asset, amount }) => `${asset} ${unitsText(amount)}`)).toEqual([
      'BTC 0.00001',
      'USDT -0.001',
    ]);
  });

  test('adds up through orders, fills, a crash and recovery', async () => {
    const rig = new TestRig().listen();
    await rig.finish(rig.assembled.trader.recover());
    const check = (): void => {
      const { portfolio: book, execution } = rig.assembled;
      if (execution.books === undefined) throw new Error('no ledger');
      expect(subLedgerDifferences(book, execution.books.ledger)).toEqual([]);
    };
    for (const [strategy, quantity] of [
      ['s', '0.3'],
      ['t', '0.2'],
      ['s', '1'],
    ] as const) {
      const order = await rig.placed({ strategy, price: '100' });
      rig.venue.fill(order.orderId ?? '', quantity);
      await rig.sweep();
      check();
    }
    expect(unitsText(rig.assembled.portfolio.position('s', btc.symbol).base)).toBe('1.3');
    rig.crash();
    rig.listen();
    check();
    await rig.finish(rig.assembled.trader.recover());
    check();
  });
});
