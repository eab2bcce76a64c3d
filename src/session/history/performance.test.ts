import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { noUnits, plus, units, unitsText } from '../../domain/money.ts';
import type { Entry } from '../../journal/entries.ts';
import { openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { openReader } from '../../journal/reader.ts';
import { writer } from '../../journal/writer.ts';
import { Performance } from './performance.ts';

const minuteMs = 60_000;
const btcEntry: Entry & { readonly kind: 'instrument' } = {
  kind: 'instrument',
  ...{ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT' },
  ...{ pricePrecision: 2, quantityPrecision: 5 },
};
const fill = (number: number): Entry =>
  fillRowOf({
    ...{ tradeId: String(number), side: number % 2 === 0 ? 'BUY' : 'SELL' },
    ...{ price: String(100 + (number % 7)), time: startTime + number * minuteMs },
  });

test('what is added up fill by fill equals what one reading of all gives, and only new fills are read', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-performance-'));
  const { path, lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['s']);
  const db = openForWriting(path);
  const write = writer(db, 1);
  write([btcEntry, orderRowOf({ orderId: '1001', state: 'filled', closedAt: startTime })]);
  const read: number[] = [];
  const look = (sums: Performance, strategy?: string) => {
    const reader = openReader(dir);
    let count = 0;
    function* counted(after?: number, until?: number) {
      for (const one of reader.pastFills(after, until)) {
        count++;
        yield one;
      }
    }
    const view = sums.of({ ...reader, pastFills: counted }, strategy);
    reader.close();
    read.push(count);
    return view;
  };
  const [all, one] = [new Performance(), new Performance()];
  expect(look(all).roundTrips).toBe(0);
  let number = 0;
  for (const count of [3, 0, 4_000, 1, 1_500]) {
    write(Array.from({ length: count }, () => fill(number++)));
    write([{ kind: 'equity', at: startTime + number * minuteMs, equity: String(1_000 + number) }]);
    read.length = 0;
    expect(look(all)).toEqual(look(new Performance()));
    expect(look(one, 's').periods).toEqual(look(new Performance(), 's').periods);
    expect(read).toEqual([count, number, count, number]);
    const { curve, maxDrawdown } = look(one, 's');
    const whole = look(new Performance(), 's');
    expect([maxDrawdown, curve.at(-1)]).toEqual([whole.maxDrawdown, whole.curve.at(-1)]);
    expect(curve.length).toBeLessThanOrEqual(1_000);
    expect(curve.length).toBeGreaterThan(Math.min(number, 500) - 1);
  }
  expect(look(one, 's').fees).toBe(look(all).fees);
  expect(look(one, 'other')).toMatchObject({ curve: [], fees: '0' });
  db.close();
  lock.release();
  rmSync(dir, { recursive: true });
});

test('a change of the allocations is neither a profit of its day nor a drawdown', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-performance-'));
  const { path, lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['s']);
  const db = openForWriting(path);
  const [day, next] = [startTime, startTime + 86_400_000];
  const sums = [
    [day, '50000'],
    [day + 10, '30000'],
    [next + 10, '50000'],
  ] as const;
  writer(
    db,
    1,
  )([
    { kind: 'equity', at: day + 5, equity: '50000' },
    { kind: 'equity', at: day + 15, equity: '29900' },
    { kind: 'equity', at: next + 5, equity: '29950' },
    { kind: 'equity', at: next + 15, equity: '49990' },
    { kind: 'memory', name: 'allotted', value: JSON.stringify(sums) },
  ]);
  const reader = openReader(dir);
  const { curve, maxDrawdown, periods } = new Performance().of(reader, undefined);
  expect(curve.map(({ equity }) => equity)).toEqual(['50000', '49900', '49950', '49990']);
  expect(maxDrawdown).toMatchObject({ amount: '100' });
  expect(periods.day.map(({ profit }) => profit)).toEqual(['90', '-100']);
  reader.close();
  db.close();
  lock.release();
  rmSync(dir, { recursive: true });
});

test('of many markets, those that moved most have a curve', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-performance-'));
  const { path, lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['s']);
  const db = openForWriting(path);
  const symbols = Array.from({ length: 25 }, (_, number) => `A${number}USDT`);
  writer(
    db,
    1,
  )([
    ...symbols.map((symbol): Entry => ({ ...btcEntry, symbol, base: symbol.slice(0, -4) })),
    orderRowOf({ orderId: '1001', state: 'filled', closedAt: startTime }),
    ...symbols.flatMap((symbol, number) =>
      ['BUY', 'SELL'].map((side, part) =>
        fillRowOf({
          ...{ tradeId: `${number} ${part}`, symbol, side: side as 'BUY' },
          // The first lose least.
          ...{ price: String(100 - part * (number + 1)), time: startTime + (2 * number + part) * minuteMs },
        }),
      ),
    ),
  ]);
  const reader = openReader(dir);
  const { markets, otherMarkets, curve } = new Performance().of(reader, 's');
  expect([markets.length, otherMarkets]).toEqual([20, 5]);
  expect(markets.map(({ symbol }) => symbol)).toEqual(symbols.slice(5).reverse());
  // Of all, those left out included: 1 + 2 + ... + 25, and fees.
  expect(Number(curve.at(-1)?.equity)).toBeLessThan(-325);
  reader.close();
  db.close();
  lock.release();
});

test('of one strategy with several markets, each has a curve, and their ends add up to its profit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-performance-'));
  const { path, lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'test' }, ['s', 'other']);
  const db = openForWriting(path);
  const symbols = ['BTCUSDT', 'ETHUSDT'];
  writer(
    db,
    1,
  )([
    ...symbols.map((symbol): Entry => ({ ...btcEntry, symbol, base: symbol.slice(0, 3) })),
    orderRowOf({ orderId: '1001', state: 'filled', closedAt: startTime }),
    ...Array.from({ length: 3_000 }, (_, number) =>
      fillRowOf({
        ...{
          tradeId: String(number),
          symbol: symbols[number % 3 === 0 ? 0 : 1] ?? '',
          side: number % 5 < 3 ? 'BUY' : 'SELL',
        },
        ...{ price: String(100 + (number % 11)), time: startTime + number * minuteMs },
      }),
    ),
    fillRowOf({ tradeId: 'other', strategy: 'other', time: startTime + 4_000 * minuteMs }),
  ]);
  const reader = openReader(dir);
  const { markets, curve } = new Performance().of(reader, 's');
  expect(markets.map(({ symbol }) => symbol).toSorted()).toEqual(symbols);
  for (const { curve: points } of markets) {
    expect(points.length).toBeLessThanOrEqual(250);
    expect(points.length).toBeGreaterThan(100);
  }
  const sum = markets.reduce((total, one) => plus(total, units(one.curve.at(-1)?.equity ?? '')), noUnits);
  expect(unitsText(sum)).toBe(curve.at(-1)?.equity);
  for (const strategy of ['other', undefined]) expect(new Performance().of(reader, strategy).markets).toEqual([]);
  reader.close();
  db.close();
  lock.release();
  rmSync(dir, { recursive: true });
});
