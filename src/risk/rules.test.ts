import { describe, expect, test } from 'vitest';
import { kill as aKill, draft, fill, intent, portfolio, resting, startTime, wide } from '../../test/kit/builders.ts';
import { rate, units, unitsText } from '../domain/money.ts';
import type { Limits, RiskContext } from './context.ts';
import { weighed } from './exposure-rules.ts';
import type { Kill } from './kill.ts';
import { firstDenial, rules } from './rules.ts';

/** A context in which nothing is denied unless the test makes it so. */
const context = ({
  limits,
  ...given
}: Partial<Omit<RiskContext, 'limits'>> & { readonly limits?: Partial<Limits> } = {}): RiskContext => ({
  draft: draft(),
  portfolio: portfolio(),
  now: startTime,
  maxDataAgeMs: 3_000,
  kill: undefined,
  recent: [],
  ...given,
  limits: { ...wide, ...limits },
});
/** The name of the rule that denies, or `approved`. */
const verdict = (given: Parameters<typeof context>[0]): string => firstDenial(context(given))?.code ?? 'approved';
const holding = (quantity = '1', side: 'BUY' | 'SELL' = 'BUY'): ReturnType<typeof portfolio> => {
  const held = portfolio();
  held.apply(fill({ quantity, side }));
  return held;
};
const kill = (given: Partial<Kill>): Kill => aKill({ at: startTime - 5, reason: 'because', ...given });

test('an order within every limit is approved', () => {
  expect(firstDenial(context())).toBeUndefined();
});

test('an approval names what the order and the position would be worth', () => {
  const limits = { maxOrderValue: units('1000'), maxPosition: units('5000') };
  expect(weighed(context({ draft: draft({ price: '50', quantity: '2' }), portfolio: holding('3'), limits }))).toEqual({
    value: '100',
    maxOrderValue: '1000',
    exposure: '250',
    maxPosition: '5000',
  });
  const sale = draft({ side: 'SELL', price: '120', quantity: '2' });
  expect(weighed(context({ draft: sale, portfolio: holding('3'), limits }))).toEqual({
    value: '240',
    maxOrderValue: '1000',
    reduces: 'yes',
  });
});

test('on margin a strategy holds or is short of a multiple of its equity, and may always go back', () => {
  const limits = { maxLeverage: rate('3') };
  const order = (side: 'BUY' | 'SELL', quantity: string) => draft({ side, price: '100', quantity, account: 'margin' });
  const equity = portfolio().equity('s', 'BTCUSDT');
  expect(verdict({ draft: order('BUY', '30000'), limits })).toBe('approved');
  expect([
    unitsText(equity),
    verdict({ draft: order('BUY', '30001'), limits }),
    verdict({ draft: order('SELL', '30001'), limits }),
  ]).toEqual(['1000000', 'leverage', 'leverage']);
  expect(verdict({ draft: order('SELL', '30000'), limits })).toBe('approved');
  expect(verdict({ draft: order('BUY', '40000'), portfolio: holding('40000', 'SELL'), limits })).toBe('approved');
});

test('of several rules that deny the first in the list is named', () => {
  const bad = { limits: { maxOrderValue: units('1'), maxPosition: units('1') } };
  expect(Object.keys(rules)).toEqual([
    'killed',
    'paused',
    'allowList',
    'staleData',
    'depthAge',
    'move',
    'orderValue',
    'orderShare',
    'strategyOrderValue',
    'position',
    'positionShare',
    'accountShare',
    'strategyPosition',
    'strategyGross',
    'strategyNet',
    'newVersion',
    'minimum',
    'allocation',
    'leverage',
    'holdings',
    'collar',
    'depthShare',
    'slippage',
    'selfMatch',
    'openOrders',
    'duplicate',
    'orderRate',
    'strategyRate',
  ]);
  expect(verdict(bad)).toBe('orderValue');
  expect(verdict({ ...bad, now: startTime + 3_001 })).toBe('staleData');
  expect(verdict({ ...bad, now: startTime + 3_001, kill: kill({}) })).toBe('killed');
});

