import { expect, test } from 'vitest';
import { fastAndSlow, klines, severalInput } from '../../../test/kit/several-markets.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import { formula, sma } from '../../strategy/indicators.ts';
import { of } from '../../strategy/markets/joined-klines.ts';
import { indicatorsOf } from './report-indicators.ts';

const both = defineStrategy({
  ...{ name: 'both', about: 'test', params: {} },
  markets: { fast: 'traded', slow: 'traded' },
  indicators: () => ({
    mean: of('fast', sma('close', 2)),
    last: of('slow', 'close'),
    ratio: formula([of('fast', 'close'), of('slow', 'close')], (fast, slow) => fast / slow),
  }),
  decide: () => undefined,
});

test('each chart of a report has the indicators of its market, by its own klines', async () => {
  const input = await severalInput(both, fastAndSlow, {
    AAAUSD: klines([10, 20, 40, 80]),
    // The second minute has no kline.
    BBBUSD: klines([5, undefined, 4, 8]),
  });
  const shown = input.series.map((one) =>
    indicatorsOf(input, one).map(({ strategy, name, values }) => [strategy, name, [...values()]]),
  );
  expect(shown).toEqual([
    [
      ['one', 'mean', [Number.NaN, 15, 30, 60]],
      ['one', 'ratio', [2, Number.NaN, 10, 10]],
    ],
    [['one', 'last', [5, 4, 8]]],
  ]);
  expect(input.series.flatMap((one) => indicatorsOf(input, one, () => false))).toEqual([]);
});
