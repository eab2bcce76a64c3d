import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Strategy } from './contract.ts';
import { atr, ema, macd, rsi, sma } from './indicators.ts';
import { on } from './larger-klines.ts';
import { loadStrategy } from './load.ts';
import { integer } from './params.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-load-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** What is said of a strategy that nobody held to types; undefined where it is taken. */
async function faultOf(given: object): Promise<string | undefined> {
  const plain = { name: 'own', about: 'test', params: {}, indicators: () => ({}), decide: () => undefined };
  const strategy: Strategy = Object.assign(plain, given);
  const found = await loadStrategy('own', {}, { own: () => Promise.resolve({ default: strategy }) }, dir);
  return 'strategy' in found ? undefined : found[0]?.what;
}
const making = (indicator: () => unknown) => ({ indicators: () => ({ a: indicator() }) });
const any = <T>(value: unknown): T => value as T;

test.each<[string, object, RegExp]>([
  ['a warm-up that is a number', { warmup: 50 }, /own \(own\): warmup is 50: it must be a function .* \(\) => 50/],
  [
    'a warm-up that is no number',
    { warmup: () => Number.NaN },
    /warmup\(\) gives NaN: it must give a number of klines/,
  ],
  [
    'a warm-up that throws',
    {
      warmup: () => {
        throw new Error('w');
      },
    },
    /check\(\), warmup\(\) or indicators\(\) threw with these parameters: Error: w/,
  ],
  [
    'a source that there is not',
    making(() => sma(any('hlcc4'), 3)),
    /sma\('hlcc4', 3\): a kline has no hlcc4; .*, close, /,
  ],
  ['another', making(() => ema(any('closee'), 3)), /ema\('closee', 3\): a kline has no closee/],
  ['a period of nothing', making(() => sma('close', 0)), /sma\('close', 0\): the period must be a whole number/],
  ['half a kline', making(() => rsi('close', 2.5)), /rsi\('close', 2\.5\): the period must be a whole number/],
  ['no period', making(() => atr(Number.NaN)), /atr\(NaN\): the period must be a whole number/],
  [
    'an interval that there is not',
    making(() => on(any('4h'), sma('close', 3))),
    /unknown interval 4h .*did you mean "240min"/,
  ],
  [
    'an indicator that never says when it is warm',
    making(() => ({ ...sma('close', 3), warmup: Number.NaN })),
    /indicators\(\) gives a with a warmup of NaN/,
  ],
  [
    'lines of which one is none',
    making(() => any({ ...macd('close'), signal: 9 })),
    /indicators\(\) gives \{.*\} as a: it must be an indicator, .* or an object of them, such as macd\('close'\)/,
  ],
  ['an object without lines', making(() => any({})), /indicators\(\) gives \{\} as a: it must be an indicator/],
  [
    'a line that never says when it is warm',
    making(() => any({ line: { ...sma('close', 3), warmup: Number.NaN } })),
    /indicators\(\) gives a\.line with a warmup of NaN/,
  ],
  [
    'indicators that come later',
    { indicators: async () => ({}) },
    /indicators\(\) gives Promise .*: it must give an object/,
  ],
  ['a warm-up below zero', { warmup: () => -5 }, /warmup\(\) gives -5: it must give a number of klines/],
  ['a check that says true', { check: () => true }, /check\(\) gives true: it must give a text .*, or undefined/],
  [
    'a name with blanks',
    { name: 'BAD NAME' },
    /own: its name is 'BAD NAME': it must be lower case letters, digits and/,
  ],
  ['a name of nothing', { name: '' }, /own: its name is '': it must be/],
  [
    'a default out of its range',
    { params: { n: integer(10, { min: 1, max: 9 }, 'n') } },
    /^strategy own \(own\): the default of params\.n must lie between 1 and 9, not 10$/,
  ],
  [
    'a parameter without its text',
    { params: { n: integer(5, { min: 1, max: 9 }, any(undefined)) } },
    /params\.n lacks its description, the last argument/,
  ],
])('refuses %s before anything starts', async (_, given, message) => {
  expect(await faultOf(given)).toMatch(message);
});

test.each([
  [
    "indicator: () => ({}), decide: () => 1, params: {}, name: 'a'",
    'indicator is not a key of a strategy (did you mean "indicators"?)',
  ],
  [
    "indicators: () => ({}), decides: () => 1, params: {}, name: 'a'",
    'decides is not a key of a strategy (did you mean "decide"?)',
  ],
  ["signal: () => 1, params: {}, name: 'a'", 'signal is not a key of a strategy (did you mean "signals"?)'],
  ["params: {}, name: 'a'", 'has no strategy: it must end in'],
])('names the key that is misspelt: { %s }', async (keys, message) => {
  const file = join(dir, `${keys.length}.mjs`);
  writeFileSync(file, `export default { ${keys} };\n`);
  expect(await loadStrategy(file, {}, {}, dir)).toMatchObject([
    { path: ['use'], what: expect.stringContaining(message) },
  ]);
});

const whole = "name: 'a', about: '', params: {}, indicators: () => ({}), decide: () => undefined";
test.each([
  ['choose: () => undefined', 'it has decide and choose: a strategy has one of them'],
  ["rebalance: '1week'", 'rebalance belongs to choose; decide is called at each close'],
  ['onFill: () => 1', 'onFill is not a key of a strategy, and nothing calls it; it has name, about'],
])('refuses what would be passed over: %s', async (key, message) => {
  const file = join(dir, `over-${key.length}.mjs`);
  writeFileSync(file, `export default { ${whole}, ${key} };\n`);
  expect(await loadStrategy(file, {}, {}, dir)).toMatchObject([
    { path: ['use'], what: expect.stringContaining(message) },
  ]);
});

test('takes a strategy that needs nothing, and one whose indicator is warm from the first kline', async () => {
  expect(await faultOf({})).toBeUndefined();
  expect(await faultOf(making(() => ({ ...sma('close', 1), warmup: 0 })))).toBeUndefined();
});

test.each([
  ['./helpers', ": write the whole file name in its import, such as './helpers.ts'"],
  ['./gone.ts', ': check the path in its import'],
])('says what to do about an import of %s, which is not there', async (path, hint) => {
  const file = join(dir, `importing-${path.slice(2)}.mjs`);
  writeFileSync(file, `import '${path}';\n`);
  expect(await loadStrategy(file, {}, {}, dir)).toMatchObject([
    { path: ['use'], what: expect.stringMatching(new RegExp(`Cannot find module .*${hint}$`)) },
  ]);
});

test('names a file where a folder is given', async () => {
  expect(await loadStrategy('./', {}, {}, dir)).toMatchObject([
    { path: ['use'], what: `${dir} is a folder: name the file in it, such as ${join(dir, 'index.ts')}` },
  ]);
});
