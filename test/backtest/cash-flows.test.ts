/** Money paid in or out of a backtest: the same rows thrice, and neither a gain nor a loss. */

import { describe, expect, test } from 'vitest';
import { cashFlowsOf } from '../../src/backtest/engine/cash-flows.ts';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { equityInput } from '../../src/backtest/result/summary.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { Decimal, rate, type Units, units, unitsText } from '../../src/domain/money.ts';
import { walkEquity } from '../../src/research/equity-walk.ts';
import { fillTable } from '../../src/research/fill-table.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { hold } from '../../src/strategy/signals.ts';
import type { Configured } from '../../src/trading/strategies.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { tradeColumns } from '../kit/tape-columns.ts';
import { generated } from '../reference/generated.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  joined,
  rowsOfEach,
  runStreams,
  scripted,
  xz,
} from './agreement.ts';

const minuteMs = 60_000;
const seed = fc.integer({ min: 1, max: 2 ** 31 });
const amounts = fc.constantFrom('5000', '400', '-300', '-900', '-100000', '1');
const flows = fc
  .array(fc.record({ time: fc.integer({ min: 0, max: 199 * minuteMs }), amount: amounts }), { maxLength: 8 })
  .map((list) => list.toSorted((a, b) => a.time - b.time));

const caseOf = (given: Partial<Case> & Pick<Case, 'columns' | 'strategy'>): Case =>
  caseOfXz({ rules: 'plain', cash: '1000', ...given });

test.each(['plain', 'sluice'] as const)(
  'with little cash, deposits and withdrawals decide what is bought, thrice (%s)',
  async (rules) => {
    let [moved, otherwise] = [0, 0];
    await fc.assert(
      fc.asyncProperty(seed, flows, async (from, list) => {
        const { klines, signals } = generated(from, 200);
        const given = caseOf({ columns: columnsOf(klines), strategy: scripted(signals), rules, flows: list });
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        const rows = byColumns(given);
        expect(rows).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
        moved += list.length;
        const { flows: _, ...without } = given;
        if (byColumns(without).fills.length !== rows.fills.length) otherwise++;
      }),
      { numRuns: 60 },
    );
    expect(moved).toBeGreaterThan(100);
    expect(otherwise).toBeGreaterThan(10);
  },
);

test('shared by strategies on two symbols it gives the same rows by columns and by streams', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(seed, seed, flows, async (seedX, seedY, list) => {
      const [x, y] = [seedX, seedY].map((from, index) => {
        const { klines, signals } = generated(from, 200);
        const lengthMs = index === 0 ? minuteMs : 5 * minuteMs;
        const columns = columnsOf(klines.map((kline, row) => ({ ...kline, time: row * lengthMs })));
        const symbol = index === 0 ? 'XZ' : 'YZ';
        return inputOf({
          ...caseOf({ columns, strategy: scripted(signals, lengthMs), rules: 'sluice' }),
          ...{ symbol, interval: index === 0 ? '1min' : '5min' },
          instrument: { ...xz, base: symbol[0] ?? '' },
        });
      }) as [RunInput, RunInput];
      const half = (text: string): Units => units(new Decimal(text).div(2).toFixed());
      const both: RunInput = {
        ...joined(x, y),
        cashFlows: list.map(({ time, amount }, index) => ({
          ...{ time, asset: 'Z', amount: units(amount), reason: String(index) },
          shares: ['xz', 'yz'].map((id) => ({ strategy: id, symbol: id.toUpperCase(), amount: half(amount) })),
        })),
      };
      const [columns, streams] = [runNow(both), await runStreams(both)];
      expect(streams.cashFlows).toEqual(columns.cashFlows);
      expect(streams.finalEquity).toBe(columns.finalEquity);
      expect(rowsOfEach(streams, ['%', 'xz', 'yz'])).toEqual(rowsOfEach(columns, ['%', 'xz', 'yz']));
      refused += columns.cashFlows?.filter((flow) => flow.refused !== undefined).length ?? 0;
    }),
    { numRuns: 40 },
  );
  expect(refused).toBeGreaterThan(10);
});

describe('whom a flow of a configuration concerns', () => {
  const configured = (id: string, allocation?: string) =>
    ({
      config: { id, symbol: 'XZ', ...(allocation !== undefined && { allocation: units(allocation) }) },
    }) as Configured;
  const flow = (strategy?: string) => ({
    ...({ time: 1, currency: 'Z', amount: units('10'), kind: 'withdrawal', reason: 'r' } as const),
    ...(strategy !== undefined && { strategy }),
  });
  const shares = (list: readonly Configured[], strategy?: string) =>
    cashFlowsOf('b.yaml', { cashFlows: [flow(strategy)] }, new Map([['Z', list]])).map((one) =>
      one.shares.map((share) => [share.strategy, unitsText(share.amount)]),
    );

  test('is who is named, or those that share the cash, to the last unit, or nobody', () => {
    const [a, b, c, d] = [configured('a'), configured('b'), configured('c'), configured('d', '5')];
    expect(shares([a, d], 'd')).toEqual([[['d', '-10']]]);
    expect(shares([a, d])).toEqual([[['a', '-10']]]);
    expect(shares([d])).toEqual([[]]);
    const [[first, second, third] = []] = shares([a, b, c]);
    expect(Decimal.sum(first?.[1] ?? 0, second?.[1] ?? 0, third?.[1] ?? 0).toFixed()).toBe('-10');
    expect(() => shares([a], 'z')).toThrow('b.yaml: cashFlows.0.strategy: no strategy z trades against Z; there is a');
  });
});

