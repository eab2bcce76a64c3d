/** Margin in backtests: what may be borrowed, what that costs, and when the exchange leaves a position; equal to the slow reference. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { intervalMs } from '../src/domain/interval.ts';
import { byReference, byStream, type Case, columnsOf, scripted } from './agreement.ts';
import { generated, oftenShort } from './reference/generated.ts';
import type { Kline, Margin, Want } from './reference/types.ts';

const margin: Margin = {
  maxLeverage: '4.5',
  maintenanceRatio: '0.2',
  liquidationFee: '0.01',
  interest: { base: '0.0002', quote: '0.0001' },
  interestEveryMs: 3_600_000,
};

export const caseOf = (klines: readonly Kline[], wants: readonly Want[], more: Partial<Case> = {}): Case => {
  const interval = more.interval ?? '1min';
  const lengthMs = intervalMs(interval, 0);
  return {
    symbol: 'XZ',
    interval,
    instrument: {
      base: 'X',
      quote: 'Z',
      pricePrecision: 2,
      quantityPrecision: 4,
      minQuantity: '0.001',
      minNotional: '1',
    },
    columns: columnsOf(klines.map((kline, row) => ({ ...kline, time: row * lengthMs }))),
    rules: 'sluice',
    fees: { maker: '0.001', taker: '0.002' },
    cash: '1000',
    strategy: scripted(wants, lengthMs),
    params: {},
    margin,
    ...more,
  };
};

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const lengths = fc.constantFrom<Case['interval']>('1min', '15min', '60min', '1day');

describe.for(['plain', 'sluice', 'backtesting.py', 'tradingview'] as const)('under %s', (rules) => {
  test('generated klines and wants, long and short, give the same rows and charges as the reference', async () => {
    const seen = { liquidation: 0, interest: 0, short: 0, ambiguous: 0 };
    await fc.assert(
      fc.asyncProperty(
        seeds,
        lengths,
        fc.constantFrom('300', '700', '2000'),
        fc.boolean(),
        async (seed, interval, cash, isLong) => {
          const world = generated(seed, 200);
          const wants = isLong ? world.wants : oftenShort(world.wants);
          const given = caseOf(world.klines, wants, { rules, interval, cash });
          const expected = byReference(given, { kind: 'script', want: (row) => wants[row] });
          expect(await byStream(given)).toEqual(expected);
          for (const { kind } of expected.charges ?? []) seen[kind === 'interest' ? 'interest' : 'liquidation']++;
          seen.ambiguous += expected.ambiguousKlines;
          if (!isLong) seen.short += expected.fills.length;
        },
      ),
      { numRuns: 60 },
    );
    expect(Object.entries(seen).filter(([, count]) => count < 5)).toEqual([]);
  });
});
