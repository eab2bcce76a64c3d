import { expect, test } from 'vitest';
import { btc, eth, kline, startTime } from '../../../test/kit/builders.ts';
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import type { Hosted } from '../../strategy/host.ts';
import { sma } from '../../strategy/indicators.ts';
import { on } from '../../strategy/larger-klines.ts';
import { KlineCharts } from './kline-charts.ts';

const minuteMs = 60_000;
/** A strategy of minutes with an indicator over a larger interval. */
const over = (larger: Interval, interval: Interval = '1min'): Hosted => ({
  ...{ id: `over-${larger}`, params: {}, symbol: btc.symbol, interval, instrument: btc },
  strategy: defineStrategy({
    name: 'over',
    about: '',
    params: {},
    indicators: () => ({ slow: on(larger, sma('close', 2)) }),
    decide: () => undefined,
  }),
});
const minutes = (from: number, to: number): Kline[] =>
  Array.from({ length: to - from }, (_, index) => kline(100 + from + index, from + index));
const shown = (charts: KlineCharts, interval: Interval) =>
  charts
    .klines(btc.symbol, interval)
    .map(({ openTime, open, high, low, close, volume }) => [
      (openTime - startTime) / minuteMs,
      ...[open, high, low, close, volume],
    ]);

test('the klines of a larger interval are made from those that the daemon has, with the one that is open', () => {
  const charts = new KlineCharts();
  charts.add(over('5min'));
  expect(charts.intervals(btc.symbol)).toEqual(['1min', '5min']);
  charts.addHistory(minutes(3, 12));
  // The first, whose beginning is missing, is left out.
  const first = [5, 105, 109, 105, 109, 5];
  expect(shown(charts, '5min')).toEqual([first, [10, 110, 111, 110, 111, 2]]);
  for (const one of minutes(12, 15)) charts.addKline(one);
  expect(shown(charts, '5min')).toEqual([first, [10, 110, 114, 110, 114, 5]]);
  const time = startTime + 15 * minuteMs + 1;
  charts.addTrade({ symbol: btc.symbol, time, price: 99, quantity: 3, side: 'BUY', seenAt: time });
  expect(shown(charts, '5min').at(-1)).toEqual([15, 99, 99, 99, 99, 3]);
  expect(shown(charts, '1min').at(-1)).toEqual([15, 99, 99, 99, 99, 3]);
  expect(charts.klines(eth.symbol, '1min')).toEqual([]);
});

test('a second history repeats nothing, brings more of the past, and fills a hole', () => {
  const charts = new KlineCharts();
  charts.add(over('5min'));
  charts.addHistory(minutes(10, 20));
  charts.addHistory(minutes(0, 20));
  charts.addKline(kline(120, 20));
  charts.addKline(kline(120, 20));
  const openTimes = (interval: Interval) => shown(charts, interval).map(([openTime]) => openTime);
  expect(openTimes('5min')).toEqual([0, 5, 10, 15, 20]);
  expect(openTimes('1min')).toEqual(minutes(0, 21).map(({ openTime }) => (openTime - startTime) / minuteMs));
  // Minutes 21 to 23 were missed.
  charts.addKline(kline(124, 24));
  charts.addHistory(minutes(15, 25));
  charts.addKline(kline(125, 25));
  expect(openTimes('1min')).toHaveLength(26);
  expect(openTimes('5min')).toEqual([0, 5, 10, 15, 20, 25]);
  expect(shown(charts, '5min').at(-2)).toEqual([20, 120, 124, 120, 124, 5]);
});

test('klines of a larger interval that a feed has are shown as they come, and new code brings new intervals', () => {
  const charts = new KlineCharts();
  charts.add(over('5min'));
  charts.addHistory(minutes(0, 10));
  charts.add({ ...over('15min'), interval: '5min' });
  charts.addKline({ ...kline(7, 10), interval: '5min' });
  expect(charts.intervals(btc.symbol)).toEqual(['1min', '5min', '15min']);
  expect(shown(charts, '5min').at(-1)).toEqual([10, 7, 7, 7, 7, 1]);
  charts.addHistory([0, 5, 10].map((minute) => ({ ...kline(7 + minute, minute), interval: '5min' })));
  expect(shown(charts, '15min')).toEqual([[0, 7, 17, 7, 17, 3]]);
});

test('a chart keeps the newest thousand klines', () => {
  const charts = new KlineCharts();
  charts.add(over('5min'));
  charts.addHistory(minutes(0, 400));
  expect(charts.klines(btc.symbol, '1min')).toHaveLength(300);
  for (const one of minutes(400, 1_600)) charts.addKline(one);
  expect(charts.klines(btc.symbol, '1min')).toHaveLength(1_000);
  expect(charts.klines(btc.symbol, '5min')).toHaveLength(320);
});

test('a page is answered what is new, and everything where klines before that changed or it is of another run', () => {
  const charts = new KlineCharts();
  charts.add(over('5min'));
  charts.addHistory(minutes(0, 10));
  const asked = { symbol: btc.symbol, interval: '1min' };
  const minute = (index: number): number => startTime + index * minuteMs;
  const { run, whole, columns } = charts.view(asked);
  expect([whole, columns.openTime, columns.close.at(-1)]).toEqual([
    true,
    minutes(0, 10).map((one) => one.openTime),
    109,
  ]);
  const after = (index: number, of = run) => charts.view({ ...asked, run: of, after: minute(index) });
  expect(after(9)).toMatchObject({ run, whole: false, columns: { openTime: [], volume: [] } });
  charts.addKline(kline(111, 10));
  expect(after(8)).toMatchObject({ whole: false, columns: { openTime: [minute(9), minute(10)], close: [109, 111] } });
  expect(after(8, run + 1).columns.openTime).toHaveLength(11);
  // A page of a daemon whose clock was later.
  expect(after(99)).toMatchObject({ whole: true });
  charts.addHistory(minutes(-5, 10));
  expect(after(9)).toMatchObject({ whole: true });
  expect(after(9).columns.openTime).toHaveLength(16);
});
