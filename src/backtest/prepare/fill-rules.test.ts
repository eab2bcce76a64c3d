import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backtestSchema } from '../../config/schema.ts';
import { aboutRules, aboutTape, rulesets } from '../../fill/rules.ts';
import { rulesetNames } from '../../fill/ruleset-names.ts';
import { rulesOf, rulesText } from './fill-rules.ts';

const fixed = {
  strategies: [{ id: 'm', use: 'maker', symbol: 'BTCUSDT', interval: '1min' }],
  risk: { maxOrderValue: '1', maxPosition: '1' },
  cash: '1',
};
const rules = (fills: object, dir = '.') => rulesOf(dir, backtestSchema.parse({ ...fixed, fills }));

test('a configuration can name every ruleset, and the result says what it assumes', () => {
  expect(backtestSchema.shape.rules.unwrap().options).toEqual([...rulesetNames]);
  for (const name of rulesetNames) {
    const config = backtestSchema.parse({ ...fixed, rules: name });
    expect(rulesOf('.', config)).toEqual(rulesets[name]);
    expect(rulesText(config)).toBe(aboutRules[name]);
  }
});

test('what the configuration changes of a ruleset is said beside it', () => {
  const config = backtestSchema.parse({
    ...fixed,
    rules: 'plain',
    fills: { halfSpread: '0.001', worseOfOpenAndClose: true },
  });
  expect(rulesText(config)).toBe(`${aboutRules.plain}; but halfSpread 0.001, worseOfOpenAndClose true`);
});

test('positions on margin are not closed at the end, and that is said', () => {
  expect(rules({ closeAtEnd: true }).closeAtEnd).toBe(true);
  const config = backtestSchema.parse({ ...fixed, fills: { closeAtEnd: true } });
  expect(() => rulesOf('.', { ...config, account: 'margin' })).toThrow('fills.closeAtEnd: not supported on margin');
});

test('what is not named stays as the ruleset has it', () => {
  expect(rules({})).toEqual(rulesets.sluice);
});

test('what is named takes its place', () => {
  const given = {
    slippage: '0.001',
    penetrationTicks: 3,
    pollMs: 500,
    queue: 'power',
    queueExponent: 3,
    impact: 'squareRoot',
  };
  expect(rules(given)).toEqual({
    ...rulesets.sluice,
    slippage: 100_000n,
    penetrationTicks: 3n,
    pollMs: 500,
    queue: { kind: 'power', n: 3 },
    impact: { kind: 'squareRoot', y: 1, from: 0.001 },
  });
});

test('runs by trades and books are described by what filled their orders', () => {
  const config = backtestSchema.parse(fixed);
  const tape = rulesText(config, ['trade-next', 'depth-walk']);
  expect(tape).toBe(`by depth: ${aboutTape.books} | by trades: ${aboutTape.trades}`);
  expect(rulesText(config, ['trade-through', 'kline-open'])).toBe(
    `by trades: ${aboutTape.trades} | by klines: ${aboutRules.sluice}`,
  );
  expect(rulesText(config, ['kline-open'])).toBe(aboutRules.sluice);
});

test('large orders move their price under sluice alone, unless that is changed', () => {
  const impactOf = (name: 'sluice' | 'plain', fills: object = {}) =>
    rulesOf('.', backtestSchema.parse({ ...fixed, rules: name, fills })).impact?.kind;
  expect([impactOf('sluice'), impactOf('sluice', { impact: 'none' })]).toEqual(['squareRoot', undefined]);
  expect([impactOf('plain'), impactOf('plain', { impact: 'squareRoot' })]).toEqual([undefined, 'squareRoot']);
});

test('latencies are read from a file, which has to be sorted', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-latencies-'));
  const header = 'time_ms,entry_ms,response_ms';
  writeFileSync(join(dir, 'good.csv'), `${header}\n10,100,50\n20,120,60\n`);
  writeFileSync(join(dir, 'bad.csv'), `${header}\n20,100,50\n10,120,60\n`);
  expect(rules({ latencies: 'good.csv' }, dir).latency).toEqual({
    kind: 'recorded',
    rows: [
      { time: 10, entryMs: 100, responseMs: 50 },
      { time: 20, entryMs: 120, responseMs: 60 },
    ],
  });
  expect(() => rules({ latencies: 'bad.csv' }, dir)).toThrow('bad.csv, line 3: it is earlier than the line before');
});
