import { expect, test } from 'vitest';
import { instrument } from '../domain/instrument.ts';
import { type Columns, mapColumns } from '../domain/market.ts';
import { feeOn, lots, notional, rate, ticks, units } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { daysKnown, returnsOf } from './daily.ts';
import { fillTable } from './fill-table.ts';
import { groupsOf } from './groups.ts';
import { measure } from './metrics.ts';
import { tripsOf, tripTable } from './trips.ts';
import { walk } from './walk.ts';
import type { MetricSeries, Walkable } from './walkable.ts';

const at = instrument({ symbol: 'XZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 3 });
const other = { ...at, symbol: 'YZ', base: 'Y' };
const instruments = new Map([at, other].map((one) => [one.symbol, one]));
const minute = 60_000;
const day = 86_400_000;

/** Klines whose open is the close before, with wicks of one. */
function series(closes: readonly number[], interval: '1min' | '60min' | '1day' = '1min', symbol = 'XZ'): MetricSeries {
  const ms = { '1min': minute, '60min': 60 * minute, '1day': day }[interval];
  const column = (make: (row: number) => number): Float64Array => Float64Array.from(closes, (_, row) => make(row));
  const close = (row: number): number => closes[Math.max(0, row)] as number;
  const columns: Columns = {
    openTime: column((row) => row * ms),
    open: column((row) => close(row - 1)),
    high: column((row) => Math.max(close(row - 1), close(row)) + 1),
    low: column((row) => Math.min(close(row - 1), close(row)) - 1),
    close: column(close),
    volume: column(() => 5),
  };
  return { symbol, interval, columns, first: 0, end: closes.length };
}

let made = 0;
function fill(time: number, side: 'BUY' | 'SELL', price: string, quantity: string, more: Partial<Fill> = {}): Fill {
  const given = { price: ticks(price, at), quantity: lots(quantity, at) };
  const id = String(made++);
  return {
    ...{ tradeId: id, orderId: id, clientOrderId: id, strategy: 's', account: 'spot', symbol: 'XZ', side, time },
    ...given,
    fee: feeOn(notional(given.price, given.quantity, at), rate('0.001')),
    feeAsset: 'Z',
    maker: false,
    purpose: side === 'BUY' ? 'enter' : 'exit',
    evidence: { rule: 'kline-open' },
    ...more,
  };
}

const walkable = (fills: readonly Fill[], all: readonly MetricSeries[], cash = 1_000): Walkable => ({
  fills: fillTable(fills, instruments),
  series: all,
  cash,
  instruments,
  marks: { long: 1, short: 1 },
  entryFee: 0.001,
});

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
  const held = (...fills: readonly Fill[]): number => walk(walkable(fills, all)).heldMs / minute;
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
    const { days, chart, exposure } = walk(walkable([half], symbols.map(long)));
    expect([...days.exposure]).toEqual([...Array(8).fill(0), ...Array(28).fill(expect.closeTo(0.5, 12))]);
    expect(Math.max(...chart.exposure)).toBeCloseTo(0.5, 12);
    expect(exposure).toBeCloseTo((0.5 * 28) / 35, 12);
  },
);

test('equity follows what is held, close by close', () => {
  const one = series([100, 110, 90, 120], '1day');
  const walked = walk(walkable([fill(day, 'BUY', '100', '2'), fill(3 * day, 'SELL', '90', '2')], [one]));
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
  expect([...walked.days.hold]).toEqual([1000, 999, 1098.9, 899.1, 1198.8].map((value) => expect.closeTo(value, 9)));
});

