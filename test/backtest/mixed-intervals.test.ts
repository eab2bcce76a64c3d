/** Long klines of one symbol beside short ones of another: what an open sets off happens at that open, not when its kline is over. */
import { describe, expect, test } from 'vitest';
import { equityInput } from '../../src/backtest/result/summary.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { intervalMs } from '../../src/domain/interval.ts';
import { rate, units, unitsText } from '../../src/domain/money.ts';
import { walkEquity } from '../../src/research/equity-walk.ts';
import { fillTable } from '../../src/research/fill-table.ts';
import { runNow } from '../kit/run-now.ts';
import type { Kline, Signal } from '../reference/types.ts';
import { caseOfXz, columnsOf, inputOf, joined, runStreams, scripted, xz } from './agreement.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const days = 6;
/** A kline at a price, or from one to another. */
const at = (time: number, open: number, close = open): Kline => ({
  ...{ time, open, close, volume: 100_000 },
  high: Math.max(open, close),
  low: Math.min(open, close),
});
const inputFor = (
  symbol: 'XZ' | 'YZ',
  klines: readonly Kline[],
  signals: readonly Signal[],
  interval: '1day' | '1week' | '60min' = symbol === 'XZ' ? '1day' : '60min',
): RunInput => {
  const lengthMs = intervalMs(interval, 0);
  return inputOf({
    ...caseOfXz({ columns: columnsOf(klines), strategy: scripted(signals, lengthMs), rules: 'plain', cash: '10000' }),
    ...{ symbol, interval, fees: { maker: '0', taker: '0' } },
    instrument: { ...xz, base: symbol[0] ?? '' },
  });
};
const nothing: Signal = { quantity: '0' };
const filled = ({ fills }: RunResult) =>
  fills.map(({ time, symbol, side, fee }) => [time / hourMs, symbol, side, unitsText(fee)]);

describe.each([
  ['by columns', (input: RunInput): Promise<RunResult> => Promise.resolve(runNow(input))],
  ['by streams', runStreams],
])('%s', (_, run) => {
  test('what fills at the open of a day is held when a loss at noon stops everything', async () => {
    const daily = inputFor(
      'XZ',
      Array.from({ length: days }, (_, day) =>
        day === 3 ? at(day * dayMs, 100, 150) : at(day * dayMs, day > 3 ? 150 : 100),
      ),
      Array.from({ length: days }, (_, day) => ({ quantity: day >= 2 ? '10' : '0' })),
    );
    const crash = 24 * 3 + 12;
    const hourly = inputFor(
      'YZ',
      Array.from({ length: days * 24 }, (_, hour) =>
        at(hour * hourMs, hour <= crash ? 100 : 50, hour < crash ? 100 : 50),
      ),
      Array.from({ length: days * 24 }, () => ({ quantity: '20' })),
    );
    const both = joined(daily, hourly);
    const result = await run({ ...both, limits: { ...both.limits, maxDailyLoss: rate('0.04') } });
    expect(result.kills).toHaveLength(1);
    expect(result.stoppedAt).toBe((crash + 1) * hourMs);
    expect(filled(result)).toEqual([
      [1, 'YZ', 'BUY', '0'],
      [3 * 24, 'XZ', 'BUY', '0'],
    ]);
    // 1,000 lost in an hour, 500 won in a day.
    expect(result.finalEquity).toBe(units('19500'));
  });

  test('a stop that the open of a day passes is hit then, and fills come in the order of time', async () => {
    const daily = inputFor(
      'XZ',
      Array.from({ length: days }, (_, day) => at(day * dayMs, day < 3 ? 100 : 80)),
      Array.from({ length: days }, (_, day) => (day < 3 ? { quantity: '10', stop: '90' } : nothing)),
    );
    const hourly = inputFor(
      'YZ',
      Array.from({ length: days * 24 }, (_, hour) => at(hour * hourMs, 100)),
      Array.from({ length: days * 24 }, (_, hour) => ({ quantity: String(Math.floor(hour / 12) % 2) })),
    );
    const result = await run(joined(daily, hourly));
    const times = result.fills.map(({ time }) => time);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(filled(result).filter(([, symbol]) => symbol === 'XZ')).toEqual([
      [24, 'XZ', 'BUY', '0'],
      [3 * 24, 'XZ', 'SELL', '0'],
    ]);
    const db = result.journal();
    const order = db.prepare("SELECT created_at FROM orders WHERE symbol = 'XZ' AND side = 'SELL'").get();
    expect(order).toEqual({ created_at: 3 * dayMs });
    db.close();
  });

  test('the fee of an open counts the days before it, not those within its kline', async () => {
    const weekly = inputFor(
      'XZ',
      Array.from({ length: 3 }, (_, week) => at(week * 7 * dayMs, 100)),
      Array.from({ length: 3 }, () => ({ quantity: '10' })),
      '1week',
    );
    const hourly = inputFor(
      'YZ',
      Array.from({ length: 21 * 24 }, (_, hour) => at(hour * hourMs, 100)),
      Array.from({ length: 21 * 24 }, (_, hour) => ({ quantity: String(hour % 2) })),
    );
    const both = joined(weekly, hourly);
    // 24 fills of 100 a day: less than 16,800 in the week before the second, 33,600 once that is over.
    const rates = (text: string) => ({ maker: rate(text), taker: rate(text) });
    const tiers = [{ volume: units('20000'), ...rates('0.001') }];
    const result = await run({ ...both, fees: { ...rates('0.002'), tiers, assumed: false } });
    expect(filled(result).filter(([, symbol]) => symbol === 'XZ')).toEqual([[7 * 24, 'XZ', 'BUY', '2']]);
  });

  test('what a day opens at is what a symbol is worth until it closes: nothing is lost where it opens higher and is bought', async () => {
    const daily = inputFor(
      'XZ',
      Array.from({ length: days }, (_, day) => at(day * dayMs, day < 3 ? 100 : 150)),
      Array.from({ length: days }, (_, day) => ({ quantity: day >= 2 ? '10' : '0' })),
    );
    const hourly = inputFor(
      'YZ',
      Array.from({ length: days * 24 }, (_, hour) => at(hour * hourMs, 100)),
      Array.from({ length: days * 24 }, () => nothing),
    );
    const both = joined(daily, hourly);
    const limited = { ...both, limits: { ...both.limits, maxDailyLoss: rate('0.01') } };
    const result = await run(limited);
    expect(result.kills).toEqual([]);
    expect(result.finalEquity).toBe(units('20000'));
    expect(walkEquity(equityInput(limited, fillTable(result.fills, limited.instruments))).drawdown.fall).toBe(0);
  });

  test('a day that opens lower is a loss at once, also where it closes higher', async () => {
    const daily = inputFor(
      'XZ',
      Array.from({ length: days }, (_, day) => (day === 3 ? at(day * dayMs, 40, 100) : at(day * dayMs, 100))),
      Array.from({ length: days }, () => ({ quantity: '10' })),
    );
    const hourly = inputFor(
      'YZ',
      Array.from({ length: days * 24 }, (_, hour) => at(hour * hourMs, 100)),
      Array.from({ length: days * 24 }, () => nothing),
    );
    const both = joined(daily, hourly);
    const result = await run({ ...both, limits: { ...both.limits, maxDailyLoss: rate('0.02') } });
    expect(result.kills).toEqual(['lost 600 since midnight UTC, the limit is 400']);
  });
});
