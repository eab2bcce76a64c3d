/** The fast engine gives the rows of the engine over klines, of the live graph and of the slow reference, or gives up. */

import { describe, expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { fastRun } from '../../src/backtest/fast/run.ts';
import { summarise } from '../../src/backtest/result/summary.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { rate, units } from '../../src/domain/money.ts';
import { type Size, sameSize, sizeValue, type Target } from '../../src/domain/order.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { sma } from '../../src/strategy/indicators.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { fc } from '../kit/properties.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import type { Signal } from '../reference/types.ts';
import { byReference, type Case, caseOfXz, columnsOf, inputOf, rowsOf, runStreams, scripted } from './agreement.ts';
import { allOf } from './everything.ts';

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const sizes = fc.array(fc.constantFrom('0', '0', '1', '2', '2', '7.5', '0.0001', '-3'), {
  minLength: 200,
  maxLength: 200,
});

function caseOf(seed: number, strategy: Strategy, cash = '1000000'): Case {
  return caseOfXz({
    columns: columnsOf(generated(seed, 200).klines),
    rules: 'plain',
    fees: { maker: '0.001', taker: '0.00075' },
    cash,
    strategy,
  });
}

const shortly = (input: RunInput) => {
  const run = fastRun(input);
  return run?.advance(Number.POSITIVE_INFINITY) === 'done' ? run.result() : undefined;
};

const plainConfig = backtestSchema.parse({
  cash: '1',
  strategies: [{ id: 's', use: 'test', symbol: 'XZ', interval: '1min' }],
  risk: { maxOrderValue: '1', maxPosition: '1' },
});

/** Everything that a summary says, of a run by columns of numbers or by objects. */
const summaryOf = (input: RunInput, result: Parameters<typeof summarise>[1]) => {
  const config = { ...plainConfig, cash: input.cash };
  return summarise({ input, warnings: [], dataHashes: {} }, result, config).summary;
};

const minuteMs = 60_000;

/** A strategy that enters and leaves by chance, and whose exits come and go; the same by seed. */
function drawn(seed: number): RunInput {
  const rng = seededRng(seed);
  const oneOf = <T>(...of: readonly [T, ...T[]]): T => of[Math.floor(rng() * of.length)] ?? of[0];
  let target: Target | undefined;
  const exits = (close: number): Partial<Target> => ({
    ...(rng() < 0.5 && { stop: Math.round(close * oneOf(98, 99, 99.5, 100.2)) / 100 }),
    ...(rng() < 0.4 && { trailing: oneOf(0, 0.002, 0.02) }),
    ...(rng() < 0.3 && { exitAfterMs: oneOf(1, minuteMs, 5 * minuteMs) }),
  });
  const size = (): Size =>
    oneOf<Size>(
      { share: 0.5 },
      { share: 0.9 },
      { quantity: 2 },
      { amount: 300 },
      { share: 1e-7 },
      { quantity: 0.0004 },
    );
  const strategy = defineStrategy({
    ...{ name: 'drawn', about: 'Enters and leaves by chance', params: {}, indicators: () => ({}) },
    decide(_, { kline: { close } }) {
      const [chance, before] = [rng(), target];
      if (chance < 0.5) return oneOf(undefined, target);
      if (chance < 0.7 || target === undefined) target = hold(size(), 'in', exits(close));
      else if (chance < 0.85) target = hold(target.size, oneOf('in', 'still in'), exits(close));
      else target = flat('out');
      // From one size to another by way of nothing: a part is not sold here.
      if (
        before !== undefined &&
        sizeValue(before.size) > 0 &&
        sizeValue(target.size) > 0 &&
        !sameSize(before.size, target.size)
      )
        target = flat('out');
      return target;
    },
  });
  const { klines } = generated(seed, 300);
  // Some open outside their range, some come later.
  let skipped = 0;
  const moved = klines.map((kline) => {
    if (rng() < 0.03) skipped += Math.ceil(rng() * 20);
    const open = rng() < 0.1 ? Math.round(kline.open * oneOf(98, 99.5, 101)) / 100 : kline.open;
    return { ...kline, open, time: kline.time + skipped * minuteMs };
  });
  return inputOf({ ...caseOf(seed, strategy, oneOf('1000', '1000000')), columns: columnsOf(moved) });
}

describe('a run in short numbers', () => {
  test('gives the rows of the long way, of the stream and of the reference', async () => {
    let short = 0;
    await fc.assert(
      fc.asyncProperty(seeds, sizes, async (seed, quantities) => {
        const signals = quantities.map((quantity): Signal => ({ quantity }));
        const given = caseOf(seed, scripted(signals));
        const input = inputOf(given);
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] as Signal });
        expect(rowsOf(runByKlines(input))).toEqual(expected);
        expect(rowsOf(runNow(input))).toEqual(expected);
        expect(rowsOf(await runStreams(input))).toEqual(expected);
        const result = shortly(input);
        if (result === undefined) return;
        short++;
        expect(result.fills).toEqual(runByKlines(input).fills);
        expect(summaryOf(input, result)).toEqual(summaryOf(input, runByKlines(input)));
      }),
      { numRuns: 60 },
    );
    expect(short).toBeLessThan(60);
  });

  test('is one that enters and leaves whole, with orders that still wait at the end', async () => {
    let waiting = 0;
    let fills = 0;
    await fc.assert(
      fc.asyncProperty(
        seeds,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 200, maxLength: 200 }),
        async (seed, draws) => {
          let held = 0;
          const signals = draws.map((draw): Signal => {
            held = draw > 6 ? (held === 0 || draw === 9 ? held + draw : 0) : held;
            return { quantity: String(held) };
          });
          const given = caseOf(seed, scripted(signals));
          const input = inputOf(given);
          const result = shortly(input);
          expect(result).toBeDefined();
          if (result === undefined) return;
          fills += result.fills.length;
          expect(result.fills.map((_, index) => result.fillAt?.(index))).toEqual(result.fills);
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] as Signal });
          expect(rowsOf(result)).toEqual(expected);
          expect(result.fills).toEqual(runByKlines(input).fills);
          expect(summaryOf(input, result)).toEqual(summaryOf(input, runByKlines(input)));
          expect(rowsOf(await runStreams(input))).toEqual(expected);
          if (expected.orders.some(({ state }) => state === 'open')) waiting++;
        },
      ),
      { numRuns: 60 },
    );
    expect(waiting).toBeGreaterThan(3);
    expect(fills).toBeGreaterThan(500);
  });

  test('gives up where limits, funds or minima bind, and the long way says the same as the stream', async () => {
    let gaveUp = 0;
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(
        seeds,
        fc.constantFrom('600', '750', '1000', '1000000'),
        fc.constantFrom('650', '900', '1000000000'),
        fc.constantFrom('0.002', '0.05', '1'),
        fc.constantFrom('0.0009', '0.005', '4', '7'),
        async (seed, cash, limit, loss, size) => {
          const signals = Array.from({ length: 200 }, (_, row): Signal => ({ quantity: row % 7 < 4 ? size : '0' }));
          const plain = inputOf(caseOf(seed, scripted(signals), cash));
          const name = seed % 2 === 0 ? 'maxPosition' : 'maxOrderValue';
          const limits = { ...plain.limits, [name]: units(limit), maxDailyLoss: rate(loss) };
          const input: RunInput = { ...plain, limits };
          const [columns, stream] = [runNow(input), await runStreams(input)];
          expect(rowsOf(columns)).toEqual(rowsOf(stream));
          expect(columns.kills).toEqual(stream.kills);
          expect(stream.refused).toEqual(columns.refused ?? []);
          expect(stream.asked()).toEqual(columns.asked());
          if (shortly(input) === undefined) gaveUp++;
          else kept++;
        },
      ),
      { numRuns: 120 },
    );
    expect(gaveUp).toBeGreaterThan(20);
    expect(kept).toBeGreaterThan(10);
  });

  test('shows a strategy the position that the stream shows, to the last bit', async () => {
    const sawShort: string[] = [];
    const strategyThat = (saw: string[]) =>
      defineStrategy({
        name: 'looks',
        about: 'Decides by what it holds',
        params: {},
        indicators: () => ({ mean: sma('close', 5) }),
        decide({ mean }, { kline, holding }) {
          const { quantity, entryPrice, equity } = holding;
          saw.push(`${kline.openTime} ${quantity} ${entryPrice} ${equity}`);
          if (quantity === 0)
            return kline.close > mean ? hold({ quantity: equity > 999_990 ? 3.25 : 1.5 }, 'up') : undefined;
          return Math.abs(kline.close - entryPrice) > 1 ? flat('far') : undefined;
        },
      });
    for (const seed of [3, 14, 159]) {
      const [short, long, stream]: [string[], string[], string[]] = [[], [], []];
      const inputs = [short, long, stream].map((saw) => inputOf(caseOf(seed, strategyThat(saw)))) as [
        RunInput,
        RunInput,
        RunInput,
      ];
      const result = shortly(inputs[0]);
      expect(result?.fills.length).toBeGreaterThan(10);
      const rows = result && rowsOf(result);
      expect(rowsOf(runByKlines(inputs[1]))).toEqual(rows);
      expect(rowsOf(await runStreams(inputs[2]))).toEqual(rows);
      // A loop may ask twice at one row.
      expect([...new Set(short)]).toEqual(stream);
      expect([...new Set(long)]).toEqual(stream);
      sawShort.push(...short);
    }
    expect(sawShort.length).toBeGreaterThan(500);
  });

  test.for([
    ['a take-profit', { takeProfit: 120 }],
    ['a limit', { limit: 99 }],
  ] as const)('is none with %s', ([, level]) => {
    const signal: Target = { kind: 'target', size: { quantity: 1 }, reason: '', ...level };
    const strategy = defineStrategy({
      name: 'levels',
      about: '',
      params: {},
      indicators: () => ({}),
      decide: () => signal,
    });
    const input = inputOf(caseOf(5, strategy));
    expect(shortly(input)).toBeUndefined();
    expect(runNow(input).fills.length).toBeGreaterThan(0);
  });

  test('is none that sells a part of a position', () => {
    const signals = Array.from({ length: 200 }, (_, row): Signal => ({ quantity: row < 50 ? '2' : '1' }));
    expect(shortly(inputOf(caseOf(5, scripted(signals))))).toBeUndefined();
  });

  test('gives the rows of the engine over klines and of the streams with shares, amounts, stops and time exits', async () => {
    let [done, stops, late, small] = [0, 0, 0, 0];
    for (let seed = 1; seed <= 150; seed++) {
      const input = drawn(seed);
      const result = shortly(input);
      if (result === undefined) continue;
      const said = allOf(result);
      expect(said, `seed ${seed}`).toEqual(allOf(runByKlines(drawn(seed))));
      if (seed % 10 === 0) expect(allOf(await runStreams(drawn(seed))), `seed ${seed}`).toEqual(said);
      expect(summaryOf(input, result), `seed ${seed}`).toEqual(summaryOf(input, runByKlines(drawn(seed))));
      done++;
      const rows = said.orders as readonly { readonly purpose: string; readonly created_at: number }[];
      stops += rows.filter(({ purpose, created_at: at }) => purpose === 'stop' && at % minuteMs !== 0).length;
      late += rows.filter(({ purpose, created_at: at }) => purpose === 'stop' && at % minuteMs === 0).length;
      small += said.denials.length;
    }
    expect(done).toBeGreaterThan(100);
    expect(
      [stops, late, small].every((count) => count > 100),
      `${stops} ${late} ${small}`,
    ).toBe(true);
  });

  test.for([1, -1])('orders a difference that was too small once its worth has grown: %s', async (side) => {
    const klines = Array.from({ length: 200 }, (_, row) => {
      const price = 90 + row / 4;
      return { time: row * minuteMs, open: price, high: price + 1, low: price - 1, close: price, volume: 1_000 };
    });
    const strategy = defineStrategy({
      ...{ name: 'grows', about: 'Another size, and a stop that moves', params: {}, indicators: () => ({}) },
      decide: (_, { kline: { close, openTime } }) =>
        hold({ quantity: openTime < 5 * minuteMs ? 1 : 1 + side * 0.009 }, 'in', {
          stop: Math.round(close * 90) / 100,
        }),
    });
    const input = inputOf({ ...caseOf(5, strategy), columns: columnsOf(klines) });
    const said = allOf(runNow(input));
    expect(said.orders).toHaveLength(2);
    expect(said).toEqual(allOf(runByKlines(input)));
    expect(allOf(await runStreams(input))).toEqual(said);
    expect(shortly(input) === undefined).toBe(side < 0);
  });

  test('is none under rules, limits or inputs that it does not know', () => {
    const plain = inputOf(caseOf(5, scripted(Array.from({ length: 200 }, (): Signal => ({ quantity: '1' })))));
    const { rules, limits, fees } = plain;
    const most = rate('0.1');
    const others: readonly Partial<RunInput>[] = [
      { rules: { ...rules, halfSpread: most } },
      { rules: { ...rules, worseOfOpenAndClose: true } },
      { rules: { ...rules, marketParticipation: most } },
      { rules: { ...rules, feeIn: 'received' } },
      { rules: { ...rules, entryLatencyMs: 60_000 } },
      { rules: { ...rules, ...{ unheardOf: 1 } } },
      { limits: { ...limits, maxDrawdown: most } },
      { limits: { ...limits, maxEntries: 2 } },
      { limits: { ...limits, duplicateWindowMs: 60_001 } },
      { limits: { ...limits, symbols: ['XZ'] } },
      { limits: { ...limits, ...{ unheardOf: 1 } } },
      { fees: { ...fees, tiers: [{ volume: units('1'), maker: most, taker: most }] } },
      { account: 'margin' },
      { ...{ cash: plain.cash, unheardOf: 1 } },
      { cash: units('100000000'), allocations: [{ strategy: 's', symbol: 'XZ', amount: units('100000000') }] },
    ];
    expect(shortly(plain)).toBeDefined();
    for (const other of others)
      expect(shortly({ ...plain, ...other }), JSON.stringify(Object.keys(other))).toBeUndefined();
  });

  test('ends on months, whose days end before they are counted to', async () => {
    const months = Array.from({ length: 30 }, (_, row) => Date.UTC(2020, row, 1));
    const strategy = defineStrategy({
      ...{ name: 'above', about: 'Holds one above its average', params: {} },
      indicators: () => ({ mean: sma('close', 3) }),
      decide: ({ mean }, { kline }) => (kline.close > mean ? hold({ quantity: 1 }, 'above') : flat('below')),
    });
    const base = caseOf(5, strategy);
    const { klines } = generated(5, months.length);
    const columns = columnsOf(klines.map((kline, row) => ({ ...kline, time: months[row] as number })));
    const input = inputOf({ ...base, interval: '1month', columns });
    const expected = runByKlines(input);
    expect(rowsOf(shortly(input) as ReturnType<typeof runByKlines>)).toEqual(rowsOf(expected));
    expect(rowsOf(await runStreams(input))).toEqual(rowsOf(runByKlines(input)));
  });

  test('told to end, has what a run has that ends there, the long way too', async () => {
    const sizes = Array.from({ length: 30_000 }, (_, row): Signal => ({ quantity: row % 90 < 50 ? '1' : '0' }));
    const whole = inputOf({ ...caseOf(5, scripted(sizes)), columns: columnsOf(generated(5, 30_000).klines) });
    const several = {
      ...whole,
      hosted: whole.hosted.map((one) => ({ ...one, id: 's' })),
      limits: { ...whole.limits, maxDrawdown: rate('1') },
    };
    for (const input of [whole, several]) {
      let looks = 0;
      const part = await runBacktest({ ...input, pace: () => Promise.resolve(++looks === 2) });
      expect(part.endedAt).toBe(2 * 4_096 * 60_000);
      const short = { ...input, series: input.series.map((one) => ({ ...one, end: 2 * 4_096 })) };
      expect(rowsOf(part)).toEqual(rowsOf(runNow(short)));
      expect(part.fills).toEqual(runNow(short).fills);
      expect(rowsOf(await runBacktest({ ...input, pace: () => Promise.resolve(false) }))).toEqual(
        rowsOf(runNow(input)),
      );
    }
  });
});
