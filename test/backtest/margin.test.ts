/** Margin in backtests: what may be borrowed, what that costs, and when the exchange leaves a position; equal to the slow reference. */

import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { MarginRules } from '../../src/backtest/prepare/run-money.ts';
import { equityInput, marginOf } from '../../src/backtest/result/summary.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { intervalMs } from '../../src/domain/interval.ts';
import { plus, unitsText } from '../../src/domain/money.ts';
import { walkEquity } from '../../src/research/equity-walk.ts';
import { fillTable } from '../../src/research/fill-table.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { generated, oftenShort } from '../reference/generated.ts';
import type { Kline, Margin, Signal } from '../reference/types.ts';
import {
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  joined,
  runStreams,
  scripted,
} from './agreement.ts';

const margin: Margin = {
  maxLeverage: '4.5',
  maintenanceRatio: '0.2',
  liquidationFee: '0.01',
  interest: { base: '0.0002', quote: '0.0001' },
  interestEveryMs: 3_600_000,
};

const caseOf = (klines: readonly Kline[], signals: readonly Signal[], more: Partial<Case> = {}): Case => {
  const interval = more.interval ?? '1min';
  const lengthMs = intervalMs(interval, 0);
  return caseOfXz({
    interval,
    columns: columnsOf(klines.map((kline, row) => ({ ...kline, time: row * lengthMs }))),
    rules: 'sluice',
    cash: '1000',
    strategy: scripted(signals, lengthMs),
    margin,
    ...more,
  });
};

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const lengths = fc.constantFrom<Case['interval']>('1min', '15min', '60min', '1day');

