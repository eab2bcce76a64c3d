import { describe, expect, test } from 'vitest';
import { btc, intent, portfolio, resting, target } from '../../test/kit/builders.ts';
import { fc, property } from '../../test/kit/properties.ts';
import {
  baseUnits,
  type Lots,
  lots,
  negate,
  plus,
  priceText,
  quantityText,
  rate,
  ticks,
  units,
  unitsText,
} from '../domain/money.ts';
import type { Quote, Target } from '../domain/order.ts';
import {
  intentOf,
  noOverride,
  type OrderDraft,
  type ProtectionOverride,
  planQuotes,
  planTarget,
  type Situation,
  type Step,
} from './plan.ts';
import type { WorkingOrder } from './portfolio.ts';

const situation = (given: Partial<Situation> & { readonly has?: string } = {}): Situation => ({
  may: 'all',
  decision: 1,
  strategy: 's',
  role: 'main',
  account: 'spot',
  instrument: btc,
  held: units(given.has ?? '0'),
  orders: [],
  price: 100,
  marketBuyIn: 'amount',
  feeInBase: rate('0'),
  ...given,
});

/** A step in words: `BUY 1 market for 100`, `SELL 2 at 90`, `cancel c1`, `nothing`. */
function words(step: Step | undefined): string {
  if (step === undefined) return 'nothing';
  if (step.do === 'cancel') return `cancel ${step.order.intent.clientOrderId}`;
  const { side, type, price, volume, expectedLots } = step.draft;
  const how = type === 'MARKET' ? 'market' : `at ${price === undefined ? '?' : priceText(price, btc)}`;
  const amount = 'amount' in volume ? ` for ${unitsText(volume.amount)}` : '';
  return `${side} ${quantityText(expectedLots, btc)} ${how}${amount}`;
}
const plan = (
  size: string,
  given: Parameters<typeof situation>[0] = {},
  signal: Partial<Target> = {},
  override = noOverride,
): string => words(planTarget(target(1, signal), lots(size, btc), override, situation(given)));
const purposeOf = (step: Step | undefined): string => (step?.do === 'create' ? step.draft.purpose : 'none');
const order = (text: Parameters<typeof resting>[1] = {}): WorkingOrder => resting(portfolio(), text);

