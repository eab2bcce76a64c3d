/** Take-profits of what was entered between two klines of a strategy: they rest soon after the entry, not when the strategy is received next. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import type { Interval } from '../../src/domain/interval.ts';
import type { Trade } from '../../src/domain/market.ts';
import { rate } from '../../src/domain/money.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { hold } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { tradeColumns } from '../kit/tape-columns.ts';
import { caseOfXz, columnsOf, inputOf, runStreams } from './agreement.ts';

const minute = 60_000;
const drivers: readonly ((input: RunInput) => RunResult | Promise<RunResult>)[] = [
  runNow,
  runStreams,
  (input) => runTape(input),
];

/** Half an hour of minutes that reach 110 in the eighth. */
const half = Array.from({ length: 30 }, (_, row) => ({
  ...{ time: row * minute, open: 100, low: 99, close: 100, volume: 5_000 },
  high: row === 7 ? 110 : 101,
}));

/** A strategy that says the same at each of its closes, every five minutes. */
function run(signal: ReturnType<typeof hold>, klines = half, decidesOn: Interval = '5min'): RunInput {
  const strategy = defineStrategy({
    name: 'says',
    about: 'Says the same all the time',
    params: {},
    indicators: () => ({}),
    decide: () => signal,
  });
  return inputOf(caseOfXz({ columns: columnsOf(klines), rules: 'sluice', cash: '1000', strategy, decidesOn }));
}
const told = ({ fills }: RunResult) => fills.map(({ purpose, time }) => [purpose, Math.floor(time / minute)]);

test('by klines one rests from the kline after the entry, alike by every driver', async () => {
  for (const by of drivers)
    expect(told(await by(run(hold({ quantity: 1 }, '', { takeProfit: 105 }))))).toEqual([
      ['enter', 5],
      ['takeProfit', 7],
    ]);
});

test('by a LIMIT entry, too', async () => {
  for (const by of drivers)
    expect(told(await by(run(hold({ quantity: 1 }, '', { limit: 99.5, takeProfit: 105 }))))).toEqual([
      ['enter', 5],
      ['takeProfit', 7],
    ]);
});

test('by trades one rests a second after the fill, not at the next close', async () => {
  const trades = Array.from({ length: 20 * 60 }, (_, second): Trade => {
    const time = second * 1_000;
    const price = second === 310 ? 106 : 100;
    return { symbol: 'XZ', time, seenAt: time, side: second % 2 === 0 ? 'BUY' : 'SELL', price, quantity: 5 };
  });
  const input = run(hold({ quantity: 1 }, '', { takeProfit: 105 }));
  const tape = { trades: tradeColumns(trades), gaps: [] };
  const { fills } = await runTape({ ...input, tapes: new Map([['XZ', tape]]) });
  expect(fills.map(({ purpose, time }) => [purpose, Math.floor(time / 1_000)])).toEqual([
    ['enter', 302],
    ['takeProfit', 310],
  ]);
});

test('one that is refused is asked for again, more and more rarely, until it rests', async () => {
  // The price has run so far beyond it that the collar forbids to sell there, for twenty minutes.
  const klines = Array.from({ length: 120 }, (_, row) => {
    const open = row <= 60 ? 100 : row < 80 ? 112 : 104;
    const close = row < 60 ? 100 : row < 79 ? 112 : 104;
    const [low, high] = [Math.min(open, close) - 0.5, row === 110 ? 106 : Math.max(open, close) + 0.5];
    return { time: row * minute, open, high, low, close, volume: 5_000 };
  });
  const input = run(hold({ quantity: 1 }, '', { takeProfit: 105 }), klines, '60min');
  for (const by of drivers) {
    const result = await by({ ...input, limits: { ...input.limits, priceCollar: rate('0.05') } });
    expect(told(result)).toEqual([
      ['enter', 60],
      ['takeProfit', 110],
    ]);
    // At the ends of minutes 60, 61, 62, 65 and 75: 2, 16, 128 and 600 s after the one before, or at the next look.
    expect(result.journal().prepare('SELECT sum(times) AS times FROM denials').get()).toEqual({ times: 5 });
  }
});
