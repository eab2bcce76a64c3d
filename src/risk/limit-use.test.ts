import { expect, test } from 'vitest';
import { draft, fill, intent, portfolio, startTime, wide } from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import type { LimitUse } from '../domain/limit-use.ts';
import { rate, units } from '../domain/money.ts';
import type { Limits } from './context.ts';
import { limitUse } from './limit-use.ts';
import { Risk } from './risk.ts';

const traded = [{ id: 's', symbol: 'BTCUSDT' }];

/** A strategy with 1,000,000 that bought 1,000 BTC at 100, and rests an order for 10 more at 90; the price is 90. */
function used(limits: Partial<Limits>): ReadonlyMap<string, LimitUse> {
  const held = portfolio();
  held.mark('BTCUSDT', 100, startTime);
  const risk = new Risk({ limits: { ...wide, ...limits }, portfolio: held, clock: new SimClock(startTime) });
  risk.watchLoss();
  held.apply(fill({ quantity: '1000' }));
  held.reserve(intent({ quantity: '10', price: '90' }));
  held.mark('BTCUSDT', 90, startTime);
  risk.judge(draft());
  return new Map(
    limitUse(risk, held, traded).map((one) => [[one.name, one.strategy, one.symbol].filter(Boolean).join(' '), one]),
  );
}

test('counts what is at stake with the orders that add to it, and what was lost today', () => {
  const all = used({ maxPosition: units('181800'), maxDailyLoss: rate('0.01'), maxOpenOrders: 4 });
  expect(all.get('maxPosition BTCUSDT')).toMatchObject({ unit: 'amount', used: '90900', share: 0.5 });
  expect(all.get('maxDailyLoss')).toMatchObject({ used: '10000', allowed: '20000', share: 0.5 });
  expect(all.get('maxOpenOrders BTCUSDT')).toMatchObject({ unit: 'count', used: '1', allowed: '4', share: 0.25 });
});

test('counts the limits of a strategy against its own positions', () => {
  const all = used({ strategies: new Map([['s', { maxPosition: units('90900'), maxNet: units('180000') }]]) });
  expect(all.get('maxPosition s BTCUSDT')).toMatchObject({ used: '90900', share: 1 });
  expect(all.get('maxNet s')).toMatchObject({ used: '90000', share: 0.5 });
  expect(all.has('maxGross s')).toBe(false);
});

test('counts denials and entries, and the fall from the highest equity', () => {
  const all = used({ maxOrderValue: units('1'), maxDenials: 10, maxEntries: 5, maxDrawdown: rate('0.5') });
  expect(all.get('maxDenials s')).toMatchObject({ used: '1', allowed: '10' });
  expect(all.get('maxEntries s')).toMatchObject({ used: '0', allowed: '5' });
  expect(all.get('maxDrawdown')).toMatchObject({ used: '10000', allowed: '1000000' });
});

test('shows a limit of single orders without a use', () => {
  expect(used({}).get('maxOrderValue')).toMatchObject({ unit: 'each', used: undefined, share: 0 });
});
