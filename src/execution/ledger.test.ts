import { expect, test } from 'vitest';
import { btc, fill } from '../../test/kit/builders.ts';
import { lots, ticks, units, unitsText } from '../domain/money.ts';
import type { VenueTrade } from '../domain/order.ts';
import { Ledger } from './ledger.ts';

const expected = (ledger: Ledger): Record<string, string> =>
  Object.fromEntries([...ledger.expected()].map(([asset, amount]) => [asset, unitsText(amount)]));

test.each([
  ['USDT', { BTC: '2', USDT: '-200.5' }],
  ['BTC', { BTC: '1.5', USDT: '-200' }],
  ['BNB', { BTC: '2', USDT: '-200', BNB: '-0.5' }],
])('a fee in %s leaves the account once', (feeAsset, moved) => {
  const ledger = new Ledger([]);
  ledger.own(fill({ quantity: '2', fee: '0.5', feeAsset }), btc);
  expect(expected(ledger)).toEqual(moved);
});

test('the other side of somebody else’s trade pays no fee of ours, and the same side counts once', () => {
  const trade: VenueTrade = {
    tradeId: '1',
    symbol: btc.symbol,
    price: ticks('100', btc),
    quantity: lots('2', btc),
    orderIds: ['8', '9'],
    side: 'SELL',
    maker: false,
    fee: units('0.5'),
    feeAsset: 'BNB',
    time: 1,
  };
  const ledger = new Ledger([]);
  expect(ledger.foreign(trade, '8', 'BUY', btc, false)).toBe(true);
  expect(expected(ledger)).toEqual({ BTC: '2', USDT: '-200', BNB: '0' });
  expect(ledger.foreign(trade, '9', 'SELL', btc)).toBe(true);
  expect(ledger.foreign(trade, '9', 'SELL', btc)).toBe(false);
  expect(expected(ledger)).toEqual({ BTC: '0', USDT: '0', BNB: '-0.5' });
  ledger.reclaim('9');
  expect(expected(ledger)).toEqual({ BTC: '2', USDT: '-200', BNB: '0' });
});
