/** A backtest that traded nothing says why, where that can be known. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { check } from '../../src/commands/check/command.ts';
import { backtestHere, backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
beforeAll(() => {
  at.write('klines.csv', `${klineLines(240).join('\n')}\n`);
  at.write('b.yaml', backtestYaml.replace('use: sma-cross', 'use: ./own.ts').replace(/ {4}params: .*\n/, ''));
});
afterAll(() => at.remove());

/** An indicator of one value. */
const always = (value: string): string =>
  `{ warmup: 1, column: (k) => new Float64Array(k.openTime.length).fill(${value}), stream: () => () => ${value} }`;
const mine = `{ mine: ${always('NaN')}, other: ${always('1')} }`;
const size = (quantity: number, more = ''): string =>
  `({ kind: 'target', size: { quantity: ${quantity} }, reason: ''${more} })`;
let files = 0;

/** The reasons that a backtest gives of a strategy. */
async function reasons(indicators: string, says: string, ...set: readonly string[]): Promise<readonly string[]> {
  // Each by a name of its own: a file is loaded once.
  const name = `own-${files++}.ts`;
  at.write(
    name,
    `export default { name: 'own', about: '', params: {}, indicators: () => (${indicators}), decide: () => ${says} };`,
  );
  const { out, refusal } = await backtestHere(`${at.dir}/b.yaml`, {
    set: [`strategies.0.use=./${name}`, ...set],
    json: true,
  });
  expect(refusal?.message).toBeUndefined();
  return (JSON.parse(out) as { verdict: { reasons: readonly string[] } }).verdict.reasons;
}

const nothing = 'nothing was traded';

test.each(['plain', 'sluice'])('what was never asked, or never signalled, is named: rules %s', async (name) => {
  const rules = `rules=${name}`;
  expect(await reasons(mine, size(1), rules)).toEqual([
    nothing,
    'trend: decide was never called: its indicator mine had no value at any kline of the run',
  ]);
  expect(await reasons('{}', 'null', rules)).toEqual([nothing, 'trend emitted no signal']);
  expect(await reasons('{}', size(0), rules)).toEqual([nothing, 'trend emitted only flat targets']);
  const none = "({ kind: 'quotes', quotes: [], reason: '' })";
  expect(await reasons('{}', none, rules)).toEqual([nothing, 'trend emitted only flat targets']);
  expect(await reasons('{}', size(1), rules, 'risk.maxOrderValue=1')).toEqual([
    nothing,
    '1 of 1 entry denied (orderValue 1)',
  ]);
  expect(await reasons('{}', size(1, ', limit: 1'), rules)).toEqual([
    nothing,
    'the one LIMIT order of trend never filled',
  ]);
});

test('the same over larger klines than those that are recorded', async () => {
  const set = ['strategies.0.interval=60min', 'dataIntervals.XBTUSD=1min'];
  expect(await reasons(mine, size(1), ...set)).toEqual([
    nothing,
    'trend: decide was never called: its indicator mine had no value at any kline of the run',
  ]);
  expect(await reasons(`{ one: ${always('1')} }`, 'undefined', ...set)).toEqual([nothing, 'trend emitted no signal']);
});

test('a check says that it was never asked, too', async () => {
  at.write(
    'none.ts',
    `export default { name: 'none', about: '', params: {}, indicators: () => (${mine}), decide: () => ${size(1)} };`,
  );
  const lines: string[] = [];
  const ended = check({
    ...{ strategy: join(at.dir, 'none.ts'), set: [], json: false },
    ...{ out: (line: string) => lines.push(line), say: () => {} },
  });
  await expect(ended).rejects.toMatchObject({
    exitCode: 1,
    message:
      'none: decide was never called: its indicator mine had no value at any kline of the run: nothing was proven',
  });
  expect(lines.join('\n')).toContain(
    'n/a  (decide was never called: its indicator mine had no value at any kline of the run',
  );
});
