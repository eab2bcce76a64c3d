/** Sizes by risk, by volatility and by Kelly's formula. */
import { expect, test } from 'vitest';
import type { Interval } from '../domain/interval.ts';
import { SignalError } from './fault.ts';
import { kellyShare, riskShare, volatilityShare } from './sizing.ts';

const shareOf = (size: { readonly share: number }): number => size.share;

test('a position by risk loses that fraction of the equity at its stop', () => {
  const { share } = riskShare({ risk: 0.01, stop: 95, price: 100 });
  expect(share).toBeCloseTo(0.2, 12);
  expect(share * (1 - 95 / 100)).toBeCloseTo(0.01, 12);
});

test('a stop above the price gives a short position of the same size', () => {
  expect(shareOf(riskShare({ risk: 0.01, stop: 105, price: 100 }))).toBeCloseTo(-0.2, 12);
});

test('a stop that is near gives no more than the largest share', () => {
  expect(shareOf(riskShare({ risk: 0.01, stop: 99.9, price: 100 }))).toBe(1);
  expect(shareOf(riskShare({ risk: 0.01, stop: 99.9, price: 100, cap: 3 }))).toBe(3);
  expect(shareOf(riskShare({ risk: 0.01, stop: 100.1, price: 100, cap: 0.5 }))).toBe(-0.5);
});

test('of an equity that is given, the size by risk is an amount', () => {
  expect(riskShare({ risk: 0.01, stop: 95, price: 100, equity: 1000 }).amount).toBeCloseTo(200, 9);
});

test('a share by volatility has the target volatility', () => {
  // 1 % an hour is 93.6 % a year.
  const { share } = volatilityShare({ target: 0.2, deviation: 0.01, interval: '60min' });
  expect(share).toBeCloseTo(0.2 / (0.01 * Math.sqrt(24 * 365)), 12);
  expect(shareOf(volatilityShare({ target: 0.2, deviation: 0.05, interval: '1month' }))).toBe(1);
  expect(shareOf(volatilityShare({ target: 0.2, deviation: 0.2, interval: '1month' }))).toBeCloseTo(
    0.2 / (0.2 * Math.sqrt(12)),
    12,
  );
});

test('a market that did not move gets the largest share', () => {
  expect(shareOf(volatilityShare({ target: 0.2, deviation: 0, interval: '1day' }))).toBe(1);
  expect(shareOf(volatilityShare({ target: 0.2, deviation: 1e-12, interval: '1day', cap: 2 }))).toBe(2);
});

test("Kelly's share is the edge over the payoff, at cap the cap and never below zero", () => {
  expect(shareOf(kellyShare({ winRate: 0.55, payoff: 1 }))).toBeCloseTo(0.1, 12);
  expect(shareOf(kellyShare({ winRate: 0.4, payoff: 2 }))).toBeCloseTo(0.1, 12);
  expect(shareOf(kellyShare({ winRate: 0.9, payoff: 3 }))).toBe(0.25);
  expect(shareOf(kellyShare({ winRate: 0.9, payoff: 3, cap: 0.1 }))).toBe(0.1);
  expect(shareOf(kellyShare({ winRate: 0.4, payoff: 1 }))).toBe(0);
});

test.each([
  [
    () => riskShare({ risk: Number.NaN, stop: 95, price: 100 }),
    'riskShare() with risk NaN: it must be a number above 0',
  ],
  [() => riskShare({ risk: 5, stop: 95, price: 100 }), 'risk 5: it must be a fraction of the equity: 0.01 is 1 %'],
  [() => riskShare({ risk: 0.01, stop: 100, price: 100 }), 'stop 100: it must be another price than that of the entry'],
  [() => riskShare({ risk: 0.01, stop: Number.NaN, price: 100 }), 'stop NaN'],
  [() => riskShare({ risk: 0.01, stop: 95, price: 0 }), 'price 0'],
  [() => riskShare({ risk: 0.01, stop: 95, price: 100, equity: -3 }), 'equity -3'],
  [() => riskShare({ risk: 0.01, stop: 95, price: 100, cap: 0 }), 'cap 0'],
  [() => riskShare({ risk: 0.01, stop: 95, price: 100, most: 1 } as never), 'the unknown option most'],
  [() => volatilityShare({ target: 0.2, deviation: Number.NaN, interval: '1day' }), 'deviation NaN'],
  [() => volatilityShare({ target: 0.2, deviation: -1, interval: '1day' }), 'deviation -1'],
  [() => volatilityShare({ target: 0, deviation: 0.01, interval: '1day' }), 'target 0'],
  [() => volatilityShare({ target: 1, deviation: 0.01, interval: '7min' as Interval }), 'interval 7min'],
  [() => kellyShare({ winRate: 55, payoff: 1 }), 'winRate 55: it must be a number from 0 to 1'],
  [() => kellyShare({ winRate: Number.NaN, payoff: 1 }), 'winRate NaN'],
  [() => kellyShare({ winRate: 0.5, payoff: 0 }), 'payoff 0'],
])('an impossible number is named: %#', (size, message) => {
  expect(size).toThrow(SignalError);
  expect(size).toThrow(message);
});