describe('a target', () => {
  test('is entered at market with the amount that the quantity costs now', () => {
    expect([plan('1'), plan('1', { price: 100.004 })]).toEqual(['BUY 1 market for 100', 'BUY 1 market for 100.01']);
  });

  test('is entered in lots where the venue takes lots', () => {
    expect(plan('1', { marketBuyIn: 'lots' })).toBe('BUY 1 market');
  });

  test('has in an amount no more decimals than the quote has, and buys nothing for less', () => {
    expect(plan('0.33333', { price: 99.99 })).toBe('BUY 0.33333 market for 33.32');
    const tiny = { ...btc, minNotional: units('0'), minQuantity: lots('0', btc) };
    expect(plan('0.00005', { instrument: tiny })).toBe('nothing');
  });

  test('only buys what is missing and only sells what is too much', () => {
    expect([plan('3', { has: '1' }), plan('1', { has: '3' })]).toEqual(['BUY 2 market for 200', 'SELL 2 market']);
  });

  test('of nothing sells what whole lots can be sold', () => {
    expect(plan('0', { has: '1.000009' })).toBe('SELL 1 market');
  });

  test('names its order an entry when it adds and an exit when it takes away', () => {
    const toward = (size: string, has: string): string =>
      purposeOf(planTarget(target(1), lots(size, btc), noOverride, situation({ account: 'margin', has })));
    expect(toward('2', '1')).toBe('enter');
    expect(toward('1', '2')).toBe('exit');
    expect(toward('-2', '-1')).toBe('enter');
    expect(toward('-1', '-2')).toBe('exit');
  });

  test('is left alone within the least that the exchange accepts', () => {
    // At least 0.0001 BTC, at least 5 USDT: at 100 that is 0.05.
    expect(plan('1', { has: '0.95' })).toBe('nothing');
    expect(plan('1', { has: '0.94999' })).toBe('BUY 0.05001 market for 5');
    expect(plan('0', { has: '0.05' })).toBe('nothing');
    expect(plan('1', { has: '1.05' })).toBe('nothing');
    const dear = { price: 100_000, marketBuyIn: 'lots' } as const;
    expect(plan('1', { has: '0.9999', ...dear })).toBe('BUY 0.0001 market');
    expect(plan('1', { has: '0.99991', ...dear })).toBe('nothing');
  });

  test('never asks for a market order below the exchange’s minima', () => {
    const random = fc.record({
      size: fc.bigInt(0n, 10n ** 6n),
      has: fc.bigInt(0n, 10n ** 6n),
      price: fc.double({ min: 0.5, max: 1e6, noNaN: true }),
    });
    fc.assert(
      fc.property(random, ({ size, has, price }) => {
        const step = planTarget(
          target(1),
          size as Lots,
          noOverride,
          situation({ held: baseUnits(has as Lots, btc), price, marketBuyIn: 'lots' }),
        );
        if (step?.do !== 'create') return;
        expect(step.draft.expectedLots >= btc.minQuantity).toBe(true);
        expect(Number(step.draft.expectedLots) * price).toBeGreaterThan(5 * 10 ** 5 * 0.9999);
      }),
    );
  });

  test('does not correct what the fee of its entry took from the bought asset', () => {
    const held = { has: '9.99', price: 10_000, marketBuyIn: 'lots' } as const;
    expect(plan('10', held)).toBe('BUY 0.01 market');
    expect(plan('10', { ...held, feeInBase: rate('0.001') })).toBe('nothing');
    expect(plan('0', { ...held, feeInBase: rate('0.001') })).toBe('SELL 9.99 market');
  });

  test('does not correct what an amount bought beside its size, up to half a percent beside the fee', () => {
    const dear = { price: 10_000, feeInBase: rate('0.002') };
    expect(plan('10', { ...dear, has: '9.93' })).toBe('nothing');
    expect(plan('10', { ...dear, has: '9.92999' })).toBe('BUY 0.07001 market for 700.1');
    expect(plan('10', { ...dear, has: '10.05' })).toBe('nothing');
    expect(plan('10', { ...dear, has: '10.05001' })).toBe('SELL 0.05001 market');
    const short = { ...dear, account: 'margin' } as const;
    expect(plan('-10', { ...short, has: '-10.05' })).toBe('nothing');
    expect(plan('-10', { ...short, has: '-9.95' })).toBe('nothing');
  });

  test('is bought to the lot where an order is given in lots: at a limit, or where the venue takes them', () => {
    const held = { has: '9.99', price: 10_000 };
    expect(plan('10', held, { limit: 9_900 })).toBe('BUY 0.01 at 9900');
    expect(plan('10', { ...held, marketBuyIn: 'lots' })).toBe('BUY 0.01 market');
  });

  test('of nothing is left to the last lot that can be sold, however large the position was', () => {
    expect(plan('0', { has: '0.002', price: 10_000 })).toBe('SELL 0.002 market');
    expect(plan('0', { has: '-0.002', price: 10_000, account: 'margin' })).toBe('BUY 0.002 market for 20');
  });

  test('on spot sells no more than is held', () => {
    expect(plan('-1', { has: '0.5' })).toBe('SELL 0.5 market');
    expect(plan('-1', { has: '0.5', account: 'margin' })).toBe('SELL 1.5 market');
  });

  test('with a limit rests there, the buyer rounded up and the seller down to a tick', () => {
    expect(plan('1', {}, { limit: 98.991 })).toBe('BUY 1 at 99');
    expect(plan('0', { has: '1' }, { limit: 101.019 })).toBe('SELL 1 at 101.01');
  });

  test('with a limit keeps the order that stands there, and its rest once it is partly filled', () => {
    expect(plan('1', { orders: [order({ price: '99' })] }, { limit: 99 })).toBe('nothing');
    const partly = order({ price: '99', filled: '0.4' });
    expect(plan('1', { has: '0.4', orders: [partly] }, { limit: 99 })).toBe('nothing');
  });

  test('cancels an order at another price, of another size or of the other side before it sends its own', () => {
    const at99 = { limit: 99 };
    expect(plan('1', { orders: [order({ price: '98' })] }, at99)).toBe('cancel c1');
    expect(plan('1', { orders: [order({ price: '99', quantity: '2' })] }, at99)).toBe('cancel c1');
    expect(plan('1', { orders: [order({ price: '99', side: 'SELL' })] }, at99)).toBe('cancel c1');
    expect(plan('1', { orders: [order({ price: '99', id: 'a' }), order({ price: '99', id: 'b' })] }, at99)).toBe(
      'cancel b',
    );
  });

  test('at market cancels every resting order first', () => {
    expect(plan('1', { orders: [order({ price: '100' })] })).toBe('cancel c1');
  });

  test('that is reached cancels what still rests', () => {
    expect(plan('1', { has: '1', orders: [order({ price: '90' })] })).toBe('cancel c1');
  });

  test.each([
    ['sending', {}],
    ['intended', {}],
    ['unknown', {}],
    ['closing', {}],
    ['open', { cancelRequested: true }],
  ] as const)('waits while an order is %s %j', (state, more) => {
    const undecided = Object.assign(order({ price: '98' }), { state, ...more });
    expect(plan('1', { orders: [undecided] }, { limit: 99 })).toBe('nothing');
  });

  test('waits while a market order is under way', () => {
    const held = portfolio();
    const working = held.reserve(intent());
    working.state = 'open';
    expect(plan('1', { orders: [working] })).toBe('nothing');
  });
});

