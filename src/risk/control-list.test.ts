import { describe, expect, test } from 'vitest';
import { draft, eth, fill, portfolio, resting, startTime, wide } from '../../test/kit/builders.ts';
import { rate, units } from '../domain/money.ts';
import type { Limits, RiskContext } from './context.ts';
import { blockOf, controls, isAbove, standards } from './control-list.ts';
import { killingLimits } from './kill.ts';
import { firstDenial, rules } from './rules.ts';

const book = (bid = 99.9, ask = 100.1, size = 10): NonNullable<RiskContext['book']> => ({
  bids: [
    [bid, size],
    [bid * 0.9, 1_000],
  ],
  asks: [
    [ask, size],
    [ask * 1.1, 1_000],
  ],
  ageMs: 0,
});
/** The first rule that denies in a context of wide limits and a fresh book; `approved` when none does. */
function verdict(limits: Partial<Limits>, given: Partial<RiskContext> = {}): string {
  const context: RiskContext = {
    draft: draft({ quantity: '1' }),
    portfolio: portfolio(),
    now: startTime,
    maxDataAgeMs: 3_000,
    kill: undefined,
    recent: [],
    maxDepthAgeMs: 3_000,
    book: book(),
    ...given,
    limits: { ...wide, ...limits },
  };
  return firstDenial(context)?.code ?? 'approved';
}
const held = (quantity: string): ReturnType<typeof portfolio> => {
  const made = portfolio();
  made.apply(fill({ quantity }));
  return made;
};

