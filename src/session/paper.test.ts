import { describe, expect, test } from 'vitest';
import { instruments } from '../../test/kit/builders.ts';
import { fillRowOf, orderRowOf, pastOf } from '../../test/kit/journal-rows.ts';
import { instrument } from '../domain/instrument.ts';
import { units } from '../domain/money.ts';
import type { OrderEntryRow } from '../journal/entries.ts';
import { emptyLoaded, type Loaded } from '../journal/load.ts';
import { balancesAfter, firstIdAfter, ordersOf, withoutLostFills } from './paper.ts';

const resting: Partial<OrderEntryRow> = { orderId: '1001', state: 'open' };
const over: Partial<OrderEntryRow> = { orderId: '1001', state: 'closing', executed: '1', venueStatus: 'FILLED' };
const kept = (order: Partial<OrderEntryRow>, ...filled: readonly string[]): Loaded => ({
  ...emptyLoaded,
  orders: [orderRowOf(order)],
  past: pastOf(...filled.map((quantity, index) => fillRowOf({ quantity, tradeId: String(2001 + index) }))),
});

describe('a paper venue gets back', () => {
  test('an order with what rows say was filled of it', () => {
    expect(ordersOf(kept(resting, '0.25', '0.5'), instruments)).toMatchObject([
      { orderId: '1001', executed: 75_000n, intent: { clientOrderId: 'c1' } },
    ]);
  });

  test('no order that was not sent, and none that is over', () => {
    expect(ordersOf(kept({ state: 'intended' }), instruments)).toEqual([]);
    expect(ordersOf(withoutLostFills(kept(over, '0.4', '0.6')), instruments)).toEqual([]);
  });

  test('an order that was reported final but whose fill is no row: it works again', () => {
    const loaded = withoutLostFills(kept(over, '0.4'));
    expect(loaded.orders).toMatchObject([{ state: 'open', executed: null, venueStatus: null }]);
    expect(ordersOf(loaded, instruments)).toMatchObject([{ orderId: '1001', executed: 40_000n }]);
  });
});

test('ids of a new run are above every one that the journal knows', () => {
  const cursors = new Map([['BTCUSDT', ['5', '70']]]);
  expect(firstIdAfter(emptyLoaded)).toBe(1);
  expect(firstIdAfter({ ...kept(resting, '1'), cursors })).toBe(2002);
  expect(firstIdAfter({ ...emptyLoaded, cursors })).toBe(71);
});

test('a paper account has one currency: what traded in another is refused', () => {
  const usd = instrument({ symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 });
  const all = new Map([...instruments, ['XBTUSD', usd]]);
  const after = (symbol: string, loaded: Loaded) => balancesAfter([{ symbol }], loaded, all, units('500'), 'DIR');
  expect(after('XBTUSD', emptyLoaded)).toEqual([{ asset: 'USD', free: units('500'), locked: 0n }]);
  expect(after('BTCUSDT', kept(resting, '1')).map(({ asset }) => asset)).toEqual(['USDT', 'BTC']);
  expect(() => after('XBTUSD', kept(resting, '1'))).toThrow(
    'DIR traded BTCUSDT, quoted in USDT, and XBTUSD is quoted in USD: a paper account has one currency',
  );
});