describe('protection', () => {
  const profitAt = (price: string, taken = '0'): ProtectionOverride => ({
    takeProfits: [{ at: ticks(price, btc), share: undefined }],
    exit: undefined,
    taken: lots(taken, btc),
  });
  const at120 = [order({ side: 'SELL', price: '120' })];

  test('rests a take-profit for all that is held once the target is reached', () => {
    const step = planTarget(target(1), lots('1', btc), profitAt('120'), situation({ has: '1.000004' }));
    expect(words(step)).toBe('SELL 1 at 120');
    expect(purposeOf(step)).toBe('takeProfit');
    expect(plan('1', { has: '1', orders: at120 }, {}, profitAt('120'))).toBe('nothing');
  });

  test('rests a take-profit of a short position below it', () => {
    expect(plan('-1', { has: '-1', account: 'margin' }, {}, profitAt('80'))).toBe('BUY 1 at 80');
  });

  test('does not buy back what a take-profit has sold, whether its rest stands or moves', () => {
    const orders = [order({ side: 'SELL', price: '120', purpose: 'takeProfit', filled: '0.5' })];
    expect(plan('1', { has: '0.5', orders }, {}, profitAt('120', '0.5'))).toBe('nothing');
    expect(plan('1', { has: '0.5', orders }, {}, profitAt('121', '0.5'))).toBe('cancel c1');
    expect(plan('1', { has: '0.5' }, {}, profitAt('121', '0.5'))).toBe('SELL 0.5 at 121');
    expect(plan('0', { has: '0.5', orders }, {}, profitAt('120', '0.5'))).toBe('cancel c1');
    expect(plan('0', { has: '0.5' }, {}, profitAt('120', '0.5'))).toBe('SELL 0.5 market');
  });

  test('does not correct the entry of what a take-profit has mostly sold', () => {
    // 9.94 of 10 were bought, 9 of them are sold again.
    const held = { has: '0.94', price: 10_000, feeInBase: rate('0.002') };
    const orders = [order({ side: 'SELL', price: '12000', quantity: '0.94', purpose: 'takeProfit' })];
    expect(plan('10', { ...held, orders }, {}, profitAt('12000', '9'))).toBe('nothing');
    expect(plan('10', held, {}, profitAt('12000', '10'))).toBe('SELL 0.94 market');
  });

  test('moves a take-profit whose price changed', () => {
    expect(plan('1', { has: '1', orders: at120 }, {}, profitAt('121'))).toBe('cancel c1');
  });

  test('rests no take-profit that the exchange would refuse as too small', () => {
    expect(plan('0.04', { has: '0.04' }, {}, profitAt('120'))).toBe('nothing');
    // A remainder while nothing may be entered: worth 4 at the last price, which is too little to sell, but 5.2 at the price of the take-profit.
    const waits = { ...profitAt('130'), exit: 'waits until it may be entered again' };
    expect(plan('1', { has: '0.04' }, {}, waits)).toBe('nothing');
  });

  test('that leaves sells all at market, whatever the target and its limit are, and names it a stop', () => {
    const exiting: ProtectionOverride = { ...noOverride, exit: 'traded at 90' };
    const step = planTarget(target(1, { limit: 99 }), lots('1', btc), exiting, situation({ has: '1' }));
    expect(words(step)).toBe('SELL 1 market');
    expect(purposeOf(step)).toBe('stop');
    expect(step?.do === 'create' && step.draft.reason).toBe('traded at 90');
    expect(plan('1', { has: '1', orders: at120 }, {}, exiting)).toBe('cancel c1');
    expect(plan('1', { has: '0' }, {}, exiting)).toBe('nothing');
  });
});