const idle = defineStrategy({
  name: 'idle',
  about: 'Holds half of what it began with',
  params: {},
  indicators: () => ({}),
  decide: () => hold({ quantity: 5 }, 'always'),
});

const flat = columnsOf(
  Array.from({ length: 20 }, (_, row) => ({
    ...{ time: row * minuteMs, open: 100, high: 100, low: 100, close: 100, volume: 1_000 },
  })),
);
const paid = (amount: string, minute: number) => ({ time: minute * minuteMs, amount });

describe('a flow', () => {
  const free = { fees: { maker: '0', taker: '0' } };

  test('is no profit: the curve of a price that stands still stands still', () => {
    const input = inputOf(caseOf({ columns: flat, strategy: idle, ...free, flows: [paid('500', 5), paid('-200', 9)] }));
    const result = runNow(input);
    expect(unitsText(result.finalEquity)).toBe('1300');
    const walked = walkEquity(equityInput(input, fillTable(result.fills, input.instruments), result.cashFlows));
    expect([...walked.chart.equity].every((equity) => Math.abs(equity - 1_000) < 1e-9)).toBe(true);
    expect(walked.drawdown.fall).toBeCloseTo(0, 12);
  });

  test('is taken out of returns by time: what came before it earns on what was there', () => {
    // Half of 1,000 is held; it doubles, 1,500 come in, it doubles again.
    const price = (row: number): number => (row < 5 ? 100 : row < 10 ? 200 : 400);
    const columns = columnsOf(
      Array.from({ length: 15 }, (_, row) => {
        const at = price(row);
        return { time: row * minuteMs, open: at, high: at, low: at, close: at, volume: 1_000 };
      }),
    );
    const input = inputOf(caseOf({ columns, strategy: idle, ...free, flows: [paid('1500', 7)] }));
    const result = runNow(input);
    expect(unitsText(result.finalEquity)).toBe('4000');
    const walked = walkEquity(equityInput(input, fillTable(result.fills, input.instruments), result.cashFlows));
    // 1,500 of 1,000, then 4,000 of 3,000.
    expect(walked.days.equity.at(-1)).toBeCloseTo(1_000 * 1.5 * (4 / 3), 9);
    expect(walked.scales).toEqual([{ from: 7 * minuteMs, scale: 0.5 }]);
  });

  test('of more than is free is refused with the sum, and nothing is sold for it', () => {
    const flow = inputOf(caseOf({ columns: flat, strategy: idle, ...free, flows: [paid('-501', 5)] }));
    const { cashFlows, finalEquity } = runNow(flow);
    expect(cashFlows).toMatchObject([{ at: 5 * minuteMs, refused: '501 Z is more than s has free, 500' }]);
    expect(unitsText(finalEquity)).toBe('1000');
  });

  test('counts from the first close at or after its time, never sooner', () => {
    const at = (minute: number): number | undefined =>
      runNow(inputOf(caseOf({ columns: flat, strategy: idle, flows: [paid('1', minute)] }))).cashFlows?.[0]?.at;
    expect([at(3), at(3.5), at(0)]).toEqual([3, 4, 1].map((minute) => minute * minuteMs));
  });

  test('paid out is no loss of the day, and a loss after it is measured by what is left', async () => {
    const falling = columnsOf(
      Array.from({ length: 20 }, (_, row) => {
        const price = row < 12 ? 100 : 90;
        return { time: row * minuteMs, open: price, high: price, low: price, close: price, volume: 1_000 };
      }),
    );
    const killedBy = async (list: Case['flows'], maxDailyLoss: string): Promise<readonly string[]> => {
      const given = inputOf(caseOf({ columns: falling, strategy: idle, ...free, ...(list && { flows: list }) }));
      const input: RunInput = { ...given, limits: { ...given.limits, maxDailyLoss: rate(maxDailyLoss) } };
      const { kills } = runNow(input);
      expect((await runStreams(input)).kills).toEqual(kills);
      return kills;
    };
    expect(await killedBy([paid('-400', 5)], '0.09')).toEqual([]);
    expect(await killedBy([paid('-400', 5)], '0.08')).toEqual(['lost 50 since midnight UTC, the limit is 48']);
    expect(await killedBy(undefined, '0.08')).toEqual([]);
  });

  test('counts at its own moment where trades speak', async () => {
    const trades = tradeColumns(
      Array.from({ length: 1_200 }, (_, at) => {
        const time = at * 1_000;
        return {
          symbol: 'XZ',
          time,
          seenAt: time,
          side: at % 2 === 0 ? 'BUY' : 'SELL',
          price: 100,
          quantity: 5,
        } as const;
      }),
    );
    const input = inputOf(
      caseOf({ columns: flat, strategy: idle, ...free, flows: [paid('500', 5.5), paid('-900000', 9)] }),
    );
    const tapes = new Map([['XZ', { trades, gaps: [] }]]);
    const { cashFlows, finalEquity } = await runTape({ ...input, tapes });
    expect(cashFlows).toMatchObject([
      { at: 5.5 * minuteMs, refused: undefined },
      { at: 9 * minuteMs, refused: '900000 Z is more than s has free, 1000' },
    ]);
    expect(unitsText(finalEquity)).toBe('1500');
  });

  test('is written into the journal, and its money stays whole', () => {
    const result = runNow(inputOf(caseOf({ columns: flat, strategy: idle, flows: [paid('7.5', 5)] })));
    const db = result.journal();
    expect(db.prepare('SELECT at, asset, amount, by, reason FROM adjustments').all()).toEqual([
      { at: 5 * minuteMs, asset: 'Z', amount: '7.5', by: 'configuration', reason: 'test' },
    ]);
    db.close();
    expect(result.finalEquity).toBe(units('1006.5'));
  });
});
