import { describe, expect, test } from 'vitest';
import { minutes as minuteColumns, startTime } from '../../../test/kit/simulator.ts';
import { instrument } from '../../domain/instrument.ts';
import { priceText, quantityText } from '../../domain/money.ts';
import { klinesOf, lastDay } from './aggregate.ts';
import { klinesMarket } from './klines-market.ts';
import type { Market, MinuteRow } from './market.ts';
import { tapeMarket } from './tape-market.ts';

const at = instrument({ symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 1, quantityPrecision: 5 });
const minuteMs = 60_000;

/** Runs a market up to a time and gives what happened. */
function run(market: Market, until: number) {
  const prints: string[] = [];
  const looped: number[] = [];
  while (market.nextAt() <= until) {
    const time = market.nextAt();
    const event = market.next();
    if (event.print !== undefined) {
      expect(event.print.time).toBe(time);
      prints.push(
        `${time - startTime} ${event.print.side} ${priceText(event.print.price, at)} ${quantityText(event.print.quantity, at)}`,
      );
    }
    if (event.looped !== undefined) looped.push(event.looped);
  }
  return { prints, looped };
}

describe('a market of klines', () => {
  const rows = Array.from(
    { length: 10 },
    (_, index) => [100 + index, 110 + index, 90 + index, 101 + index, 5] as const,
  );
  const klines = minuteColumns(rows, startTime - 5 * minuteMs);
  const open = (now = startTime) =>
    klinesMarket({ instrument: at, klines, startIndex: 5, anchor: startTime, now, seed: 1 });

  test('serves the rows before its start as history, and each replayed minute as recorded once it has closed', () => {
    const market = open();
    expect(
      klinesOf(market.minutes, '1min', { count: 300 })
        .map(({ open: price }) => price)
        .slice(-5),
    ).toEqual([104, 103, 102, 101, 100]);
    run(market, startTime + minuteMs + 500);
    const [, closed] = klinesOf(market.minutes, '1min', { count: 2 });
    expect(closed).toEqual({ openTime: startTime, open: 105, high: 115, low: 95, close: 106, volume: 5 });
  });

  test('begins anew at the end, with time going on, and says so', () => {
    const market = open();
    const { looped } = run(market, startTime + 11.5 * minuteMs);
    expect(looped).toEqual([1, 2]);
    const opens = klinesOf(market.minutes, '1min', { count: 7 }).map((row) => [
      (row.openTime - startTime) / minuteMs,
      row.open,
    ]);
    expect(opens).toEqual([
      [11, 106],
      [10, 105],
      [9, 109],
      [8, 108],
      [7, 107],
      [6, 106],
      [5, 105],
    ]);
  });

  test('goes on from the middle of a minute exactly as if it had never stopped', () => {
    const whole = run(open(), startTime + 7 * minuteMs).prints;
    const stop = startTime + 90_500;
    const before = run(open(), stop).prints;
    const resumed = open(stop);
    expect([...before, ...run(resumed, startTime + 7 * minuteMs).prints]).toEqual(whole);
  });

  test('shows 30 levels a side around the last print, never crossed', () => {
    const market = open();
    for (let index = 0; index < 50; index++) {
      const { print, book } = market.next();
      if (print === undefined || book === undefined) continue;
      const [bid, ask] = [book.bids[0]?.price ?? 0n, book.asks[0]?.price ?? 0n];
      expect([book.bids.length, book.asks.length]).toEqual([30, 30]);
      expect(bid < ask && print.price === (print.side === 'BUY' ? ask : bid)).toBe(true);
      expect([...book.bids, ...book.asks].every(({ price, quantity }) => price > 0n && quantity > 0n)).toBe(true);
    }
  });

  test('a start outside the data is refused', () => {
    expect(() => klinesMarket({ instrument: at, klines, startIndex: 10, anchor: 0, now: 0, seed: 1 })).toThrow(
      /startIndex 10 is outside the 10 klines/,
    );
  });
});

