import { expect, test } from 'vitest';
import { btc } from '../../../test/kit/builders.ts';
import { axisNames, parameterSets, readAxes } from '../../backtest/search/axes.ts';
import { findIn } from '../../backtest/search/grid-result.ts';
import { type ObjectiveName, objectiveOf } from '../../backtest/search/objective.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import { choice, decimal, integer } from '../../strategy/params.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { gridCsv, gridLines } from './show.ts';

const strategy = defineStrategy({
  ...{ name: 'own', about: 'test' },
  params: {
    fast: integer(5, { min: 1, max: 99 }, 'klines'),
    share: decimal(1, { min: 0, max: 1 }, 'share'),
    mode: choice('x', ['x', 'y', 'z'], 'mode'),
  },
  indicators: () => ({}),
  decide: () => undefined,
});
const hosted = ['a', 'b'].map(
  (id): NamedHosted => ({
    ...{ id, use: 'own', strategy, symbol: btc.symbol, interval: '1min', params: {}, instrument: btc },
  }),
);

const objective = objectiveOf('return');
const ran = {
  ...{ finalEquity: '1', return: 0, maxDrawdown: 0, sharpe: null, sortino: null, calmar: null },
  ...{ fills: 60, roundTrips: 30, fees: '0' },
  ...{ kills: [], returns: null },
};

test('a parameter that two strategies have goes by both names, everywhere', () => {
  const axes = readAxes(['a.fast=5,7', 'b.fast=4', 'a.share=0.5'], hosted);
  expect(axisNames(axes)).toEqual(['a.fast', 'b.fast', 'a.share']);
  const result = {
    ...{ objective, axes, sets: [[5, 4, 0.5]], outcomes: [ran], tries: 1, asset: 'USDT', klines: 9, doubt: undefined },
  };
  expect(gridCsv(result)).toMatch(/^a\.fast,b\.fast,a\.share,finalEquity,/);
  expect(gridLines(result).join('\n')).toMatch(/Best parameter set +a\.fast 5, b\.fast 4, a\.share 0\.5: /);
  expect(axisNames(readAxes(['a.fast=5,7'], hosted))).toEqual(['a.fast']);
  expect(axisNames(readAxes(['fast=5,7'], hosted.slice(0, 1)))).toEqual(['fast']);
  expect(() => readAxes(['a.fast=5', 'a.fast=6'], hosted)).toThrow(/^--grid a\.fast is given twice: .* a\.fast=5,10/);
});

test('a plateau is of numbers that lie side by side, however they were typed, and never of words', () => {
  const found = (text: string) => {
    const axes = readAxes([text], hosted);
    return findIn({ objective, axes, outcomes: [ran, ran, ran] }).plateau;
  };
  expect(readAxes(['a.fast=5,19,6'], hosted)[0]?.values).toEqual([5, 6, 19]);
  expect(found('a.fast=5,19,6')?.centre).toBe(1);
  expect(readAxes(['a.mode=z,x,y'], hosted)[0]?.values).toEqual(['z', 'x', 'y']);
  expect(found('a.mode=z,x,y')).toBeUndefined();
});

test('there is no plateau of two values, and no place of the heat map is called its middle', () => {
  const shownFor = (text: string) => {
    const axes = readAxes([text], hosted);
    const of = {
      ...{ objective, axes, sets: parameterSets(axes), tries: 2, asset: 'USDT', klines: 9, doubt: undefined },
    };
    const outcomes = of.sets.map((_, index) => ({ ...ran, return: index / 10 }));
    return gridLines({ ...of, outcomes }).join('\n');
  };
  expect(shownFor('a.fast=24,72')).toMatch(
    /Best plateau +n\/a {2}\(needs three numeric values on each axis, all of them run\)\n/,
  );
  expect(shownFor('a.fast=24,72')).not.toContain('◇◇');
  expect(shownFor('a.fast=24,48,72')).toMatch(/Best plateau +around a\.fast 48: 3 parameter sets/);
  expect(shownFor('a.fast=24,48,72')).toContain('◇◇ middle of the best plateau');
  expect(shownFor('a.mode=z,x')).toMatch(/Best plateau +n\/a {2}\(not defined on an axis of words\)\n/);
});

