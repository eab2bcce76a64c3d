import { expect, test } from 'vitest';
import { at, day, equityInput, fill, instruments, minute, series } from '../../test/kit/statistics.ts';
import { mapColumns } from '../domain/market.ts';
import { lots, units } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { daysKnown, returnsOf } from './curves.ts';
import { walkEquity } from './equity-walk.ts';
import { fillTable } from './fill-table.ts';
import { measure } from './metrics.ts';
import { groupsOf } from './round-trip-groups.ts';
import { roundTripTable } from './round-trips.ts';
import type { MetricSeries } from './series.ts';

/** Five minutes, nothing for almost an hour, and two minutes more. */
function gapped(symbol: string): MetricSeries {
  const whole = series([100, 100, 100, 100, 100, 80, 80], '1min', symbol);
  const openTime = whole.columns.openTime.map((time, row) => (row < 5 ? time : time + 55 * minute));
  return { ...whole, columns: { ...whole.columns, openTime } };
}

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)('a gap counts as held by what was held when it began: %s', (_, symbols) => {
  const all = symbols.map(gapped);
  const held = (...fills: readonly Fill[]): number => walkEquity(equityInput(fills, all)).heldMs / minute;
  expect(held(fill(minute, 'BUY', '100', '1'), fill(60 * minute, 'SELL', '80', '1'))).toBe(59);
  expect(held(fill(minute, 'BUY', '100', '1'))).toBe(61);
  expect(held(fill(60 * minute, 'BUY', '80', '1'))).toBe(2);
});

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)(
  'each point of a curve has the exposure up to itself, however long a kline or a gap is: %s',
  (_, symbols) => {
    const long = (symbol: string): MetricSeries => {
      const one = series([100, 100, 100, 100], '1day', symbol);
      const openTime = Float64Array.of(0, 7 * day, 14 * day, 28 * day);
      return { ...one, interval: '1week', columns: { ...one.columns, openTime } };
    };
    const half = fill(7 * day, 'BUY', '100', '5', { fee: units('0') });
    const { days, chart, exposure } = walkEquity(equityInput([half], symbols.map(long)));
    expect([...days.exposure]).toEqual([...Array(8).fill(0), ...Array(28).fill(expect.closeTo(0.5, 12))]);
    expect(Math.max(...chart.exposure)).toBeCloseTo(0.5, 12);
    expect(exposure).toBeCloseTo((0.5 * 28) / 35, 12);
  },
);

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)(
  'what fees in base leave of several strategies is nothing held, though it comes to a lot: %s',
  (_, symbols) => {
    const all = symbols.map((symbol) => series([100, 100, 100, 100], '1min', symbol));
    // 0.0006 of each is left, less than a lot; both together are more than one.
    const left = ['a', 'b'].map((strategy) =>
      fill(minute, 'BUY', '100', '1', { strategy, fee: units('0.0004'), feeAsset: 'X' }),
    );
    left.push(...['a', 'b'].map((strategy) => fill(2 * minute, 'SELL', '100', '0.999', { strategy })));
    expect(walkEquity(equityInput(left, all)).heldMs / minute).toBe(1);
    expect(walkEquity(equityInput([...left, fill(3 * minute, 'BUY', '100', '0.003')], all)).heldMs / minute).toBe(2);
  },
);

