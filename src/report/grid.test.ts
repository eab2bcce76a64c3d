import { expect, test } from 'vitest';
import { type GridInput, gridText } from './grid.ts';

const set = (fast: number, slow: number, gain: number) => ({
  values: [String(fast), String(slow)],
  ran: {
    finalEquity: 1_000 * (1 + gain),
    return: gain,
    maxDrawdown: 0.1,
    sharpe: 10 * gain,
    fills: 80,
    roundTrips: 40,
    figure: gain,
  },
});
const given: GridInput = {
  title: 'Grid · <b>',
  objective: { title: 'Return', form: 'share' },
  asset: 'USDT',
  ...{ from: 0, to: 86_400_000, klines: 1_440, doubts: [['Overfit', 'PBO 0.44']], trials: 500 },
  axes: [
    { name: 'fast', values: ['2', '3'] },
    { name: 'slow', values: ['10', '20'] },
  ],
  sets: [set(2, 10, 0.05), set(2, 20, -0.02), set(3, 10, 0.12), { values: ['3', '20'] }],
  heat: [
    [0.05, -0.02],
    [0.12, undefined],
  ],
  best: 2,
  notRanked: undefined,
  warnings: ['XZ: 3 rows were left out'],
  plateau: undefined,
  provenance: [['Data of XZ', 'abc']],
  configuration: 'cash: "1"',
};

test('frames the best set, leaves a hole where none ran, and shows what chance would give', () => {
  const text = gridText(given);
  expect(text).toContain('<h1>Grid · &lt;b&gt;</h1>');
  expect([...text.matchAll(/<td class="([gr]\d[^"]*|none)"/g)].map(([, cls]) => cls)).toEqual([
    'g4',
    'r3',
    'g5 best',
    'none',
  ]);
  expect(text).toMatch(/The best of 500 trials/);
  expect(text).toMatch(/fast 3, slow 10/);
  // Ratios of 0.5, −0.2 and 1.2 lie 0.7 apart; the best of 500 without skill shows three of those.
  expect(text).toMatch(/Expected by chance<\/dt><dd>2\.1\d<\/dd>/);
  expect(text).toContain('<p class="stamp">XZ: 3 rows were left out</p>');
  expect(text).toContain('<b>Overfit</b> PBO 0.44.');
  expect(text).toContain('panel verdict warn');
  expect(text).not.toContain('<script');
});

test('says so where every set lost money', () => {
  const lost = given.sets.map(({ ran, ...one }) => ({ ...one, ...(ran && { ran: { ...ran, return: -0.1 } }) }));
  expect(gridText({ ...given, sets: lost })).toMatch(/verdict bad".*The best of 500 trials: every one lost money</);
  expect(gridText(given)).not.toContain('lost money');
});

test('says so where no set could be run', () => {
  const text = gridText({
    ...given,
    best: undefined,
    sets: given.sets.map(({ values }) => ({ values })),
    heat: [[undefined]],
  });
  expect(text).toContain('No parameter set was run');
});

test('marks sets of few round trips behind the ranked ones, and says so where all are', () => {
  const few = { values: ['3', '20'], ran: { ...set(3, 20, 0.5).ran, roundTrips: 29 } };
  const notRanked = 'one of 4 has too few';
  const text = gridText({ ...given, sets: [...given.sets.slice(0, 3), few], notRanked });
  expect(text).toContain('The best 3 of 4 parameter sets');
  expect(text).toContain(`<b>Not ranked</b> ${notRanked}.`);
  expect(text.indexOf('29, not ranked')).toBeGreaterThan(text.lastIndexOf('>40<'));
  const none = gridText({ ...given, sets: [few], heat: [[undefined]], best: undefined, notRanked });
  expect(none).toContain('No best parameter set');
  expect(none).toContain(`<b>Not ranked</b> ${notRanked}.`);
});

test('a grid of one set is no grid of 1 sets', () => {
  expect(gridText({ ...given, sets: given.sets.slice(0, 1), heat: [[0.05]], best: 0 })).toContain(
    'The best 1 of 1 parameter set<',
  );
});
