import { expect, test } from 'vitest';
import { rate } from '../domain/money.ts';
import { Planner } from '../portfolio/planner.ts';
import { Protection } from '../portfolio/protect.ts';
import { fill, intent, portfolio, signal, startTime, target } from '../testing/builders.ts';
import { LateTargets } from './late-targets.ts';

const place = { id: 's', symbol: 'BTCUSDT' };

function bench(more: Parameters<typeof target>[1] = { takeProfit: 110 }) {
  const held = portfolio();
  held.mark(place.symbol, 100, startTime);
  const planner = new Planner({
    portfolio: held,
    protection: new Protection(held, () => undefined),
    account: 'spot',
    marketBuyIn: 'lots',
    feeInBase: rate('0'),
    changed: () => {},
    tooSmall: () => {},
  });
  planner.note(signal(target(1, more)));
  return { held, planner, targets: new LateTargets({ portfolio: held, planner }) };
}

test('is due once for each position, however often one looks', () => {
  const { held, targets } = bench();
  expect(targets.due(place)).toBeUndefined();
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(place)?.want).toMatchObject({ takeProfit: 110 });
  expect(targets.due(place)).toBeUndefined();
  held.apply(fill({ side: 'SELL', quantity: '1' }));
  expect(targets.due(place)).toBeUndefined();
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(place)).toBeDefined();
});

test('is not due while an order works, nor where something else comes first', () => {
  const { held, targets } = bench();
  held.apply(fill({ quantity: '0.5' }));
  // The other half is entered when the strategy says so again.
  expect(targets.due(place)).toBeUndefined();
  held.apply(fill({ quantity: '0.5' }));
  const order = held.reserve(intent({ side: 'SELL' }));
  expect(targets.due(place)).toBeUndefined();
  held.close(order, 'canceled');
  expect(targets.due(place)).toBeDefined();
});

test('is not due without a take-profit', () => {
  const { held, targets } = bench({ stop: 90 });
  held.apply(fill({ quantity: '1' }));
  expect(targets.due(place)).toBeUndefined();
});
