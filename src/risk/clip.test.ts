/** Orders that limits of size reduce instead of deny. */
import { expect, test } from 'vitest';
import { draft, fill, instruments, portfolio, resting, startTime, wide } from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { quantityText, rate, units, unitsText } from '../domain/money.ts';
import type { Judgement, OrderDraft } from '../portfolio/plan.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Limits } from './context.ts';
import { Risk } from './risk.ts';

const [btc] = instruments.values();

function judged(limits: Partial<Limits>, order: OrderDraft, held: Portfolio = portfolio()): Judgement {
  const clock = new SimClock(startTime);
  return new Risk({ limits: { ...wide, ...limits }, portfolio: held, clock }).judge(order);
}

/** `10 of 20 by orderValue`, `denied by orderValue`, or `approved`. */
function text(judgement: Judgement): string {
  if (judgement.kind === 'denied') return `denied by ${judgement.code}`;
  if (judgement.kind === 'approved' || btc === undefined) return judgement.kind;
  const { expectedLots, reduced } = judgement.draft;
  return `${quantityText(expectedLots, btc)} of ${quantityText(reduced?.from ?? expectedLots, btc)} by ${reduced?.by.code}`;
}

const clipped = (more: Parameters<typeof draft>[0] = {}): OrderDraft => ({ ...draft(more), clip: true });

// The price is 100, and each strategy has 1,000,000.
test.each([
  [{ maxOrderValue: units('1000') }, '10 of 20 by orderValue'],
  [{ maxOrderShare: rate('0.0005') }, '10 of 20 by orderShare'],
  [{ maxPosition: units('1500') }, '15 of 20 by position'],
  [{ maxPositionShare: rate('0.0007') }, '14 of 20 by positionShare'],
  [{ maxAccountShare: rate('0.0006') }, '12 of 20 by accountShare'],
  [{ strategies: new Map([['s', { maxOrderValue: units('800') }]]) }, '8 of 20 by strategyOrderValue'],
  [{ strategies: new Map([['s', { maxPosition: units('900') }]]) }, '9 of 20 by strategyPosition'],
  [{ strategies: new Map([['s', { maxGross: units('700') }]]) }, '7 of 20 by strategyGross'],
  [{ strategies: new Map([['s', { maxNet: units('600') }]]) }, '6 of 20 by strategyNet'],
  [{ maxLeverage: rate('0.001') }, '10 of 20 by leverage'],
] as const)('a limit of size states the most: %#', (limits, expected) => {
  expect(text(judged(limits, clipped({ quantity: '20' })))).toBe(expected);
  expect(text(judged(limits, draft({ quantity: '20' })))).toBe(`denied by ${expected.replace(/.* by /, '')}`);
});

test('the most is exact: one lot more would be denied', () => {
  const limits = { maxOrderValue: units('1000.009') };
  expect(text(judged(limits, clipped({ quantity: '20', price: '99.7' })))).toBe('10.03018 of 20 by orderValue');
  expect(text(judged(limits, draft({ quantity: '10.03018', price: '99.7' })))).toBe('approved');
  expect(text(judged(limits, draft({ quantity: '10.03019', price: '99.7' })))).toBe('denied by orderValue');
});

test('of several limits the one that allows the least counts', () => {
  const limits = { maxOrderValue: units('1000'), maxPosition: units('700'), maxLeverage: rate('0.0009') };
  expect(text(judged(limits, clipped({ quantity: '20' })))).toBe('7 of 20 by position');
});

test('what is held and what rests leave less', () => {
  const held = portfolio();
  held.apply(fill({ quantity: '3' }));
  resting(held, { quantity: '2', price: '100' });
  expect(text(judged({ maxPosition: units('1000') }, clipped({ quantity: '20' }), held))).toBe('5 of 20 by position');
});

test('an order for an amount keeps an amount', () => {
  const judgement = judged({ maxOrderValue: units('1000') }, clipped({ quantity: '20', amount: '2000' }));
  expect(judgement.kind).toBe('reduced');
  if (judgement.kind !== 'reduced') return;
  const { volume } = judgement.draft;
  expect('amount' in volume && unitsText(volume.amount)).toBe('1000');
});

test('money that is left pays for less', () => {
  expect(text(judged({}, clipped({ quantity: '20000' })))).toBe('10000 of 20000 by allocation');
});

test("below the exchange's minimum it is denied by the first rule, as without it", () => {
  expect(text(judged({ maxOrderValue: units('4') }, clipped({ quantity: '20' })))).toBe('denied by orderValue');
});

test('a rule that states no size denies as ever, also what was reduced', () => {
  const stale = portfolio(null);
  expect(text(judged({ maxOrderValue: units('1000') }, clipped({ quantity: '20' }), stale))).toBe(
    'denied by staleData',
  );
  const far = clipped({ quantity: '20', price: '300' });
  expect(text(judged({ maxOrderValue: units('1000') }, far))).toBe('denied by collar');
});
