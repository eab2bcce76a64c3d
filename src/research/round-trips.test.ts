import { expect, test } from 'vitest';
import { at, fill, instruments, minute, series } from '../../test/kit/statistics.ts';
import { lots, units } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { converted, RateLine } from './currency-rates.ts';
import { fillTable } from './fill-table.ts';
import { roundTripsOf, roundTripTable } from './round-trips.ts';

const trips = (fills: readonly Fill[], one = series([100, 100, 100, 100, 100])) =>
  roundTripsOf(roundTripTable(fillTable(fills, instruments), [one], instruments));

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

test('a round trip begins with the first part of its entry, however large the later ones are', () => {
  const entry = { clientOrderId: 'in' };
  const found = trips(
    [
      fill(0, 'BUY', '100', '1', entry),
      fill(minute, 'BUY', '100', '2', entry),
      fill(2 * minute, 'BUY', '100', '7', entry),
      fill(3 * minute, 'SELL', '100', '10'),
    ],
    series([100, 61, 100, 100]),
  );
  expect(found).toMatchObject([{ entryFill: 0, entryTime: 0, exitTime: 3 * minute, quantity: 10 }]);
  expect(found[0]?.worst).toBeCloseTo(60 / 100 - 1, 9);
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

test('what a round trip cost is counted in the currency that its profit is counted in', () => {
  const line = new RateLine('1min', series([2, 3, 3, 3]).columns);
  const rates = { lines: new Map([['Z', line]]), of: new Map([['XZ', 'Z']]), cash: new Map<string, number>() };
  const free = { fee: units('0') };
  const entry = { ...free, clientOrderId: 'in' };
  const fills = [
    fill(minute, 'BUY', '100', '1', entry),
    fill(2 * minute, 'BUY', '100', '3', entry),
    fill(3 * minute, 'SELL', '110', '4', free),
  ];
  const own = fillTable(fills, instruments);
  const [plain] = roundTripsOf(roundTripTable(own, [], instruments));
  expect([plain?.cost, plain?.profit]).toEqual([400, expect.closeTo(40, 9)]);
  const [counted] = roundTripsOf(roundTripTable(converted(own, rates), [], instruments));
  expect([counted?.cost, counted?.profit]).toEqual([1_100, expect.closeTo(440 * 3 - 1_100, 9)]);
});

test('a rest that nobody can order away is not left open', () => {
  const fills = [fill(0, 'SELL', '100', '1'), fill(1, 'BUY', '100', '0.985')];
  const openAt = (minima: Partial<typeof at>) =>
    roundTripTable(fillTable(fills, instruments), [], new Map([['XZ', { ...at, ...minima }]])).open;
  expect(openAt({})).toHaveLength(1);
  expect(openAt({ minQuantity: lots('0.02', at) })).toEqual([]);
  expect(openAt({ minNotional: units('2') })).toEqual([]);
});

test('what is left open is told with the oldest of its fills', () => {
  const of = (fills: readonly Fill[]) => roundTripTable(fillTable(fills, instruments), [], instruments).open;
  const bought = [fill(0, 'BUY', '100', '1'), fill(1, 'BUY', '110', '1'), fill(2, 'SELL', '120', '1')];
  expect(of(bought)).toEqual([{ position: 0, long: true, entryTime: 1, entryPrice: 110 }]);
  expect(of([...bought, fill(3, 'SELL', '120', '3')])).toEqual([
    { position: 0, long: false, entryTime: 3, entryPrice: 120 },
  ]);
  expect(of([...bought, fill(3, 'SELL', '120', '1')])).toEqual([]);
});