describe('killed', () => {
  test('denies everything and names who and why', () => {
    expect(firstDenial(context({ kill: kill({}) }))).toEqual({
      code: 'killed',
      facts: { since: startTime - 5, by: 'operator', reason: 'because' },
    });
  });

  test('lets exits through, whoever killed, unless it stops everything', () => {
    const stop = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict({ draft: stop, portfolio: holding(), kill: kill({ by: 'dailyLoss' }) })).toBe('approved');
    expect(verdict({ draft: stop, portfolio: holding(), kill: kill({}) })).toBe('approved');
    expect(verdict({ draft: stop, portfolio: holding(), kill: kill({ everything: true }) })).toBe('killed');
    const exit = draft({ side: 'SELL', purpose: 'exit' });
    expect(verdict({ draft: exit, portfolio: holding(), kill: kill({ by: 'dailyLoss' }) })).toBe('killed');
    expect(verdict({ draft: exit, portfolio: holding(), kill: kill({ kind: 'pause' }) })).toBe('approved');
    expect(verdict({ kill: kill({ kind: 'pause' }) })).toBe('paused');
  });
});

describe('stale data', () => {
  test('denies when the last price is older than allowed', () => {
    expect(verdict({ now: startTime + 3_000 })).toBe('approved');
    expect(firstDenial(context({ now: startTime + 3_001 }))?.facts).toEqual({ ageMs: 3_001, maxDataAgeMs: 3_000 });
  });

  test('denies before the first price, protective exits too', () => {
    expect(firstDenial(context({ portfolio: portfolio(null) }))?.facts).toEqual({
      ageMs: 'never seen',
      maxDataAgeMs: 3_000,
    });
    expect(verdict({ draft: draft({ side: 'SELL', purpose: 'stop' }), portfolio: portfolio(null) })).toBe('staleData');
  });

  test('does not hold up a protective exit', () => {
    const stop = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict({ draft: stop, portfolio: holding(), now: startTime + 60_000 })).toBe('approved');
  });
});

describe('order value', () => {
  const limits = { maxOrderValue: units('100') };
  test.each([
    ['a quantity at the last price', { quantity: '1' }, { quantity: '1.00001' }],
    ['a quantity at its limit', { price: '125', quantity: '0.8' }, { price: '125', quantity: '0.80001' }],
    ['an amount', { amount: '100' }, { amount: '100.01' }],
  ])('bounds %s', (_, within, beyond) => {
    expect(verdict({ draft: draft(within), limits })).toBe('approved');
    expect(verdict({ draft: draft(beyond), limits })).toBe('orderValue');
  });

  test('names what the order is worth', () => {
    expect(firstDenial(context({ draft: draft({ quantity: '2' }), limits }))?.facts).toEqual({
      value: '200',
      maxOrderValue: '100',
    });
  });

  test('does not hold up a protective exit', () => {
    const stop = draft({ side: 'SELL', quantity: '5', purpose: 'stop' });
    expect(verdict({ draft: stop, portfolio: holding('5'), limits })).toBe('approved');
  });
});

describe('position', () => {
  const limits = { maxPosition: units('300') };

  test('counts what is held, what is bought already and the order itself', () => {
    const held = holding();
    resting(held, { price: '100' });
    expect(verdict({ draft: draft({ quantity: '1' }), portfolio: held, limits })).toBe('approved');
    expect(firstDenial(context({ draft: draft({ quantity: '1.5' }), portfolio: held, limits }))).toEqual({
      code: 'position',
      facts: { exposure: '350', maxPosition: '300' },
    });
  });

  test('counts orders whose outcome is unknown', () => {
    const held = holding();
    resting(held, { price: '100', quantity: '2' }).state = 'unknown';
    expect(verdict({ draft: draft({ quantity: '1' }), portfolio: held, limits })).toBe('position');
  });

  test('never holds up an exit, of a long position or a short one', () => {
    expect(verdict({ draft: draft({ side: 'SELL', quantity: '9' }), portfolio: holding('9'), limits })).toBe(
      'approved',
    );
    const cover = draft({ account: 'margin', quantity: '3' });
    expect(verdict({ draft: cover, portfolio: holding('3', 'SELL'), limits })).toBe('approved');
  });

  test('bounds a short position as well', () => {
    const short = draft({ account: 'margin', side: 'SELL', quantity: '2' });
    expect(verdict({ draft: short, portfolio: holding('1', 'SELL'), limits })).toBe('approved');
    expect(verdict({ draft: short, portfolio: holding('2', 'SELL'), limits })).toBe('position');
  });
});