test.each([
  ['less than the least quantity', { minQuantity: lots('0.01', at) }, '0.995'],
  ['worth less than an order may be', { minNotional: units('2') }, '0.985'],
])('what an amount leaves of a short position is none: %s', (_, minima, bought) => {
  const all = [series([100, 100, 100, 100, 100])];
  const fills = [fill(minute, 'SELL', '100', '1'), fill(2 * minute, 'BUY', '100', bought)];
  const given = equityInput(fills, all);
  const held = (instrument: typeof at): number =>
    walkEquity({ ...given, instruments: new Map([[instrument.symbol, instrument]]) }).heldMs / minute;
  expect(held({ ...at, ...minima })).toBe(1);
  expect(held(at)).toBe(4);
});

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)('a single lot that one of several strategies holds is held, and worth its price: %s', (_, symbols) => {
  const all = symbols.map((symbol) => series([100, 100, 100, 50, 100, 100], '1min', symbol));
  const lot = (strategy: string, row: number, side: 'BUY' | 'SELL'): Fill =>
    fill(row * minute, side, '100', '0.001', { strategy, fee: units('0') });
  const fills = [lot('a', 1, 'BUY'), lot('a', 2, 'SELL'), lot('b', 3, 'BUY'), lot('b', 5, 'SELL')];
  const { heldMs, drawdown } = walkEquity(equityInput(fills, all, 1));
  expect([heldMs / minute, drawdown.fall]).toEqual([3, expect.closeTo(-0.05, 12)]);
});

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)('what is held counts from fill to fill, also within one kline: %s', (_, symbols) => {
  const all = symbols.map((symbol) => series([100, 100, 100, 100], '1min', symbol));
  const [second, none] = [1_000, { fee: units('0') }];
  const fills = [
    fill(minute + 10 * second, 'BUY', '100', '5', none),
    fill(minute + 30 * second, 'SELL', '100', '5', none),
    fill(minute + 40 * second, 'BUY', '100', '2', none),
    fill(2 * minute + 5 * second, 'SELL', '100', '2', none),
  ];
  const { heldMs, exposure, chart } = walkEquity(equityInput(fills, all));
  expect(heldMs).toBe(45 * second);
  expect(exposure).toBeCloseTo((20 * 0.5 + 25 * 0.2) / 240, 12);
  expect([...chart.exposure]).toEqual(
    [0, 0, (20 * 0.5 + 20 * 0.2) / 60, (5 * 0.2) / 60, 0].map((value) => expect.closeTo(value, 12)),
  );
});

test('equity follows what is held, close by close', () => {
  const one = series([100, 110, 90, 120], '1day');
  const walked = walkEquity(equityInput([fill(day, 'BUY', '100', '2'), fill(3 * day, 'SELL', '90', '2')], [one]));
  // 0.2 and 0.18 of fees; the purchase is at the open of the second day.
  expect([...walked.days.equity].map((value) => Number(value.toFixed(9)))).toEqual([1000, 1000, 1019.8, 979.8, 979.62]);
  expect(walked.drawdown).toMatchObject({
    bottomAt: 4 * day,
    peakAt: 2 * day,
    recoveredAt: undefined,
    longestMs: 2 * day,
  });
  expect(walked.drawdown.fall).toBeCloseTo(979.62 / 1019.8 - 1, 12);
  expect(walked.heldMs / walked.totalMs).toBeCloseTo(0.5, 12);
  expect(walked.exposure).toBeCloseTo((220 / 1019.8 + 180 / 979.8) / 4, 12);
  expect([...walked.days.buyAndHold]).toEqual(
    [1000, 999, 1098.9, 899.1, 1198.8].map((value) => expect.closeTo(value, 9)),
  );
});

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)('a sale at the last close, or shortly after it, is in the equity: %s', (_, symbols) => {
  for (const late of [0, 250]) {
    const fee = { fee: units('10') };
    const fills = [fill(day, 'BUY', '100', '2', fee), fill(3 * day + late, 'SELL', '100', '2', fee)];
    const walked = walkEquity(
      equityInput(
        fills,
        symbols.map((symbol) => series([100, 100, 100], '1day', symbol)),
      ),
    );
    expect([...walked.days.equity]).toEqual([1000, 1000, 990, 980]);
    expect([...walked.days.time]).toEqual([0, day, 2 * day, 3 * day]);
    expect(walked.drawdown.fall).toBeCloseTo(-0.02, 12);
    expect(walked.heldMs).toBe(2 * day);
  }
});

test('marks what is held by what selling it now would bring', () => {
  const one = series([100, 110], '1day');
  const costs = (symbol: string) => ({
    ...(symbol === 'XZ' ? { long: 0.99, short: 1.01 } : { long: 0.5, short: 2 }),
    entryFee: symbol === 'XZ' ? 0.01 : 0,
  });
  const given = { ...equityInput([fill(0, 'BUY', '100', '1')], [one]), costs };
  expect(walkEquity(given).days.equity.at(-1)).toBeCloseTo(1000 - 100.1 + 110 * 0.99, 9);
  expect(walkEquity(given).days.buyAndHold.at(-1)).toBeCloseTo(990 * 1.1, 9);
  // Each symbol has its own.
  const both = walkEquity({ ...given, series: [one, series([100, 110], '1day', 'YZ')] });
  expect(both.days.equity.at(-1)).toBeCloseTo(1000 - 100.1 + 110 * 0.99, 9);
  expect(both.days.buyAndHold.at(-1)).toBeCloseTo((495 + 500) * 1.1, 9);
});

