import { expect, test } from 'vitest';
import { rate, units } from '../../domain/money.ts';
import { feesFrom, rulesets } from '../../fill/rules.ts';
import { costsOf } from './summary.ts';

test('what is held is marked, and holding enters, by the rates of the symbol', () => {
  const flat = (text: string) => ({ maker: rate(text), taker: rate(text) });
  const fees = {
    ...feesFrom(flat('0.002')),
    bySymbol: { XZ: flat('0') },
    tiers: [
      { volume: units('0'), ...flat('0.001') },
      { volume: units('1000'), ...flat('0.0005') },
    ],
  };
  const rules = { ...rulesets.sluice, halfSpread: rate('0.01') };
  expect(costsOf({ rules, fees }, 'XZ')).toEqual({ long: 0.99, short: 1.01, entryFee: 0 });
  const { long, short, entryFee } = costsOf({ rules, fees }, 'YZ');
  expect([long, short, entryFee]).toEqual([0.99 * 0.999, expect.closeTo(1.01 * 1.001, 12), 0.001]);
  expect(costsOf({ rules: rulesets.plain, fees }, 'YZ')).toEqual({ long: 1, short: 1, entryFee: 0.001 });
});
