/** `--stress`: what "latency × 3" means where latencies were measured. */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { stress } from '../../src/backtest/result/stress.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { rate } from '../../src/domain/money.ts';
import type { LatencyModel } from '../../src/fill/latency.ts';
import { rulesets } from '../../src/fill/rules.ts';
import { defineStrategy, hold } from '../../src/index.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf, runStreams } from './agreement.ts';

const still = defineStrategy({
  name: 'still',
  about: 'Wants nothing',
  params: {},
  indicators: () => ({}),
  decide: () => undefined,
});

async function slower(latency: LatencyModel | undefined): Promise<RunInput['rules'] | undefined> {
  const given = inputOf(
    caseOfXz({
      ...{ rules: 'sluice', cash: '1000', strategy: still },
      columns: columnsOf([{ time: 0, open: 100, high: 101, low: 99, close: 100, volume: 5 }]),
    }),
  );
  const ran = new Map<string, RunInput>();
  const input = { ...given, rules: { ...rulesets.sluice, latency } };
  const run = async (worse: RunInput, name: string) => {
    ran.set(name, worse);
    return runNow(worse);
  };
  await stress(
    input,
    run,
    () => ({ return: 0, sharpe: null }),
    () => false,
  );
  return ran.get('Latency × 3')?.rules;
}

test('latencies are trebled, constant and measured ones alike', async () => {
  expect(await slower(undefined)).toMatchObject({
    feedLatencyMs: 300,
    entryLatencyMs: 450,
    responseLatencyMs: 450,
    latency: undefined,
  });
  expect(await slower({ kind: 'recorded', rows: [{ time: 5, entryMs: 80, responseMs: 90 }] })).toMatchObject({
    latency: { kind: 'recorded', rows: [{ time: 5, entryMs: 240, responseMs: 270 }] },
  });
  expect(await slower({ kind: 'distribution', travels: [{ entryMs: 10, responseMs: 20 }] })).toMatchObject({
    latency: { kind: 'distribution', travels: [{ entryMs: 30, responseMs: 60 }] },
  });
});

test('a limit that stops a run under worse conditions is told of beside it', async () => {
  const always = defineStrategy({ ...still, name: 'always', decide: () => hold({ quantity: 5 }, 'always') });
  const klines = Array.from({ length: 30 }, (_, row) => {
    const price = row < 20 ? 100 : 70;
    return { time: row * 60_000, open: price, high: price, low: price, close: price, volume: 1_000 };
  });
  const given = inputOf(caseOfXz({ rules: 'plain', cash: '1000', strategy: always, columns: columnsOf(klines) }));
  const input = { ...given, limits: { ...given.limits, maxDailyLoss: rate('0.1515') } };
  const stressed = await stress(
    input,
    async (worse) => runNow(worse),
    () => ({ return: 0, sharpe: null }),
    () => false,
  );
  expect(runNow(input).kills).toEqual([]);
  expect(stressed.map(({ name, kills }) => [name, kills])).toEqual([
    ['Fees × 2', ['lost 152 since midnight UTC, the limit is 151.5']],
    ['Latency × 3', undefined],
    ['One kline later', undefined],
  ]);
});

test('a run that begins anew the long way says nothing at first of what it meant later the short way', async () => {
  // Less is held from the 20th kline on, which the short way gives up at.
  const less = defineStrategy({
    ...still,
    name: 'less',
    decide: (_, { kline }) => hold({ quantity: kline.openTime < 20 * 60_000 ? 4 : 1 }, 'less'),
  });
  const klines = Array.from({ length: 30 }, (_, row) => {
    const price = 100 + row;
    return { time: row * 60_000, open: price, high: price, low: price, close: price, volume: 1_000 };
  });
  const late = async (run: (input: RunInput) => RunResult | Promise<RunResult>) => {
    const came: RunResult[] = [];
    await stress(
      inputOf(caseOfXz({ rules: 'plain', cash: '1000', strategy: less, columns: columnsOf(klines) })),
      async (worse) => {
        const result = await run(worse);
        came.push(result);
        return result;
      },
      () => ({ return: 0, sharpe: null }),
      () => false,
    );
    return rowsOf(came[2] as RunResult);
  };
  const long = await late(runByKlines);
  expect(long.fills.length).toBe(2);
  expect(await late((input) => runBacktest(input))).toEqual(long);
});

test('one kline later, who asks what he holds does not sell what he has just bought', async () => {
  const entering = defineStrategy({
    ...still,
    name: 'entering',
    decide: (_, { kline, holding }) =>
      holding.quantity > 0 || kline.openTime === 5 * 60_000
        ? hold({ quantity: 4 }, 'enters once and stays')
        : hold({ quantity: 0 }, 'not yet'),
  });
  const klines = Array.from({ length: 30 }, (_, row) => {
    const price = 100 + row;
    return { time: row * 60_000, open: price, high: price, low: price, close: price, volume: 1_000 };
  });
  const given = inputOf(caseOfXz({ rules: 'plain', cash: '1000', strategy: entering, columns: columnsOf(klines) }));
  const came = new Map<string, RunResult>();
  for (const run of [runNow, runStreams]) {
    await stress(
      given,
      async (worse, name) => {
        const result = await run(worse);
        came.set(name, result);
        return result;
      },
      () => ({ return: 0, sharpe: null }),
      () => false,
    );
    const late = rowsOf(came.get('One kline later') as RunResult).fills;
    expect(late).toHaveLength(1);
    expect(late[0]).toMatchObject({ side: 'BUY', time: 7 * 60_000, price: '107' });
  }
});