describe('a market of a tape', () => {
  const recorded = 1_700_000_000_000;
  const tape = {
    trades: [
      { time: recorded, price: 100, quantity: 1, side: 'BUY' },
      { time: recorded + 500, price: 101.5, quantity: 2, side: 'SELL' },
      { time: recorded + 70_000, price: 99, quantity: 3, side: 'SELL' },
    ],
    depth: [
      { time: recorded + 500, bids: [[101.4, 1]], asks: [[101.6, 2]] },
      { time: recorded + 1_500, bids: [[101.3, 1]], asks: [[101.7, 2]] },
    ],
  } as const;
  const open = (now = startTime) => tapeMarket({ instrument: at, tape, anchor: startTime, now });

  test('replays trades and books at their times, a trade before a book of the same time', () => {
    const market = open(startTime - 1);
    expect(run(market, startTime + 499).prints).toEqual(['0 BUY 100 1']);
    expect(market.book()).toEqual({ bids: [], asks: [] });
    expect(market.nextAt()).toBe(startTime + 500);
    expect(market.next().print?.quantity).toBe(200_000n);
    expect(market.next().book?.asks[0]?.price).toBe(1_016n);
  });

  test('makes klines of its prints, and begins anew a second after its end', () => {
    const market = open(startTime - 1);
    const { prints, looped } = run(market, startTime + 71_000);
    expect(looped).toEqual([1]);
    expect(prints.at(-1)).toBe('71000 BUY 100 1');
    expect(klinesOf(market.minutes, '1min', { count: 5 })).toEqual([
      { openTime: startTime + minuteMs, open: 99, high: 100, low: 99, close: 100, volume: 4 },
      { openTime: startTime, open: 100, high: 101.5, low: 100, close: 101.5, volume: 3 },
    ]);
  });

  test('goes on from the middle as if it had never stopped', () => {
    const stop = startTime + 60_000;
    const resumed = open(stop);
    expect(resumed.recent).toHaveLength(2);
    expect(resumed.book().bids[0]?.price).toBe(1_013n);
    expect(run(resumed, startTime + 70_000).prints).toEqual(['70000 SELL 99 3']);
  });
});

describe('klines of longer intervals', () => {
  const rows: MinuteRow[] = Array.from({ length: 3_000 }, (_, index) => ({
    openTime: startTime + index * minuteMs,
    open: index,
    high: index + 10,
    low: index - 10,
    close: index + 1,
    volume: 2,
  }));
  const forming = {
    openTime: startTime + 3_000 * minuteMs,
    open: 3_000,
    high: 3_001,
    low: 2_999,
    close: 3_000,
    volume: 1,
  };
  const minutes = { count: rows.length, row: (index: number) => rows[index] as MinuteRow, forming };

  test('are made of their minutes, the newest first and not closed yet', () => {
    const klines = klinesOf(minutes, '60min', { count: 2 });
    expect(klines).toEqual([
      { openTime: startTime + 3_000 * minuteMs, open: 3_000, high: 3_001, low: 2_999, close: 3_000, volume: 1 },
      { openTime: startTime + 2_940 * minuteMs, open: 2_940, high: 3_009, low: 2_930, close: 3_000, volume: 120 },
    ]);
    expect(klinesOf(minutes, '1day', { count: 300 }).map(({ volume }) => volume)).toEqual([241, 2_880, 2_880]);
  });

  test('startTime and endTime bound them by their open, both included', () => {
    const from = startTime + 10 * minuteMs;
    const to = startTime + 20 * minuteMs;
    const times = klinesOf(minutes, '5min', { count: 300, from, to }).map(
      ({ openTime }) => (openTime - startTime) / minuteMs,
    );
    expect(times).toEqual([20, 15, 10]);
    expect(klinesOf(minutes, '5min', { count: 1, to })).toMatchObject([
      { openTime: to, open: 20, close: 25, volume: 10 },
    ]);
  });

  test('the last 24 hours hold 1,440 minutes and the one that forms', () => {
    expect(lastDay(minutes, forming.openTime)).toMatchObject({ open: 1_560, close: 3_000, volume: 2_881 });
  });
});