describe.for(['plain', 'sluice', 'backtesting.py', 'backtrader'] as const)('under %s', (rules) => {
  test('generated klines and signals, long and short, give the same rows and charges as the reference', async () => {
    const seen = { liquidation: 0, interest: 0, short: 0, ambiguous: 0 };
    await fc.assert(
      fc.asyncProperty(
        seeds,
        lengths,
        fc.constantFrom('300', '700', '2000'),
        fc.boolean(),
        async (seed, interval, cash, isLong) => {
          const world = generated(seed, 200);
          const signals = isLong ? world.signals : oftenShort(world.signals);
          const given = caseOf(world.klines, signals, { rules, interval, cash });
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
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

/** A kline with these extremes; the next one opens where it closes, unless it says so. */
const kline = (open: number, high: number, low: number, close: number): Kline => ({
  ...{ time: 0, open, high, low, close },
  volume: 1_000_000,
});
const calm = kline(100, 100, 100, 100);
const free = { rules: 'plain', fees: { maker: '0', taker: '0' } } as const;
const noInterest = { ...margin, interest: { base: '0', quote: '0' } };
const hold = (quantity: string, more: Partial<Signal> = {}): Signal => ({ quantity, ...more });

/** Fills as text, what was charged, and the equity; without fees and interest unless it is said otherwise. */
async function ran(klines: readonly Kline[], signals: readonly Signal[], more: Partial<Case> = {}) {
  const given = caseOf(klines, [...signals, ...klines.map(() => signals.at(-1) as Signal)], {
    ...free,
    margin: noInterest,
    ...more,
  });
  const input = inputOf(given);
  const result = await runStreams(input);
  const fills = result.fills.map(
    ({ side, price, quantity, evidence, purpose }) =>
      `${purpose} ${side} ${Number(quantity) / 1e4} @ ${Number(price) / 100} ${evidence?.rule}${evidence?.ambiguous === true ? ', ambiguous' : ''}`,
  );
  const charges = result.margin?.charges.map(
    ({ kind, amount, at }) => `${kind} ${unitsText(amount)} at ${Math.round(at / 60_000)}`,
  );
  return { fills, charges, equity: unitsText(result.finalEquity), input, result };
}

describe('a position on margin', () => {
  const enter = [calm, calm];

  test('is left at the first price at which less than the maintenance ratio of it remains', async () => {
    // 1,000 and 3,000 borrowed: at 93.75 exactly a fifth of 40 × 93.75 is left.
    expect((await ran([...enter, kline(100, 100, 93.75, 95)], [hold('40')])).fills).toHaveLength(1);
    const { fills, charges, equity, result } = await ran([...enter, kline(100, 100, 93.74, 95)], [hold('40')]);
    expect(fills).toEqual(['enter BUY 40 @ 100 kline-open', 'stop SELL 40 @ 93.74 liquidation']);
    // 1 % of 3,749.60.
    expect(charges).toEqual(['liquidation 37.496 at 3']);
    expect(equity).toBe('712.104');
    expect(result.margin).toMatchObject({ liquidations: 1 });
  });

  test('that is short is left above', async () => {
    // 5,000 and 40 owed: at 104.1666… a fifth of it is left.
    expect((await ran([...enter, kline(100, 104.16, 100, 100)], [hold('-40')])).fills).toHaveLength(1);
    const { fills, equity } = await ran([...enter, kline(100, 104.17, 100, 100)], [hold('-40')]);
    expect(fills).toEqual(['enter SELL 40 @ 100 kline-open', 'stop BUY 40 @ 104.17 liquidation']);
    expect(equity).toBe('791.532');
  });

  test('is left at the open where that lies beyond, though nothing may be left of the money', async () => {
    const { fills, equity } = await ran(
      [...enter, kline(70, 71, 70, 71), calm, calm],
      [hold('40'), hold('40'), hold('41')],
    );
    expect(fills).toEqual(['enter BUY 40 @ 100 kline-open', 'stop SELL 40 @ 70 liquidation-gap']);
    expect(equity).toBe('-228');
  });

  test('is left for want of margin in doubt, where its stop could have come first', async () => {
    const stopped = [hold('40', { stop: '95' })];
    const both = await ran([...enter, kline(100, 100, 93, 95)], stopped);
    expect(both.fills[1]).toBe('stop SELL 40 @ 93.74 liquidation, ambiguous');
    expect([unitsText(both.result.couldBeBetterBy), both.result.ambiguousKlines]).toEqual(['50.4', 1]);
    const between = await ran([...enter, kline(94.5, 95, 93, 95)], stopped);
    expect(between.fills[1]).toBe('stop SELL 40 @ 94.5 kline-stop-gap');
    expect((await ran([...enter, kline(100, 100, 94, 95)], stopped)).fills[1]).toBe('stop SELL 40 @ 95 kline-stop');
  });

  test('is left for want of margin in doubt, where the kline that entered it reaches its take-profit, too', async () => {
    const both = await ran([calm, kline(100, 104, 93, 95)], [hold('40', { takeProfit: '103' })]);
    expect(both.fills).toEqual(['enter BUY 40 @ 100 kline-open', 'stop SELL 40 @ 93.74 liquidation, ambiguous']);
    // 40 × (103 − 93.74).
    expect([unitsText(both.result.couldBeBetterBy), both.result.ambiguousKlines]).toEqual(['370.4', 1]);
  });

  test('stays left while the same is signalled, and another signal trades on with what is there', async () => {
    const crash = [...enter, kline(100, 100, 90, 100), calm, calm, calm];
    const signals = [...Array.from({ length: 4 }, () => hold('40')), hold('20')];
    expect((await ran(crash, signals)).fills.slice(2)).toEqual(['enter BUY 20 @ 100 kline-open']);
  });

  test('that quotes bought is left, too, and the quotes come back', async () => {
    const quotes: Signal = { quotes: [{ side: 'BUY', price: '99', quantity: '20' }] };
    const dip = kline(100, 100, 98, 100);
    const { fills } = await ran([calm, dip, dip, kline(100, 100, 80, 100), dip, calm], [quotes]);
    expect(fills).toEqual([
      'quote BUY 20 @ 99 kline-rest',
      'quote BUY 20 @ 99 kline-rest',
      'stop SELL 40 @ 92.49 liquidation',
      'quote BUY 20 @ 99 kline-rest',
    ]);
  });
});

test('a signal to be short is none on margin, and on spot a refusal, alike by columns, by streams and by events', async () => {
  const [signals, klines] = [
    [hold('1'), hold('-1'), hold('-1'), hold('0')],
    [calm, calm, calm, calm, calm],
  ];
  const { result } = await ran(klines, signals);
  expect(result.refused).toEqual([]);
  const { margin: _, ...spot } = caseOf(klines, [...signals, hold('0')], free);
  const refused = [{ code: 'short', strategy: 's', symbol: 'XZ', times: 1, firstAt: 2 * 60_000 }];
  expect(runNow(inputOf(spot)).refused).toEqual(refused);
  expect((await runStreams(inputOf(spot))).refused).toEqual(refused);
  expect((await runTape(inputOf(spot))).refused).toEqual(refused);
});

describe('what is borrowed', () => {
  const hours = { interval: '60min', margin } as const;

  test('costs interest each hour, interest on it as well', async () => {
    const { charges, equity } = await ran([calm, calm, calm, calm], [hold('40')], hours);
    // 3,000 from the second hour on.
    expect(charges).toEqual(['interest 0.3 at 120', 'interest 0.30003 at 180', 'interest 0.30006001 at 240']);
    expect(equity).toBe('999.09990999');
  });

  test('of the base asset costs what it is worth at the close', async () => {
    const { charges } = await ran([calm, calm, kline(100, 102, 100, 102)], [hold('-40')], hours);
    expect(charges).toEqual(['interest 0.8 at 120', 'interest 0.816 at 180']);
    const back = await ran([calm, calm, calm, calm], [hold('-40'), hold('0')], hours);
    // Bought back at the open of the third hour, which it was owed in, and not in the fourth.
    expect(back.charges).toEqual(['interest 0.8 at 120', 'interest 0.8 at 180']);
  });

  test('and given back within the hour costs the whole of it', async () => {
    const { charges } = await ran(
      [calm, calm, calm, ...Array.from({ length: 60 }, () => calm)],
      [hold('40'), hold('0')],
      {
        margin,
      },
    );
    expect(charges).toEqual(['interest 0.3 at 60']);
  });

  test('costs each hour of a kline that lasts for many', async () => {
    const { charges } = await ran([calm, calm], [hold('40')], { ...hours, interval: '1day' });
    expect(charges).toEqual(['interest 7.2 at 2880']);
  });

  test('is not more than the equity bears: an order beyond that is denied and said so', async () => {
    const { fills, result } = await ran([calm, calm, calm], [hold('45.1')]);
    expect([fills, result.refused?.map(({ code }) => code)]).toEqual([[], ['leverage']]);
    expect((await ran([calm, calm, calm], [hold('-45')])).fills).toHaveLength(1);
  });

  test('is sized as a share of the equity, long and short', async () => {
    expect((await ran([calm, calm], [{ share: '3' }])).fills).toEqual(['enter BUY 30 @ 100 kline-open']);
    expect((await ran([calm, calm], [{ share: '-3' }])).fills).toEqual(['enter SELL 30 @ 100 kline-open']);
    const withFee = { rules: 'vectorbt', fees: { maker: '0', taker: '0.01' } } as const;
    expect((await ran([calm, calm], [{ share: '-3' }], withFee)).fills).toEqual([
      'enter SELL 29.7029 @ 100 kline-close',
    ]);
  });

  test('is taken off the equity curve when it is charged, and is neither paid out nor a fee of a fill', async () => {
    const { input, result, equity } = await ran([calm, calm, kline(100, 100, 90, 95), calm], [hold('40')], hours);
    const table = fillTable(result.fills, input.instruments);
    const { days, scales } = walkEquity(equityInput(input, table, [], marginOf(result)?.charges));
    expect(days.equity.at(-1)).toBeCloseTo(Number(equity), 9);
    expect([scales, result.margin?.liquidations]).toEqual([[], 1]);
    expect(marginOf(result)).toMatchObject({ interest: '0.60003', liquidationFees: '37.5' });
  });
});

test('two strategies on two symbols stand each for its own position: together they come to what they come to alone', async () => {
  await fc.assert(
    fc.asyncProperty(seeds, seeds, lengths, lengths, async (seedX, seedY, lengthX, lengthY) => {
      const [x, y] = (
        [
          [seedX, lengthX, 'X'],
          [seedY, lengthY, 'Y'],
        ] as const
      ).map(([seed, interval, base]) => {
        const { klines, signals } = generated(seed, 200);
        const given = caseOf(klines, oftenShort(signals), { interval, cash: '700' });
        return inputOf({ ...given, symbol: `${base}Z`, instrument: { ...given.instrument, base } });
      }) as [RunInput, RunInput];
      const interest = new Map([...(x.margin?.interest ?? []), ...(y.margin?.interest ?? [])]);
      const both = await runStreams({ ...joined(x, y), margin: { ...(x.margin as MarginRules), interest } });
      const [ofX, ofY] = [await runStreams(x), await runStreams(y)];
      expect(both.finalEquity).toBe(plus(ofX.finalEquity, ofY.finalEquity));
      const charged = ({ margin: of }: typeof both, symbol: string) =>
        of?.charges.flatMap((one) => (one.symbol === symbol ? [[one.at, one.kind, one.amount]] : []));
      expect(charged(both, 'XZ')).toEqual(charged(ofX, 'XZ'));
      expect(charged(both, 'YZ')).toEqual(charged(ofY, 'YZ'));
    }),
    { numRuns: 20 },
  );
});