test('a parameter set of few round trips is listed, and never the best or part of a plateau', () => {
  const axes = readAxes(['a.fast=24,48,72,96'], hosted);
  const of = {
    ...{ objective, axes, sets: parameterSets(axes), tries: 4, asset: 'USDT', klines: 9, doubt: undefined },
  };
  const outcomes = [30, 29, 30, 0].map((roundTrips, index) => ({ ...ran, roundTrips, return: index / 10 }));
  const text = gridLines({ ...of, outcomes }).join('\n');
  expect(text).toMatch(/^Not ranked +2 of 4 parameter sets closed fewer than 30 round trips: too few to rank$/m);
  expect(text).toMatch(/^Best parameter set +a\.fast 72: /m);
  expect(text).toMatch(/^Best plateau +n\/a /m);
  expect(text.match(/^ +(?:24|48|72|96) .*/gm)?.map((row) => row.trim().replaceAll(/ {2,}/g, ' '))).toEqual([
    '72 1 20.00 % 0.00 % n/a 60 30',
    '24 1 0.00 % 0.00 % n/a 60 30',
    '96 1 30.00 % 0.00 % n/a 60 0, not ranked',
    '48 1 10.00 % 0.00 % n/a 60 29, not ranked',
  ]);
  expect(gridCsv({ ...of, outcomes })).toMatch(
    /^a?\.?fast,.*,fills,roundTrips,fees,ranked,kills,refused\n24,.*,true,,\n48,.*,false,,\n/,
  );
});

test('a grid whose parameter sets all have few round trips has no best one, and says why', () => {
  const axes = readAxes(['a.fast=24,48'], hosted);
  const of = {
    ...{ objective, axes, sets: parameterSets(axes), tries: 2, asset: 'USDT', klines: 9, doubt: undefined },
  };
  const outcomes = of.sets.map((_, index) => ({ ...ran, roundTrips: 3, return: index / 10 }));
  expect(findIn({ objective, axes, outcomes })).toMatchObject({ best: undefined, plateau: undefined });
  const text = gridLines({ ...of, outcomes }).join('\n');
  expect(text).toMatch(
    /^Not ranked +no parameter set closed 30 round trips, so there is no best one\nBest parameter set +none$/m,
  );
  expect(text).toMatch(/ 3, not ranked$/);
});

test('a range without a step that never comes to its end is refused', () => {
  expect(() => readAxes(['a.share=0.1..0.5'], hosted)).toThrow(
    '--grid a.share=0.1..0.5: "0.1..0.5" has steps of 1 and never reaches 0.5: give a step, such as 0.1..0.5:0.1',
  );
  const values = (text: string) => readAxes([text], hosted)[0]?.values;
  expect(values('a.share=0.1..0.5:0.2')).toEqual([0.1, 0.3, 0.5]);
  expect(values(`a.share=0.5${'0'.repeat(120)}`)).toEqual([0.5]);
  expect(values('a.fast=5..7')).toEqual([5, 6, 7]);
  expect(values('a.share=0.3..2.3')).toEqual([0.3, 1.3, 2.3]);
});

test('the table says of how many sets it shows the first', () => {
  const axes = readAxes(['a.fast=24..35'], hosted);
  const of = { ...{ axes, sets: parameterSets(axes), tries: 12, asset: 'USDT', klines: 9, doubt: undefined } };
  const lines = (count: number): string =>
    gridLines({ ...of, objective: objectiveOf('return'), outcomes: Array.from({ length: count }, () => ran) }).join(
      '\n',
    );
  expect(lines(12)).toContain('The first 10 of 12.');
  expect(lines(10)).not.toContain('The first');
});

test('an objective ranks, chooses the best one and its plateau, and is printed beside the return', () => {
  const axes = readAxes(['a.fast=24,48,72,96'], hosted);
  const of = { ...{ axes, sets: parameterSets(axes), tries: 4, asset: 'USDT', klines: 9, doubt: undefined } };
  const outcomes = [0.4, 0.1, 0.2, 0.3].map((loss, index) => ({
    ...ran,
    return: index / 10,
    maxDrawdown: loss,
    sharpe: 1 - index,
  }));
  const shown = (name: ObjectiveName): string =>
    gridLines({ ...of, objective: objectiveOf(name), outcomes }).join('\n');
  expect(shown('return')).toMatch(/^Best parameter set +a?\.?fast 96: .*\n +return 30.00 %; best of 4/m);
  expect(shown('maxDrawdown')).toMatch(
    /^Best parameter set +a?\.?fast 48: .*\n +Max drawdown -10.00 %, return 10.00 %; best of 4/m,
  );
  expect(shown('maxDrawdown')).toMatch(/^Best plateau +around a?\.?fast 72: 3 .*, Max drawdown -20.00 % on average/m);
  expect(shown('sharpe')).toMatch(/^Best parameter set +a?\.?fast 24: .*\n +Sharpe ratio 1.00, return 0.00 %/m);
  expect(shown('calmar')).toMatch(/^Best parameter set +none: no ranked one has the figure Calmar ratio/m);
});