describe('the list of controls', () => {
  test('names every rule and every limit that kills, each once', () => {
    expect(controls.flatMap((one) => Object.keys(one.rules)).sort()).toEqual(Object.keys(rules).sort());
    expect(controls.flatMap(({ kills }) => kills).sort()).toEqual(Object.keys(killingLimits).sort());
  });

  test('has a standard for every number that a rule names, and every standard is of some use', () => {
    const named = new Set(controls.flatMap((one) => Object.values(one.rules)));
    const keys = standards.map(({ key }) => key);
    for (const key of named)
      if (/^max[A-Z]\w*$/.test(key) && key !== 'maxOrderValue' && key !== 'maxPosition') expect(keys).toContain(key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('separates limits that a human may raise from those that nobody may', () => {
    expect(blockOf('orderShare')).toBe('soft');
    expect(blockOf('killed')).toBe('hard');
    expect(blockOf('holdings')).toBe('hard');
  });

  test('knows which way a limit is less careful', () => {
    const above = (key: string, value: string | number | boolean): boolean =>
      standards.some((one) => one.key === key && isAbove(one, value));
    expect([above('maxOrderShare', '0.0200'), above('maxOrderShare', '0.0201')]).toEqual([false, true]);
    expect([above('duplicateWindowMs', 2_001), above('duplicateWindowMs', 1_999)]).toEqual([false, true]);
    expect([above('noSelfMatch', true), above('noSelfMatch', false)]).toEqual([false, true]);
  });
});

describe('of the equity', () => {
  // Two strategies with 1,000,000 each; the last price is 100.
  test.each([
    ['an order', { maxOrderShare: rate('0.02') }, '400', '401', 'orderShare'],
    ['a position', { maxPositionShare: rate('0.25') }, '5000', '5001', 'positionShare'],
    ['all positions', { maxAccountShare: rate('0.3') }, '6000', '6001', 'accountShare'],
  ] as const)('%s may be worth a share', (_, limits, most, more, code) => {
    expect(verdict(limits, { draft: draft({ quantity: most, price: '100' }) })).toBe('approved');
    expect(verdict(limits, { draft: draft({ quantity: more, price: '100' }) })).toBe(code);
  });

  test('what rests and what is unknown counts for the position and the account', () => {
    const full = portfolio();
    resting(full, { quantity: '3000' });
    resting(full, { id: 'c2', strategy: 't', quantity: '2000' }).state = 'unknown';
    const one = { portfolio: full, draft: draft({ quantity: '1', price: '100' }) };
    expect(verdict({ maxPositionShare: rate('0.25') }, one)).toBe('positionShare');
    expect(verdict({ maxAccountShare: rate('0.25') }, one)).toBe('accountShare');
  });

  test('what only reduces passes, however much it is', () => {
    const sale = { portfolio: held('9000'), draft: draft({ side: 'SELL', quantity: '9000', price: '100' }) };
    expect(verdict({ maxOrderShare: rate('0.02'), maxPositionShare: rate('0.01') }, sale)).toBe('approved');
  });
});

describe('of the book', () => {
  test('a MARKET order is denied without a fresh one, a stop is not', () => {
    const limits = { maxDepthAgeMs: 3_000 };
    const old = { ...book(), ageMs: 3_001 };
    expect(verdict(limits, { book: old })).toBe('depthAge');
    expect(verdict(limits, { book: undefined })).toBe('depthAge');
    expect(verdict(limits, { book: old, draft: draft({ price: '100' }) })).toBe('approved');
    const exit = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict(limits, { book: old, draft: exit, portfolio: held('1') })).toBe('approved');
  });

  test('it takes a part of what one side shows', () => {
    const limits = { maxDepthShare: rate('0.2') };
    expect(verdict(limits, { draft: draft({ quantity: '202' }) })).toBe('approved');
    expect(verdict(limits, { draft: draft({ quantity: '202.1' }) })).toBe('depthShare');
    expect(verdict(limits, { draft: draft({ quantity: '202.1', price: '101' }) })).toBe('depthShare');
    expect(verdict(limits, { draft: draft({ quantity: '202.1', price: '99' }) })).toBe('approved');
  });

  test('its estimated price lies near the mid price, and the book must show all of it', () => {
    const limits = { maxSlippage: rate('0.01') };
    expect(verdict(limits, { draft: draft({ quantity: '10' }) })).toBe('approved');
    // Ten at 100.1 and half a coin at 110.11.
    expect(verdict(limits, { draft: draft({ quantity: '10.5' }) })).toBe('approved');
    expect(verdict(limits, { draft: draft({ quantity: '12' }) })).toBe('slippage');
    expect(verdict(limits, { draft: draft({ quantity: '5000' }) })).toBe('slippage');
    const sale = { portfolio: held('12'), draft: draft({ side: 'SELL', quantity: '12' }) };
    expect(verdict(limits, sale)).toBe('slippage');
  });

  test('a price that ran away pauses the symbol, but for stops', () => {
    const limits = { maxMove: rate('0.05') };
    expect(verdict(limits, { moved: 0.05 })).toBe('approved');
    expect(verdict(limits, { moved: 0.051 })).toBe('move');
    const exit = draft({ side: 'SELL', purpose: 'stop' });
    expect(verdict(limits, { moved: 0.5, draft: exit, portfolio: held('1') })).toBe('approved');
  });

  test('no order crosses one of ours, of whichever strategy', () => {
    const crossing = portfolio();
    resting(crossing, { strategy: 't', side: 'SELL', price: '101', quantity: '1' });
    const limits = { noSelfMatch: true };
    const at = (price?: string): Partial<RiskContext> => ({
      portfolio: crossing,
      draft: draft({ quantity: '1', ...(price === undefined ? {} : { price }) }),
    });
    expect(verdict(limits, at('100.99'))).toBe('approved');
    expect(verdict(limits, at('101'))).toBe('selfMatch');
    expect(verdict(limits, at())).toBe('approved');
    expect(verdict(limits, { ...at(), book: undefined, maxDepthAgeMs: undefined })).toBe('selfMatch');
    expect(verdict({}, at('101'))).toBe('approved');
  });
});

describe('of the strategy', () => {
  const of = (limits: NonNullable<Limits['strategies']> extends ReadonlyMap<string, infer L> ? L : never) => ({
    strategies: new Map([['s', limits]]),
  });
  test('its own limits hold beside those of all', () => {
    const order = { draft: draft({ quantity: '10', price: '100' }) };
    expect(verdict(of({ maxOrderValue: units('1000') }), order)).toBe('approved');
    expect(verdict(of({ maxOrderValue: units('999') }), order)).toBe('strategyOrderValue');
    expect(verdict(of({ maxPosition: units('1000') }), order)).toBe('approved');
    expect(verdict(of({ maxPosition: units('1000') }), { ...order, portfolio: held('1') })).toBe('strategyPosition');
    const pair = held('5');
    pair.mark(eth.symbol, 100, startTime);
    pair.apply(fill({ symbol: eth.symbol, side: 'SELL', quantity: '12' }));
    // 5 BTC and 10 more are 1,500; 1,200 of ETH are short.
    expect(verdict(of({ maxGross: units('2700') }), { ...order, portfolio: pair })).toBe('approved');
    expect(verdict(of({ maxGross: units('2699') }), { ...order, portfolio: pair })).toBe('strategyGross');
    expect(verdict(of({ maxNet: units('300') }), { ...order, portfolio: pair })).toBe('approved');
    expect(verdict(of({ maxNet: units('299') }), { ...order, portfolio: pair })).toBe('strategyNet');
    resting(pair, { symbol: eth.symbol, side: 'BUY', quantity: '1' });
    expect(verdict(of({ maxNet: units('300') }), { ...order, portfolio: pair })).toBe('strategyNet');
    const exit = { draft: draft({ side: 'SELL', quantity: '5', price: '100' }), portfolio: pair };
    expect(verdict(of({ maxGross: units('1'), maxNet: units('1') }), exit)).toBe('approved');
    const one = portfolio();
    resting(one);
    expect(verdict(of({ maxOpenOrders: 1 }), { ...order, portfolio: one })).toBe('openOrders');
    expect(verdict(of({ maxOpenOrders: 2 }), { ...order, portfolio: one })).toBe('approved');
  });

  test('strategies and symbols that are not listed create nothing, and leave what they hold', () => {
    expect(verdict(of({}), { draft: draft({ strategy: 't' }) })).toBe('allowList');
    expect(verdict({ symbols: ['ETHUSDT'] })).toBe('allowList');
    const exit = { portfolio: held('1'), draft: draft({ side: 'SELL', purpose: 'stop' }) };
    expect(verdict({ symbols: [] }, exit)).toBe('approved');
  });

  test('a version that nobody released holds a part of its allocation', () => {
    const newVersion = { code: 'ab12', allocation: units('10000') };
    const limits = { newVersionShare: rate('0.1') };
    const order = (quantity: string) => draft({ quantity, price: '100' });
    expect(verdict(limits, { newVersion, draft: order('10') })).toBe('approved');
    expect(verdict(limits, { newVersion, draft: order('10.1') })).toBe('newVersion');
    expect(verdict(limits, { newVersion, draft: order('5'), portfolio: held('5.1') })).toBe('newVersion');
    expect(verdict(limits, { draft: order('11') })).toBe('approved');
  });

  test('five orders a second are its share of twenty, and fifty are open on a symbol', () => {
    const recent = Array.from({ length: 5 }, () => ({ at: startTime - 10, draft: draft() }));
    const limits = { maxStrategyOrdersPerSecond: 5 };
    expect(verdict(limits, { recent })).toBe('strategyRate');
    expect(verdict(limits, { recent, draft: draft({ strategy: 't' }) })).toBe('approved');
    const many = portfolio();
    for (let index = 0; index < 50; index++) resting(many, { id: `c${index}`, strategy: index % 2 === 0 ? 's' : 't' });
    expect(verdict({ maxOpenOrders: 50 }, { portfolio: many })).toBe('openOrders');
    expect(verdict({ maxOpenOrders: 51 }, { portfolio: many })).toBe('approved');
  });
});