test('one series alone and the same beside another that is never traded give the same', () => {
  const closes = Array.from({ length: 4_000 }, (_, row) => 100 + 20 * Math.sin(row / 90));
  const fills = Array.from({ length: 60 }, (_, index) =>
    fill(index * 60 * minute + (index % 3) * 20_000, index % 2 === 0 ? 'BUY' : 'SELL', '100', '2'),
  );
  const alone = walkEquity(equityInput(fills, [series(closes)]));
  const beside = walkEquity(
    equityInput(fills, [
      series(closes),
      series(
        closes.map(() => 7),
        '1min',
        'YZ',
      ),
    ]),
  );
  expect([...beside.days.equity]).toEqual([...alone.days.equity].map((value) => expect.closeTo(value, 8)));
  expect([...beside.chart.drawdown]).toEqual([...alone.chart.drawdown].map((value) => expect.closeTo(value, 10)));
  expect(beside.drawdown).toEqual({ ...alone.drawdown, fall: expect.closeTo(alone.drawdown.fall, 10) });
  expect(beside.heldMs).toBe(alone.heldMs);
  expect(beside.exposure).toBeCloseTo(alone.exposure, 10);
});

test('a day without klines is a day without a return, not a missing one', () => {
  const whole = series([100, 101, 102, 103, 104], '1day');
  const columns = mapColumns(whole.columns, (column) => column.filter((_, row) => row !== 2));
  const walked = walkEquity(equityInput([fill(0, 'BUY', '100', '1')], [{ ...whole, columns, end: 4 }]));
  const returns = returnsOf(walked.days.equity);
  expect(returns.length).toBe(5);
  expect(returns[2]).toBe(0);
});

test('days on which no kline closed do not count towards those that a Sharpe ratio takes', () => {
  const weeks = series(
    Array.from({ length: 12 }, (_, row) => 100 + (row % 3)),
    '1day',
  );
  const columns = { ...weeks.columns, openTime: weeks.columns.openTime.map((time) => 7 * time) };
  const given = equityInput([fill(0, 'BUY', '100', '1')], [{ ...weeks, columns }]);
  expect(daysKnown(given.series, walkEquity(given).days)).toBe(12);
  const { metrics, returns } = measure(given);
  expect([metrics.daysWithKlines, returns.length, metrics.sharpe, metrics.psr]).toEqual([12, 78, null, null]);
  const daily = series(
    Array.from({ length: 40 }, (_, row) => 100 + (row % 3)),
    '1day',
  );
  const whole = equityInput([fill(0, 'BUY', '100', '1')], [daily]);
  expect(measure(whole).metrics.daysWithKlines).toBe(40);
  expect(measure(whole).metrics.sharpe).not.toBeNull();
});

test('begun days at both ends are no daily returns', () => {
  const whole = series(
    Array.from({ length: 80 }, (_, row) => 100 + row),
    '60min',
  );
  const late = (hours: number): MetricSeries => ({
    ...whole,
    columns: { ...whole.columns, openTime: whole.columns.openTime.map((time) => time + hours * 60 * minute) },
  });
  // 80 hours: from 00:00 to 08:00 of the fourth day; from 22:00 to 06:00; within two days.
  const seen = [late(0), late(22), { ...late(22), end: 20 }].map((one) => {
    const { metrics, returns, walked } = measure(
      equityInput([fill(one.columns.openTime[0] ?? 0, 'BUY', '100', '1')], [one]),
    );
    return { days: metrics.days, returns: [...returns], points: walked.days.time.length };
  });
  const of = (...closes: readonly number[]): number[] =>
    closes.slice(1).map((close, at) => expect.closeTo((close + 799.9) / ((closes[at] ?? 0) + 799.9) - 1, 12));
  expect(seen).toEqual([
    { days: 3, returns: [expect.closeTo((123 + 899.9) / 1000 - 1, 12), ...of(223, 247, 271)], points: 5 },
    { days: 3, returns: of(201, 225, 249, 273), points: 6 },
    { days: 0, returns: [], points: 3 },
  ]);
});

test('returns end where nothing is left', () => {
  expect([...returnsOf(Float64Array.of(100, 50, 0, 10))]).toEqual([-0.5, -1]);
});

