/** Time exits and disabling limits in backtests: both drivers give the same rows. */
import { describe, expect, test } from 'vitest';
import type { RunInput } from '../../src/backtest/run.ts';
import { rate } from '../../src/domain/money.ts';
import { readFills } from '../../src/journal/past-orders.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import { caseOfXz, columnsOf, inputOf, runStreams } from './agreement.ts';

const world = generated(11, 400);
const minute = 60_000;

const input = (strategy: Strategy, limits: Partial<RunInput['limits']> = {}): RunInput => {
  const made = inputOf(caseOfXz({ columns: columnsOf(world.klines), rules: 'sluice', cash: '100000', strategy }));
  return { ...made, limits: { ...made.limits, ...limits } };
};
const common = { about: 'for a test', params: {}, indicators: () => ({}) };
/** Holds one of two sizes in turn, half an hour each. */
const timed = (exitAfterMs: number): Strategy =>
  defineStrategy({
    ...common,
    name: 'timed',
    decide: (_, { kline }) =>
      hold({ quantity: 1 + (Math.floor(kline.openTime / (30 * minute)) % 2) }, 'in turn', { exitAfterMs }),
  });
/** In and out, minute after minute. */
const flipping = defineStrategy({
  ...common,
  name: 'flipping',
  decide: (_, { kline }) => ((kline.openTime / minute) % 2 === 0 ? hold({ quantity: 1 }, 'in') : flat('out')),
});
/** The rows of both drivers, which must be the same. */
async function both(given: () => RunInput) {
  const columns = runNow(given());
  const streams = await runStreams(given());
  const rows = (run: typeof columns) => ({
    fills: readFills(run.journal(), '1'),
    kills: run.journal().prepare('SELECT at, strategy, by, reason FROM kills').all(),
  });
  const [first, second] = [rows(columns), rows(streams)];
  expect(second).toEqual(first);
  expect(streams.kills).toEqual(columns.kills);
  expect(streams.finalEquity).toBe(columns.finalEquity);
  return { ...first, told: columns.kills };
}

describe('a time exit', () => {
  test('leaves at the close of the kline in which the time is over, and waits for another goal', async () => {
    const { fills } = await both(() => input(timed(5 * minute)));
    const exits: number[] = [];
    let held = 0;
    let entered = 0;
    for (const { side, quantity, time, purpose } of fills) {
      if (held < 0.001) entered = time;
      else if (purpose === 'stop') exits.push(time - entered);
      held += side === 'BUY' ? Number(quantity) : -Number(quantity);
    }
    expect(exits.length).toBeGreaterThan(5);
    expect(Math.min(...exits)).toBeGreaterThanOrEqual(5 * minute);
    expect(Math.min(...exits)).toBeLessThanOrEqual(6 * minute);
  });

  test('changes nothing where it is never due', async () => {
    const never = await both(() => input(timed(1e12)));
    expect(never.fills.some(({ purpose }) => purpose === 'stop')).toBe(false);
  });
});

describe('a limit that disables, where a backtest states it', () => {
  test.each([
    ['entries', { maxEntries: 4 }, flipping],
    ['losses', { maxConsecutiveLosses: 3 }, flipping],
    ['drawdown', { maxDrawdown: rate('0.0005') }, flipping],
    ['drawdown', { maxDrawdown: rate('0.00002') }, timed(1e12)],
  ] as const)('%s stops it, by columns and by streams at the same moment', async (by, limits, strategy) => {
    const { kills, told, fills } = await both(() => input(strategy, limits));
    expect(kills).toMatchObject([{ by }]);
    expect(told).toHaveLength(1);
    const [{ at: killedAt } = { at: 0 }] = kills as { at: number }[];
    expect(fills.length).toBeGreaterThan(0);
    expect(fills.every(({ time }) => time <= killedAt + minute)).toBe(true);
  });
});