describe('a strategy that is stopped', () => {
  const profit = { ...noOverride, takeProfits: [{ at: ticks('120', btc), share: undefined }] };

  test('only reduces its position while it is paused', () => {
    const paused = { may: 'reduce', account: 'margin' } as const;
    expect(plan('1', { ...paused })).toBe('nothing');
    expect(plan('3', { ...paused, has: '1' })).toBe('nothing');
    expect(plan('1', { ...paused, has: '3' })).toBe('SELL 2 market');
    expect(plan('-1', { ...paused, has: '3' })).toBe('SELL 3 market');
    expect(plan('3', { ...paused, has: '-1' })).toBe('BUY 1 market for 100');
    expect(plan('3', { ...paused, orders: [order({ price: '99' })] })).toBe('cancel c1');
  });

  test('does nothing of its own while it is killed', () => {
    for (const size of ['0', '1', '3']) expect(plan(size, { may: 'exit', has: '2' })).toBe('nothing');
  });

  test.each(['reduce', 'exit'] as const)('keeps its exits in force (%s), for what was entered so far', (may) => {
    expect(plan('1', { may, has: '0.4' }, {}, profit)).toBe('SELL 0.4 at 120');
    expect(plan('1', { may, has: '0.4' }, {}, { ...noOverride, exit: 'traded at 90' })).toBe('SELL 0.4 market');
  });
});