test('profits of trips and what is left open add up to the equity', () => {
  const closes = Array.from({ length: 3_000 }, (_, row) => 100 + 10 * Math.sin(row / 50));
  const fills = Array.from({ length: 41 }, (_, index) => {
    const row = 60 * index + 5;
    return fill(row * minute, index % 2 === 0 ? 'BUY' : 'SELL', (closes[row - 1] ?? 0).toFixed(2), '2');
  });
  const given = equityInput(fills, [series(closes)]);
  const { metrics, walked, trips: all } = measure(given);
  const open = fills.at(-1);
  const paid = Number((closes[60 * 40 + 4] ?? 0).toFixed(2)) * 2;
  const profit = all.profit.reduce((sum, one) => sum + one, 0);
  expect(open?.side).toBe('BUY');
  expect(walked.days.equity.at(-1)).toBeCloseTo(1_000 + profit + 2 * (closes.at(-1) ?? 0) - paid * 1.001, 6);
  expect(metrics.roundTrips).toBe(20);
});

test('says nothing of a year where there are days, and nothing of trips where there are none', () => {
  const { metrics } = measure(equityInput([], [series([100, 101, 102], '1day')]));
  const { sharpe, cagr, winRate, profitFactor, sqn, kelly, calmar, feeShare, breakEvenFees } = metrics;
  expect([sharpe, cagr, winRate, profitFactor, sqn, kelly, calmar, feeShare, breakEvenFees]).toEqual(
    Array(9).fill(null),
  );
  expect(JSON.stringify(metrics, (_, value) => (typeof value === 'bigint' ? '' : value))).not.toMatch(/NaN|Infinity/);
});

test('groups count each trip once, where it closed', () => {
  const table = fillTable(
    [
      fill(Date.UTC(2020, 0, 31, 23), 'BUY', '100', '1'),
      fill(Date.UTC(2020, 1, 1, 5), 'SELL', '110', '1', { purpose: 'stop' }),
      fill(Date.UTC(2020, 1, 3, 6), 'SELL', '110', '1', { purpose: 'enter' }),
      fill(Date.UTC(2020, 1, 3, 7), 'BUY', '120', '1', { purpose: 'takeProfit' }),
    ],
    instruments,
  );
  const groups = groupsOf(roundTripTable(table, [], instruments), table);
  const names = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name);
  expect(names(groups.month)).toEqual(['2020-02']);
  expect(names(groups.weekday)).toEqual(['Monday', 'Saturday']);
  expect(names(groups.hour)).toEqual(['05', '07']);
  expect(names(groups.exit)).toEqual(['stop', 'take-profit']);
  expect(names(groups.side)).toEqual(['long', 'short']);
  expect(groups.month[0]).toMatchObject({ roundTrips: 2, winRate: 0.5, profitFactor: expect.closeTo(9.79 / 10.23, 9) });
});

test('a return without risk comes off before ratios are formed', () => {
  const closes = Array.from({ length: 60 }, (_, row) => 100 + row + 3 * Math.sin(row));
  const given = equityInput([fill(0, 'BUY', '100', '5')], [series(closes, '1day')]);
  const [plain, safe] = [measure(given).metrics, measure(given, { riskFree: 0.365 }).metrics];
  const daily = (plain.volatility ?? 0) / Math.sqrt(365);
  expect((plain.sharpe ?? 0) - (safe.sharpe ?? 0)).toBeCloseTo((0.001 / daily) * Math.sqrt(365), 9);
  expect(safe.sortino).toBeLessThan(plain.sortino ?? 0);
  const shift = (plain.sharpe ?? 0) - (safe.sharpe ?? 0);
  expect((plain.sharpeLow ?? 0) - (safe.sharpeLow ?? 0)).toBeGreaterThan(shift / 2);
  expect(safe.sharpeLow).toBeLessThan(safe.sharpe ?? 0);
  expect(safe.sharpeHigh).toBeGreaterThan(safe.sharpe ?? 0);
});

test('months of different lengths close where they end', () => {
  const months = [0, 1, 2, 3, 4].map((month) => Date.UTC(2020, month, 1));
  const given = series([100, 110, 120, 130], '1day');
  const columns = { ...given.columns, openTime: Float64Array.from(months.slice(0, 4)) };
  const monthly = { ...given, columns, interval: '1month' as const };
  const walked = walkEquity(equityInput([fill(months[1] as number, 'BUY', '100', '1')], [monthly]));
  const { time, buyAndHold } = walked.days;
  const at = (month: number): number => buyAndHold[time.indexOf(months[month] as number)] ?? 0;
  expect([1, 2, 3, 4].map(at)).toEqual([1, 1.1, 1.2, 1.3].map((growth) => expect.closeTo(999 * growth, 9)));
  expect(walked.heldMs).toBe((months[4] as number) - (months[1] as number));
});
