import { expect, test } from 'vitest';
import { rate, units, unitsText } from '../domain/money.ts';
import { doubled, maxRate, ratesOf, Turnover } from './fees.ts';
import { type Fees, feesFrom } from './rules.ts';

const day = 86_400_000;
const of = (maker: string, taker: string) => ({ maker: rate(maker), taker: rate(taker) });
const fees: Fees = {
  ...feesFrom(of('0.001', '0.002')),
  bySymbol: { CHEAP: of('0', '0.0001') },
  tiers: [
    { volume: units('1000'), ...of('0.0008', '0.001') },
    { volume: units('5000'), ...of('0.0005', '0.0009') },
  ],
};

test('rates fall with what was traded, and a symbol may have its own', () => {
  const taker = (symbol: string, traded: string) => ratesOf(fees, symbol, units(traded)).taker;
  expect(['999.99', '1000', '4999', '5000'].map((traded) => taker('ANY', traded))).toEqual(
    ['0.002', '0.001', '0.001', '0.0009'].map(rate),
  );
  expect(taker('CHEAP', '9999')).toBe(rate('0.0001'));
});

test('the highest rate of all is what funds are kept for', () => {
  expect(maxRate(fees)).toBe(rate('0.002'));
  expect(maxRate({ ...fees, bySymbol: { DEAR: of('0.003', '0.001') } })).toBe(rate('0.003'));
});

test('twice the fees are twice every rate', () => {
  const { maker, bySymbol, tiers } = doubled(fees);
  expect([maker, bySymbol?.['CHEAP']?.taker, tiers?.[1]?.maker]).toEqual(['0.002', '0.0002', '0.001'].map(rate));
});

test('the turnover is that of the 30 whole days before: neither today nor what is older counts', () => {
  const turnover = new Turnover();
  turnover.add(5, units('100'));
  turnover.add(day + 5, units('20'));
  turnover.add(day + 6, units('3'));
  const at = (time: number): string => unitsText(turnover.before(time));
  expect([at(day + 7), at(2 * day), at(30 * day), at(31 * day), at(32 * day)]).toEqual([
    '100',
    '123',
    '123',
    '23',
    '0',
  ]);
});