test.each([
  ['one series', ['XZ']],
  ['several', ['XZ', 'YZ']],
] as const)('a sale at the last close, or shortly after it, is in the equity: %s', (_, symbols) => {
  for (const late of [0, 250]) {
    const fee = { fee: units('10') };
    const fills = [fill(day, 'BUY', '100', '2', fee), fill(3 * day + late, 'SELL', '100', '2', fee)];
    const walked = walk(
      walkable(
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
  const marked = walk({ ...walkable([fill(0, 'BUY', '100', '1')], [one]), marks: { long: 0.99, short: 1.01 } });
  expect(marked.days.equity.at(-1)).toBeCloseTo(1000 - 100.1 + 110 * 0.99, 9);
});

test('one series alone and the same beside another that is never traded give the same', () => {
  const closes = Array.from({ length: 4_000 }, (_, row) => 100 + 20 * Math.sin(row / 90));
  const fills = Array.from({ length: 60 }, (_, index) =>
    fill(index * 60 * minute + (index % 3) * 20_000, index % 2 === 0 ? 'BUY' : 'SELL', '100', '2'),
  );
  const alone = walk(walkable(fills, [series(closes)]));
  const beside = walk(
    walkable(fills, [
      series(closes),
      series(
        closes.map(() => 7),
        '1min',
        'YZ',
      ),
    ]),
  );
  expect([...beside.days.equity]).toEqual([...alone.days.equity].map((value) => expect.closeTo(value, 8)));
  expect([...beside.chart.fall]).toEqual([...alone.chart.fall].map((value) => expect.closeTo(value, 10)));
  expect(beside.drawdown).toEqual({ ...alone.drawdown, fall: expect.closeTo(alone.drawdown.fall, 10) });
  expect(beside.heldMs).toBe(alone.heldMs);
  expect(beside.exposure).toBeCloseTo(alone.exposure, 10);
});

test('a day without klines is a day without a return, not a missing one', () => {
  const whole = series([100, 101, 102, 103, 104], '1day');
  const columns = mapColumns(whole.columns, (column) => column.filter((_, row) => row !== 2));
  const walked = walk(walkable([fill(0, 'BUY', '100', '1')], [{ ...whole, columns, end: 4 }]));
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
  const given = walkable([fill(0, 'BUY', '100', '1')], [{ ...weeks, columns }]);
  expect(daysKnown(given.series, walk(given).days)).toBe(12);
  const { metrics, returns } = measure(given);
  expect([metrics.daysKnown, returns.length, metrics.sharpe, metrics.psr]).toEqual([12, 78, null, null]);
  const daily = series(
    Array.from({ length: 40 }, (_, row) => 100 + (row % 3)),
    '1day',
  );
  const whole = walkable([fill(0, 'BUY', '100', '1')], [daily]);
  expect(measure(whole).metrics.daysKnown).toBe(40);
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
      walkable([fill(one.columns.openTime[0] ?? 0, 'BUY', '100', '1')], [one]),
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

const trips = (fills: readonly Fill[], one = series([100, 100, 100, 100, 100])) =>
  tripsOf(tripTable(fillTable(fills, instruments), [one], instruments));

test('a short position that is bought back for an amount, and what that left, is one round trip', () => {
  const buy = (time: number, quantity: string) => fill(time, 'BUY', '90', quantity, { purpose: 'exit' });
  const sell = fill(0, 'SELL', '100', '10', { purpose: 'enter' });
  expect(trips([sell, buy(1, '9.8'), buy(2, '0.19'), buy(3, '0.01')])).toMatchObject([{ long: false, quantity: 10 }]);
  // A remnant that is bought back with the next position belongs to one of the two.
  const next = fill(3, 'SELL', '100', '10', { purpose: 'enter' });
  expect(trips([sell, buy(1, '9.8'), next, buy(4, '10.2')])).toMatchObject([
    { quantity: 10, entryTime: 0, exitTime: 1 },
    { quantity: 10, entryTime: 3, exitTime: 4 },
  ]);
  // Half of it is no remnant.
  expect(trips([sell, buy(1, '5'), buy(2, '5')])).toHaveLength(2);
});

test('small parts of a long position that are sold one after the other are trips, as are those of a short one beyond a twentieth', () => {
  const sells = Array.from({ length: 20 }, (_, index) =>
    fill(index + 2, 'SELL', index % 2 === 0 ? '110' : '90', '0.5'),
  );
  expect(trips([fill(0, 'BUY', '100', '20'), fill(1, 'SELL', '100', '10'), ...sells])).toHaveLength(21);
  const buys = sells.map((one) => ({ ...one, side: 'BUY' as const, purpose: 'exit' as const }));
  const short = fill(0, 'SELL', '100', '20', { purpose: 'enter' });
  expect(trips([short, fill(1, 'BUY', '100', '10', { purpose: 'exit' }), ...buys])).toHaveLength(20);
});

test('dust that fees in base left behind enters nothing when it is sold with a later position', () => {
  // Each BUY leaves 0.4 of a lot: after five of them there is a lot more to sell than the last one bought.
  const fee = { fee: units('0.0006'), feeAsset: 'X' };
  const bought = [1, 2, 3, 4, 5].flatMap((row) => [
    fill(2 * row, 'BUY', '100', '1', fee),
    fill(2 * row + 1, 'SELL', '100', row === 5 ? '1.001' : '0.999'),
  ]);
  const found = trips([...bought, fill(12, 'BUY', '100', '1', fee)]);
  expect(found.map(({ long }) => long)).toEqual([true, true, true, true, true]);
});

test('an entry filled in parts and left in parts is one round trip', () => {
  const entry = { clientOrderId: 'in' };
  const exit = { clientOrderId: 'out' };
  const found = trips([
    fill(0, 'BUY', '100', '1', entry),
    fill(1, 'BUY', '102', '1', entry),
    fill(minute, 'SELL', '110', '1.5', exit),
    fill(minute, 'SELL', '108', '0.5', exit),
  ]);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ long: true, quantity: 2, entryTime: 0, exitTime: minute });
  expect(found[0]?.entryPrice).toBeCloseTo(101, 9);
  expect(found[0]?.exitPrice).toBeCloseTo(109.5, 9);
  expect(found[0]?.profit).toBeCloseTo(219 - 202 - 0.202 - 0.219, 9);
  expect(found[0]?.fees).toBeCloseTo(0.421, 9);
});

test('what is left of an order for want of volume, and ordered again, belongs to it; an order of another time does not', () => {
  const cut = { evidence: { rule: 'kline-open', participation: 1 } };
  const parts = [fill(0, 'BUY', '100', '1', cut), fill(1, 'BUY', '101', '1', cut), fill(2, 'BUY', '102', '1')];
  const sold = [fill(3, 'SELL', '110', '2', cut), fill(4, 'SELL', '110', '1')];
  expect(trips([...parts, ...sold])).toMatchObject([{ quantity: 3, entryTime: 0, exitTime: 4 }]);
  const next = [fill(5, 'BUY', '100', '1'), fill(6, 'BUY', '100', '1'), fill(7, 'SELL', '110', '2')];
  expect(trips([...parts, ...sold, ...next])).toHaveLength(3);
});

test('what was bought first is sold first, and crossing zero opens the other way', () => {
  const found = trips([
    fill(0, 'BUY', '100', '1'),
    fill(1, 'BUY', '200', '1'),
    fill(2, 'SELL', '150', '1'),
    fill(3, 'SELL', '150', '2'),
    fill(4, 'BUY', '140', '1'),
  ]);
  expect(found.map(({ long, entryPrice, exitPrice, quantity }) => [long, entryPrice, exitPrice, quantity])).toEqual([
    [true, 100, 150, 1],
    [true, 200, 150, 1],
    [false, 150, 140, 1],
  ]);
  // Bought and sold back costs the same however it is cut into trips.
  expect(found.reduce((sum, { profit }) => sum + profit, 0)).toBeCloseTo(
    50 - 50 + 10 - 0.1 - 0.2 - 0.15 - 0.3 - 0.14,
    9,
  );
});

test('the dust that a fee in base leaves ends a trip and begins none', () => {
  const inBase = { fee: units('0.0015'), feeAsset: 'X' };
  const found = trips([
    fill(0, 'BUY', '100', '1', inBase),
    fill(1, 'SELL', '110', '0.998'),
    fill(2, 'BUY', '100', '1', inBase),
    fill(3, 'SELL', '110', '0.998'),
  ]);
  expect(found.map(({ quantity }) => quantity)).toEqual([0.998, 0.998]);
  expect(found[0]?.profit).toBeCloseTo(found[1]?.profit ?? 0, 9);
});

test('excursions reach from the entry to the exit and no further', () => {
  const one = series([100, 120, 80, 100, 300, 10]);
  const found = trips([fill(minute, 'BUY', '100', '1'), fill(4 * minute, 'SELL', '100', '1')], one);
  // Rows 1 to 3; the exit is at the open of row 4, whose high of 301 nobody saw.
  expect(found[0]?.worst).toBeCloseTo(79 / 100 - 1, 9);
  expect(found[0]?.best).toBeCloseTo(121 / 100 - 1, 9);
  const short = trips([fill(minute, 'SELL', '100', '1'), fill(4 * minute, 'BUY', '100', '1')], one);
  expect([short[0]?.worst, short[0]?.best]).toEqual([expect.closeTo(-0.21, 9), expect.closeTo(0.21, 9)]);
});

test('excursions of long and short trips agree with a plain search', () => {
  const closes = Array.from({ length: 9_000 }, (_, row) => 500 + 100 * Math.sin(row / 400) + 30 * Math.sin(row / 7));
  const one = series(closes);
  const fills = Array.from({ length: 12 }, (_, index) =>
    fill(Math.floor((index * 8_900) / 12) * minute, index % 2 === 0 ? 'BUY' : 'SELL', '500', '1'),
  );
  for (const trip of trips(fills, one)) {
    const from = trip.entryTime / minute;
    const to = trip.exitTime / minute;
    const low = Math.min(500, ...one.columns.low.slice(from, to));
    const high = Math.max(500, ...one.columns.high.slice(from, to));
    expect(trip.worst).toBeCloseTo(low / 500 - 1, 12);
    expect(trip.best).toBeCloseTo(high / 500 - 1, 12);
  }
});

test('profits of trips and what is left open add up to the equity', () => {
  const closes = Array.from({ length: 3_000 }, (_, row) => 100 + 10 * Math.sin(row / 50));
  const fills = Array.from({ length: 41 }, (_, index) => {
    const row = 60 * index + 5;
    return fill(row * minute, index % 2 === 0 ? 'BUY' : 'SELL', (closes[row - 1] ?? 0).toFixed(2), '2');
  });
  const given = walkable(fills, [series(closes)]);
  const { metrics, walked, trips: all } = measure(given);
  const open = fills.at(-1);
  const paid = Number((closes[60 * 40 + 4] ?? 0).toFixed(2)) * 2;
  const profit = all.profit.reduce((sum, one) => sum + one, 0);
  expect(open?.side).toBe('BUY');
  expect(walked.days.equity.at(-1)).toBeCloseTo(1_000 + profit + 2 * (closes.at(-1) ?? 0) - paid * 1.001, 6);
  expect(metrics.roundTrips).toBe(20);
});

test('says nothing of a year where there are days, and nothing of trips where there are none', () => {
  const { metrics } = measure(walkable([], [series([100, 101, 102], '1day')]));
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
  const groups = groupsOf(tripTable(table, [], instruments), table);
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
  const given = walkable([fill(0, 'BUY', '100', '5')], [series(closes, '1day')]);
  const [plain, safe] = [measure(given).metrics, measure(given, { riskFree: 0.365 }).metrics];
  const daily = (plain.volatility ?? 0) / Math.sqrt(365);
  expect((plain.sharpe ?? 0) - (safe.sharpe ?? 0)).toBeCloseTo((0.001 / daily) * Math.sqrt(365), 9);
  expect(safe.sortino).toBeLessThan(plain.sortino ?? 0);
});

test('months of different lengths close where they end', () => {
  const months = [0, 1, 2, 3, 4].map((month) => Date.UTC(2020, month, 1));
  const given = series([100, 110, 120, 130], '1day');
  const columns = { ...given.columns, openTime: Float64Array.from(months.slice(0, 4)) };
  const monthly = { ...given, columns, interval: '1month' as const };
  const walked = walk(walkable([fill(months[1] as number, 'BUY', '100', '1')], [monthly]));
  const { time, hold } = walked.days;
  const at = (month: number): number => hold[time.indexOf(months[month] as number)] ?? 0;
  expect([1, 2, 3, 4].map(at)).toEqual([1, 1.1, 1.2, 1.3].map((growth) => expect.closeTo(999 * growth, 9)));
  expect(walked.heldMs).toBe((months[4] as number) - (months[1] as number));
});
