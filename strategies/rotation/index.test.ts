import { decide, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { positionsOf, runScenario } from '../../test/kit/shipped-scenario.ts';
import rotation from './index.ts';

const start = klines({ interval: '1day', from: 100 });

/** What it chooses among markets that rose by so many percent. */
const chosen = (rises: Readonly<Record<string, number>>, top = 2) =>
  decide(
    rotation,
    Object.fromEntries(Object.entries(rises).map(([symbol, rise]) => [symbol, start.rise(31, 100 + rise)])),
    { params: { top, invest: 0.8 } },
  );

describe('rotation', () => {
  test('holds the markets that rose the most, in equal parts', () => {
    expect(chosen({ AAAUSDT: 3, BBBUSDT: 9, CCCUSDT: 1, DDDUSDT: 5 })).toMatchObject({
      weights: { BBBUSDT: 0.4, DDDUSDT: 0.4 },
      reason: 'the strongest: BBBUSDT, DDDUSDT',
      threshold: 0.05,
    });
  });

  test('keeps the part of a market that has not risen in cash', () => {
    expect(chosen({ AAAUSDT: -3, BBBUSDT: 9 })).toMatchObject({ weights: { BBBUSDT: 0.4 } });
    expect(chosen({ AAAUSDT: -3, BBBUSDT: -1 })).toMatchObject({ weights: {}, reason: 'no market has risen' });
  });

  test('never weighs more than what it may invest', () => {
    const weights = Object.values(chosen({ AAAUSDT: 1, BBBUSDT: 2, CCCUSDT: 3 }, 3)?.weights ?? {});
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(0.8);
  });
});

test('over the synthetic symbols it holds at most three at once and trades on Mondays only', async () => {
  const { fills } = await runScenario('rotation-synthetic');
  expect(fills.length).toBeGreaterThan(100);
  const monday = 1;
  expect(new Set(fills.map(({ time }) => new Date(time).getUTCDay()))).toEqual(new Set([monday]));
  expect(Math.max(...positionsOf(fills).map(([, held]) => held.size))).toBe(3);
});

test('a symbol that is listed later is bought later', async () => {
  const { fills } = await runScenario('rotation-synthetic');
  const times = fills.filter(({ symbol }) => symbol === 'SYNTH10USDT').map(({ time }) => time);
  expect(times.length).toBeGreaterThan(0);
  expect(Math.min(...times)).toBeGreaterThan(Date.UTC(2024, 1, 1));
});