describe('position with orders of both sides', () => {
  const limits = { maxPosition: units('300') };
  const short = (quantity: string): ReturnType<typeof draft> => draft({ account: 'margin', side: 'SELL', quantity });

  test('counts what is sold short already beside what is held short', () => {
    const held = holding('1', 'SELL');
    resting(held, { account: 'margin', side: 'SELL', price: '110', quantity: '1' });
    expect(verdict({ draft: short('0.9'), portfolio: held, limits })).toBe('approved');
    expect(firstDenial(context({ draft: short('1'), portfolio: held, limits }))).toEqual({
      code: 'position',
      facts: { exposure: '310', maxPosition: '300' },
    });
  });

  test('counts a market sale that is under way at the last price', () => {
    const held = portfolio();
    held.reserve(intent({ account: 'margin', side: 'SELL', quantity: '2' }));
    expect(verdict({ draft: short('1'), portfolio: held, limits })).toBe('approved');
    expect(verdict({ draft: short('1.1'), portfolio: held, limits })).toBe('position');
  });

  test('does not count orders of the other side: they may fill or not', () => {
    const held = holding('2');
    resting(held, { account: 'margin', side: 'SELL', price: '110', quantity: '2' });
    expect(verdict({ draft: draft({ account: 'margin', quantity: '1.1' }), portfolio: held, limits })).toBe('position');
    expect(verdict({ draft: draft({ account: 'margin', quantity: '1' }), portfolio: held, limits })).toBe('approved');
  });

  test('takes the way from short to long for what it comes to', () => {
    const turn = (quantity: string): string =>
      verdict({ draft: draft({ account: 'margin', quantity }), portfolio: holding('3', 'SELL'), limits });
    expect(turn('6')).toBe('approved');
    expect(turn('6.1')).toBe('position');
  });
});

describe('the exchange’s minimum', () => {
  test('denies a limit order that is worth less, with the numbers', () => {
    const small = (price: string): RiskContext => context({ draft: draft({ price, quantity: '0.06' }) });
    expect(firstDenial(small('84'))).toBeUndefined();
    expect(firstDenial(small('83'))).toEqual({ code: 'minimum', facts: { value: '4.98', minNotional: '5' } });
  });

  test('does not judge market orders, whose value nobody knows before', () => {
    expect(verdict({ draft: draft({ quantity: '0.04' }) })).toBe('approved');
  });
});

describe('allocation', () => {
  test('is what a strategy may spend, less what its orders reserve', () => {
    const held = portfolio();
    resting(held, { price: '100', quantity: '9000' });
    expect(verdict({ draft: draft({ quantity: '1000' }), portfolio: held })).toBe('approved');
    expect(firstDenial(context({ draft: draft({ quantity: '1000.1' }), portfolio: held }))).toEqual({
      code: 'allocation',
      facts: { value: '100010', free: '100000' },
    });
  });

  test('of one strategy is not spent by another', () => {
    const held = portfolio();
    resting(held, { strategy: 't', price: '100', quantity: '10000' });
    expect(verdict({ draft: draft({ quantity: '10000' }), portfolio: held })).toBe('approved');
    expect(verdict({ draft: draft({ strategy: 't', quantity: '1' }), portfolio: held })).toBe('allocation');
  });

  test('does not hold up buying back a short position', () => {
    const held = holding('20000', 'SELL');
    expect(verdict({ draft: draft({ account: 'margin', quantity: '20000' }), portfolio: held })).toBe('approved');
  });
});