describe('quotes', () => {
  const stepFor = (
    quotes: readonly Quote[],
    given: Parameters<typeof situation>[0] = {},
    denied: readonly OrderDraft[] = [],
  ) => planQuotes({ kind: 'quotes', quotes, reason: 'test' }, situation(given), denied);
  const quotesPlan = (...given: Parameters<typeof stepFor>): string => words(stepFor(...given));
  /** What is created for, order by order, when every draft that `isDenied` names is denied and the others come to rest. */
  const created = (quotes: readonly Quote[], isDenied: (words: string) => boolean): string[] => {
    const orders: WorkingOrder[] = [];
    const denied: OrderDraft[] = [];
    const steps: string[] = [];
    for (let step = stepFor(quotes); step !== undefined; step = stepFor(quotes, { orders }, denied)) {
      steps.push(words(step));
      if (step.do === 'cancel' || steps.length > 20) break;
      const { draft } = step;
      if (isDenied(words(step))) denied.push(draft);
      else orders.push({ ...order(), intent: intentOf(draft, `c${orders.length}`, 0, 1) });
    }
    return steps;
  };
  const buy = (price: number, quantity = 1): Quote => ({ side: 'BUY', price, quantity });
  const sell = (price: number, quantity = 1): Quote => ({ side: 'SELL', price, quantity });

  test('creates the first that is missing', () => {
    expect(quotesPlan([buy(99), sell(101)])).toBe('BUY 1 at 99');
    expect(quotesPlan([buy(99), sell(101)], { orders: [order({ price: '99' })] })).toBe('SELL 1 at 101');
  });

  test('does nothing when exactly these orders rest, in any order', () => {
    const orders = [order({ side: 'SELL', price: '101', id: 'a' }), order({ price: '99', id: 'b' })];
    expect(quotesPlan([buy(99), sell(101)], { orders })).toBe('nothing');
  });

  test('keeps an order that is partly filled', () => {
    expect(quotesPlan([buy(99)], { has: '0.7', orders: [order({ price: '99', filled: '0.7' })] })).toBe('nothing');
  });

  test('cancels what is not among them before it creates', () => {
    expect(quotesPlan([buy(98)], { orders: [order({ price: '99' })] })).toBe('cancel c1');
    expect(quotesPlan([], { orders: [order({ price: '99' })] })).toBe('cancel c1');
  });

  test('asks for two orders when two quotes are alike', () => {
    expect(quotesPlan([buy(99), buy(99)], { orders: [order({ price: '99' })] })).toBe('BUY 1 at 99');
  });

  test('asks for what comes after a denied one, and not again for that', () => {
    const quotes = [buy(99), sell(101), buy(98)];
    expect(created(quotes, (words) => words.startsWith('BUY'))).toEqual([
      'BUY 1 at 99',
      'SELL 1 at 101',
      'BUY 1 at 98',
    ]);
    // A smaller one at the same price could be taken for the denied one.
    expect(created([buy(99, 2), buy(99)], (words) => words.startsWith('BUY 2'))).toEqual([
      'BUY 2 at 99',
      'BUY 1 at 99',
    ]);
  });

  property.prop([
    fc.array(
      fc.record({ side: fc.constantFrom('BUY', 'SELL'), at: fc.nat(3), quantity: fc.integer({ min: 1, max: 3 }) }),
    ),
    fc.func(fc.boolean()),
  ])('are each created for once, whatever is denied', (given, isDenied) => {
    const quotes = given.map(({ side, at, quantity }): Quote => ({ side, price: 99 + at, quantity }));
    const texts = quotes.map(({ side, price, quantity }) => `${side} ${quantity} at ${price}`);
    expect(created(quotes, isDenied).sort()).toEqual(texts.sort());
  });

  test('leaves out what the exchange would refuse as too small', () => {
    expect(quotesPlan([buy(99, 0.05), buy(99, 0), buy(98)])).toBe('BUY 1 at 98');
  });

  test('waits while one of its orders is undecided', () => {
    const undecided = Object.assign(order({ price: '99' }), { state: 'unknown' as const });
    expect(quotesPlan([buy(98)], { orders: [undecided] })).toBe('nothing');
  });
});

/** A world that carries out every step at once and in full. */
function carriedOut(signal: { readonly size: Lots; readonly limit?: number }, start: Situation): number {
  let now = start;
  for (let steps = 0; steps < 10; steps++) {
    const step = planTarget(
      target(1, signal.limit === undefined ? {} : { limit: signal.limit }),
      signal.size,
      noOverride,
      now,
    );
    if (step === undefined) return steps;
    if (step.do === 'cancel') now = { ...now, orders: now.orders.filter((one) => one !== step.order) };
    else {
      const moved = baseUnits(step.draft.expectedLots, btc);
      now = { ...now, held: plus(now.held, step.draft.side === 'BUY' ? moved : negate(moved)) };
    }
  }
  return Number.POSITIVE_INFINITY;
}

property.prop([
  fc.bigInt(0n, 10n ** 7n),
  fc.bigInt(0n, 10n ** 7n),
  fc.array(fc.constantFrom('98', '99', '101'), { maxLength: 3 }),
])('every target is reached in a few steps, and repeating it then does nothing', (size, has, prices) => {
  const orders = prices.map((price, index) => order({ price, id: `c${index}` }));
  const steps = carriedOut({ size: size as Lots }, situation({ held: baseUnits(has as Lots, btc), orders }));
  expect(steps).toBeLessThanOrEqual(prices.length + 1);
});
