import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { startTime } from '../../test/kit/builders.ts';
import { fillRowOf } from '../../test/kit/journal-rows.ts';
import { Decimal } from '../domain/money.ts';
import type { FillEntry, InstrumentEntry } from '../journal/entries.ts';
import type { Group } from './names.ts';
import { type ProfitQuery, type ProfitRow, profitOf } from './profit.ts';

const listed = (symbol: string, base: string, quote: string): InstrumentEntry => ({
  kind: 'instrument',
  ...{ symbol, base, quote, pricePrecision: 2, quantityPrecision: 5 },
});
const instruments = [
  listed('BTCUSDT', 'BTC', 'USDT'),
  listed('ETHUSDT', 'ETH', 'USDT'),
  listed('ETHBTC', 'ETH', 'BTC'),
];
const hourMs = 3_600_000;
const profit = (fills: readonly FillEntry[], query: Partial<ProfitQuery> = {}) =>
  profitOf(fills, instruments, new Map(), { by: [], method: 'average', ...query });
const buy = (quantity: string, price: string, given: Partial<FillEntry> = {}): FillEntry =>
  fillRowOf({ quantity, price, fee: '0', ...given });
const sell = (quantity: string, price: string, given: Partial<FillEntry> = {}): FillEntry =>
  buy(quantity, price, { side: 'SELL', ...given });

describe('the cost of what is sold', () => {
  const fills = [buy('1', '100'), buy('1', '200'), sell('1', '300')];

  test('is that of the oldest purchase by FIFO, and a share of all by average', () => {
    expect(profit(fills, { method: 'fifo' }).totals).toMatchObject([
      { realised: '200', unrealised: '100', net: '300' },
    ]);
    expect(profit(fills).totals).toMatchObject([{ realised: '150', unrealised: '150', net: '300' }]);
  });

  test('of a short position is what it was sold for first', () => {
    const short = [sell('1', '300'), sell('1', '200'), buy('1', '100')];
    expect(profit(short, { method: 'fifo' }).totals).toMatchObject([{ realised: '200', unrealised: '100' }]);
    expect(profit(short).totals).toMatchObject([{ realised: '150', unrealised: '150' }]);
  });

  test('begins anew where a position turns from long to short', () => {
    for (const method of ['fifo', 'average'] as const)
      expect(profit([buy('1', '100'), sell('3', '150'), buy('2', '120')], { method }).totals).toMatchObject([
        { realised: '110', unrealised: '0' },
      ]);
  });
});

describe('fees', () => {
  test('in the base asset count at the price of their fill, and those in a third asset are listed apart', () => {
    const fills = [
      buy('1', '100', { fee: '0.001', feeAsset: 'BTC' }),
      buy('1', '100', { fee: '0.5', feeAsset: 'USDT' }),
      buy('1', '100', { fee: '0.02', feeAsset: 'BNB' }),
    ];
    const { totals, otherFees } = profit(fills);
    expect(totals).toMatchObject([{ fees: '0.6', unrealised: '0', net: '-0.6' }]);
    expect(otherFees).toEqual({ BNB: '0.02' });
  });
});

describe('groups', () => {
  test('keep quote assets apart', () => {
    const fills = [
      buy('1', '100'),
      sell('1', '110'),
      buy('1', '0.05', { symbol: 'ETHBTC' }),
      sell('1', '0.06', { symbol: 'ETHBTC' }),
    ];
    expect(profit(fills).totals.map(({ quote, realised }) => [quote, realised])).toEqual([
      ['BTC', '0.01'],
      ['USDT', '10'],
    ]);
  });

  test('by day and month have no open profit, which belongs to none of them', () => {
    const fills = [buy('1', '100'), sell('0.5', '110', { time: startTime + 20 * 24 * hourMs })];
    const { rows, totals } = profit(fills, { by: ['month'] });
    expect(rows.map(({ group, realised, unrealised }) => [group, realised, unrealised])).toEqual([
      [{ month: '2020-03' }, '0', null],
      [{ month: '2020-04' }, '5', null],
    ]);
    expect(totals).toMatchObject([{ realised: '5', unrealised: '5', net: '10' }]);
  });

  test('within a time take the cost from the fills before it', () => {
    const fills = [
      buy('1', '100'),
      sell('0.5', '110', { time: startTime + hourMs }),
      sell('0.5', '120', { time: startTime + 2 * hourMs }),
    ];
    expect(profit(fills, { from: startTime + 1, to: startTime + 2 * hourMs }).totals).toEqual([
      { group: {}, quote: 'USDT', fills: 1, realised: '5', fees: '0', unrealised: null, net: '5' },
    ]);
  });
});