describe('holdings', () => {
  test('on spot bound what may be sold, less what is being sold', () => {
    const held = holding('2');
    resting(held, { side: 'SELL', price: '120', quantity: '1.5', filled: '0.5' });
    expect(verdict({ draft: draft({ side: 'SELL', quantity: '1' }), portfolio: held })).toBe('approved');
    expect(firstDenial(context({ draft: draft({ side: 'SELL', quantity: '1.1' }), portfolio: held }))).toEqual({
      code: 'holdings',
      facts: { selling: '1.1', free: '1' },
    });
  });

  test('of one strategy are not sold by another', () => {
    expect(verdict({ draft: draft({ strategy: 't', side: 'SELL' }), portfolio: holding() })).toBe('holdings');
  });

  test('do not bound a margin account', () => {
    expect(verdict({ draft: draft({ account: 'margin', side: 'SELL' }) })).toBe('approved');
  });
});

describe('the price collar', () => {
  const limits = { priceCollar: rate('0.03') };
  test('keeps a buyer from paying far above and a seller from taking far below the last price', () => {
    expect(verdict({ draft: draft({ price: '103' }), limits })).toBe('approved');
    expect(firstDenial(context({ draft: draft({ price: '103.01' }), limits }))).toEqual({
      code: 'collar',
      facts: { price: '103.01', bound: '103', last: 100 },
    });
    expect(verdict({ draft: draft({ side: 'SELL', price: '97' }), portfolio: holding(), limits })).toBe('approved');
    expect(verdict({ draft: draft({ side: 'SELL', price: '96.99' }), portfolio: holding(), limits })).toBe('collar');
  });

  test('lets a maker rest far away on its own side', () => {
    expect(verdict({ draft: draft({ price: '10' }), limits })).toBe('approved');
    expect(verdict({ draft: draft({ side: 'SELL', price: '1000' }), portfolio: holding(), limits })).toBe('approved');
  });
});

describe('a duplicate', () => {
  const limits = { duplicateWindowMs: 2_000 };
  const recent = [{ at: startTime, draft: draft({ price: '99' }) }];

  test('is the same order again within the time, and names how long ago', () => {
    const again = draft({ price: '99' });
    expect(firstDenial(context({ draft: again, recent, limits, now: startTime + 1_999 }))).toEqual({
      code: 'duplicate',
      facts: { agoMs: 1_999, duplicateWindowMs: 2_000 },
    });
    expect(verdict({ draft: again, recent, limits, now: startTime + 2_000 })).toBe('approved');
  });

  test.each([
    ['strategy', { price: '99', strategy: 't' }],
    ['side', { price: '99', side: 'SELL' as const, account: 'margin' as const }],
    ['price', { price: '98' }],
    ['type', {}],
    ['quantity', { price: '99', quantity: '2' }],
  ])('is not one of another %s', (_, text) => {
    expect(verdict({ draft: draft(text), recent, limits })).toBe('approved');
  });

  test('of a protective exit is let through', () => {
    const stop = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict({ draft: stop, recent: [{ at: startTime, draft: stop }], portfolio: holding(), limits })).toBe(
      'approved',
    );
  });
});

describe('the rate of orders', () => {
  const limits = { maxOrdersPerSecond: 2 };
  const recent = [0, 400, 800].map((ago) => ({ at: startTime - ago, draft: draft({ strategy: 'other' }) })).reverse();

  test('is counted over every second and every strategy', () => {
    expect(firstDenial(context({ recent: recent.slice(1), limits }))).toEqual({
      code: 'orderRate',
      facts: { inLastSecond: 2, maxOrdersPerSecond: 2 },
    });
    expect(verdict({ recent: recent.slice(1), limits, now: startTime + 600 })).toBe('approved');
    expect(verdict({ recent: recent.slice(2), limits })).toBe('approved');
  });

  test('does not hold up a protective exit', () => {
    const stop = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict({ draft: stop, portfolio: holding(), recent, limits })).toBe('approved');
  });
});
