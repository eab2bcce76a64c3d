import { expect, test } from 'vitest';
import { btc, portfolio, startTime } from '../../test/kit/builders.ts';
import { fillRowOf, orderRowOf, pastOf } from '../../test/kit/journal-rows.ts';
import { noRate, priceText, unitsText } from '../domain/money.ts';
import type { Signal } from '../domain/order.ts';
import { Ledger } from '../execution/ledger.ts';
import { emptyLoaded, type Loaded } from '../journal/load.ts';
import { Planner } from '../portfolio/planner.ts';
import { Protection } from '../portfolio/protection.ts';
import { restore } from './restore.ts';

/** Written when the exchange took six more decimals than it does now. */
const signal: Signal = { kind: 'target', size: { quantity: 1.5 }, reason: 'test' };
const finer: Loaded = {
  ...emptyLoaded,
  orders: [
    orderRowOf({ orderId: '1001', state: 'open', quantity: '2.00000003', expected: '2.00000003', price: '100.0054' }),
  ],
  past: pastOf(fillRowOf({ price: '100.0051', quantity: '1.00000001', fee: '0' })),
  protections: [{ strategy: 's', symbol: 'BTCUSDT', protection: '{"size":"{\\"quantity\\":1.5}","stop":"90.0099"}' }],
  signals: [
    {
      at: startTime,
      strategy: 's',
      symbol: 'BTCUSDT',
      signal,
      quantity: '1.50000001',
      decision: 4,
      role: 'main',
      memory: null,
    },
  ],
};

test('rows with more decimals than the exchange takes now are read, and the position is exactly theirs', () => {
  const held = portfolio();
  const protection = new Protection(held, () => undefined);
  const options = {
    account: 'spot',
    marketBuyIn: 'lots',
    feeInBase: noRate,
    changed: () => undefined,
    unsent: () => undefined,
  } as const;
  const planner = new Planner({ portfolio: held, protection, ...options });
  const ledger = new Ledger([]);
  restore(finer, { portfolio: held, protection, planner, ledger });
  expect(unitsText(ledger.ownOf('BTC'))).toBe('1.00000001');
  const { base, cost } = held.position('s', 'BTCUSDT');
  expect([unitsText(base), unitsText(cost)]).toEqual(['1.00000001', '100.005101000051']);
  expect(held.order('c1')).toMatchObject({ filled: 100_000n, intent: { volume: { lots: 200_000n } } });
  expect(protection.stops('BTCUSDT').map(({ price }) => priceText(price, btc))).toEqual(['90']);
});