describe('open positions', () => {
  test('are valued at the last price that is known, with its time', () => {
    const at = startTime + hourMs;
    const seen = new Map([['BTCUSDT', { price: '130', at }]]);
    const query = { by: [], method: 'average' } as const;
    const later = [buy('1', '100'), sell('0.5', '140', { time: at + 1 })];
    expect(profitOf([buy('1', '100')], instruments, seen, query).positions).toMatchObject([
      { quantity: '1', cost: '100', price: '130', priceTime: at, unrealised: '30' },
    ]);
    expect(profitOf(later, instruments, seen, query).positions).toMatchObject([{ price: '140', priceTime: at + 1 }]);
  });

  test('of a symbol without an instrument are refused', () => {
    expect(() => profit([buy('1', '100', { symbol: 'XYZ' })])).toThrow(
      /fills of XYZ, but its table instruments has no row for this symbol/,
    );
  });
});

/** Fills of two strategies and three symbols over months, with fees in base, quote and a third asset. */
const anyFills = fc
  .array(
    fc.record({
      strategy: fc.constantFrom('a', 'b'),
      symbol: fc.constantFrom('BTCUSDT', 'ETHUSDT', 'ETHBTC'),
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      lots: fc.integer({ min: 1, max: 1_000_000 }),
      ticks: fc.integer({ min: 1, max: 10_000_000 }),
      fee: fc.integer({ min: 0, max: 99 }),
      feeIn: fc.constantFrom('base', 'quote', 'other'),
      hours: fc.integer({ min: 0, max: 400 }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((rows) =>
    rows.map(({ strategy, symbol, side, lots, ticks, fee, feeIn, hours }, index): FillEntry => {
      const { base, quote } = instruments.find((one) => one.symbol === symbol) as InstrumentEntry;
      return fillRowOf({
        ...{ strategy, symbol, side, tradeId: `${index}`, time: startTime + hours * hourMs },
        ...{ quantity: new Decimal(lots).div(1e5).toFixed(), price: new Decimal(ticks).div(100).toFixed() },
        ...{ fee: new Decimal(fee).div(1e8).toFixed(), feeAsset: { base, quote, other: 'BNB' }[feeIn] },
      });
    }),
  );

/** The sum of an amount in each quote asset. */
const sums = (rows: readonly ProfitRow[], name: 'realised' | 'fees' | 'fills' | 'net') =>
  Object.fromEntries(
    [...Map.groupBy(rows, ({ quote }) => quote)].map(([quote, of]): [string, string] => [
      quote,
      of.reduce((sum, row) => sum.plus(row[name]), new Decimal(0)).toFixed(),
    ]),
  );

/** Closes every position at the last price of its symbol. */
const closings = (fills: readonly FillEntry[]): readonly FillEntry[] =>
  profit(fills).positions.map(({ strategy, symbol, quantity }, index) => {
    const isLong = !quantity.startsWith('-');
    const size = new Decimal(quantity).abs().toFixed();
    return (isLong ? sell : buy)(size, '7', { strategy, symbol, tradeId: `c${index}`, time: startTime + 500 * hourMs });
  });

const groupings: readonly (readonly Group[])[] = [
  ['strategy'],
  ['symbol'],
  ['day'],
  ['month'],
  ['strategy', 'symbol', 'day'],
];

test.prop([anyFills])('the sums of every grouping are the totals, by either method', (fills) => {
  for (const method of ['fifo', 'average'] as const) {
    const whole = profit(fills, { method });
    for (const by of groupings) {
      const { rows, totals } = profit(fills, { by, method });
      expect(totals).toEqual(whole.totals);
      for (const name of ['realised', 'fees', 'fills'] as const) expect(sums(rows, name)).toEqual(sums(totals, name));
      if (!by.includes('day') && !by.includes('month')) expect(sums(rows, 'net')).toEqual(sums(totals, 'net'));
    }
  }
});

test.prop([anyFills])('FIFO and average agree on the net of what is open, and on everything once flat', (fills) => {
  const both = (of: readonly FillEntry[]) => [profit(of, { method: 'fifo' }).totals, profit(of).totals] as const;
  const flat = [...fills, ...closings(fills)];
  const [fifo, average] = both(flat);
  expect(fifo).toEqual(average);
  expect(profit(flat).positions).toEqual([]);
  const [open, alsoOpen] = both(fills);
  // A price times what is held is rounded down at the 18th decimal in both; a share of a cost may differ there.
  for (const [index, row] of open.entries())
    expect(
      new Decimal(row.net)
        .minus(alsoOpen[index]?.net ?? 0)
        .abs()
        .toNumber(),
    ).toBeLessThan(1e-16);
});

test.prop([anyFills])('once flat, the profit less fees is what the fills moved of the quote asset', (fills) => {
  const flat = [...fills, ...closings(fills)].filter(({ symbol }) => symbol !== 'ETHBTC');
  const moved = flat.reduce((sum, { side, price, quantity, fee, feeAsset }) => {
    const gross = new Decimal(price).times(quantity).times(side === 'BUY' ? -1 : 1);
    return sum.plus(gross).minus(feeAsset === 'USDT' ? fee : 0);
  }, new Decimal(0));
  const net = profit(flat).totals[0]?.net ?? '0';
  // The value of a fee in base is rounded to the 18th decimal in the fees and in the cost alike.
  expect(new Decimal(net).minus(moved).abs().toNumber()).toBeLessThan(1e-16);
});
