/** Klines that open outside their own range, as recordings have them: orders and stops meet such an open, too. */
import { describe, expect, test } from 'vitest';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import type { Signal } from '../reference/types.ts';
import { byColumns, byReference, byStream, caseOfXz, columnsOf, scripted } from './agreement.ts';

const quiet = [100, 100.5, 99.5, 100] as const;
const cases: readonly (readonly [about: string, signal: Signal, odd: readonly [number, number, number, number]])[] = [
  ['a stop above such an open', { quantity: '1', stop: '95' }, [90, 101, 99, 100]],
  ['a trailing stop above it', { quantity: '1', trailing: '0.05' }, [90, 101, 99, 100]],
  ['a trailing stop far below it', { quantity: '1', trailing: '0.05' }, [110, 101, 99, 100]],
  ['a trailing stop a little below it', { quantity: '1', trailing: '0.05' }, [101.5, 101, 99.5, 100]],
  ['a take-profit below it', { quantity: '1', takeProfit: '105' }, [108, 101, 99, 100]],
  ['a LIMIT order above it', { quantity: '1', limit: '95' }, [90, 101, 99, 100]],
];

describe.each(rulesetNames)('under %s', (rules) => {
  test.each(cases)('%s', async (_, signal, odd) => {
    const many = (count: number) => Array.from({ length: count }, () => quiet);
    const klines = [...many(30), odd, ...many(20), [96.2, 97, 96.2, 97] as const, ...many(9)];
    const columns = columnsOf(
      klines.map(([open, high, low, close], row) => ({ time: row * 60_000, open, high, low, close, volume: 100_000 })),
    );
    const strategy = scripted(klines.map(() => signal));
    const given = caseOfXz({ columns, rules, cash: '10000', strategy, fees: { maker: '0', taker: '0' } });
    const expected = byReference(given, { kind: 'script', signal: () => signal });
    expect(byColumns(given)).toEqual(expected);
    expect(await byStream(given)).toEqual(expected);
  });
});
