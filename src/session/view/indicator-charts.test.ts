import { from, NEVER } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, eth, kline, startTime } from '../../../test/kit/builders.ts';
import type { IndicatorsView } from '../../dashboard/indicators.ts';
import type { Interval } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import { defineStrategy, type Holding } from '../../strategy/contract.ts';
import { decisionsOf, type HostedMarket } from '../../strategy/host.ts';
import { macd, roc, rsi, sma } from '../../strategy/indicators.ts';
import { on } from '../../strategy/larger-klines.ts';
import { of } from '../../strategy/markets/joined-klines.ts';
import { marketsStep } from '../../strategy/markets/several-markets-host.ts';
import { flat } from '../../strategy/signals.ts';
import { IndicatorCharts } from './indicator-charts.ts';

const minuteMs = 60_000;
const holding: Holding = {
  ...{ quantity: 0, entryPrice: Number.NaN, equity: 1, entryTime: Number.NaN, klinesHeld: 0, best: Number.NaN },
  ...{ worst: Number.NaN, profit: 0, realisedNet: 0, lastExit: undefined },
};
const onBtc = (interval: Interval = '1min') => ({
  ...{ id: 's', use: 's', params: {}, symbol: btc.symbol, interval, instrument: btc },
});
/** Prices that go up and down, so that no two averages are equal. */
const priceAt = (minute: number): number => 100 + 7 * Math.sin(minute / 5) + minute / 50;
const klines = (from: number, to: number): Kline[] =>
  Array.from({ length: to - from }, (_, index) => kline(priceAt(from + index), from + index));

/** Runs a strategy, and notes what `decide` gets at each kline. */
function running(charts: IndicatorCharts, period: number, history: readonly Kline[], live: readonly Kline[]) {
  const seen = new Map<number, readonly number[]>();
  const strategy = defineStrategy({
    name: 'noting',
    about: '',
    params: {},
    indicators: () => ({ average: sma('close', period), strength: rsi('close', 5), macd: macd('close') }),
    decide({ average, strength, macd: { line, signal, histogram } }, { kline: { openTime } }) {
      seen.set(openTime, [average, strength, line, signal, histogram]);
      return flat('none');
    },
  });
  const one = { ...onBtc(), strategy };
  decisionsOf(one, {
    ...{ history, klines: from(live), trades: NEVER, depth: NEVER, ticker: NEVER, gaps: NEVER, fills: NEVER, holding },
    watcher: charts.watch(one),
    now: () => startTime,
    failed(error) {
      throw error;
    },
  }).subscribe();
  return seen;
}
const minuteChart = (charts: IndicatorCharts, asked: object = {}): IndicatorsView =>
  charts.view({ symbol: btc.symbol, interval: '1min', ...asked });

test('a chart has the values that decisions got, those of the warm-up before them, and nothing on other charts', () => {
  const charts = new IndicatorCharts();
  const seen = running(charts, 10, klines(0, 60), klines(60, 70));
  const { values, leftOut } = minuteChart(charts);
  expect(values).toMatchObject([
    { strategy: 's', names: ['average', 'strength', 'macd.line', 'macd.signal', 'macd.histogram'] },
  ]);
  const [{ rows } = { rows: [] }] = values;
  expect(rows.map(([openTime]) => openTime)).toEqual(klines(0, 70).map(({ openTime }) => openTime));
  expect(seen.size).toBe(10);
  expect(new Map(rows.slice(60).map(([openTime, ...its]) => [openTime, its]))).toEqual(seen);
  expect(rows[8]?.[1]).toBeNull();
  const average = klines(0, 10).reduce((sum, { close }) => sum + close / 10, 0);
  expect(rows[9]?.[1]).toBeCloseTo(average, 9);
  expect(leftOut).toBe(0);
  expect(charts.view({ symbol: btc.symbol, interval: '5min' }).values).toEqual([]);
  expect(charts.view({ symbol: eth.symbol, interval: '1min' }).values).toEqual([]);
});

test('a page that has values gets the new ones, and all of them once the strategy has warmed up again with other code', () => {
  const charts = new IndicatorCharts();
  running(charts, 10, klines(0, 60), klines(60, 70));
  const { run } = minuteChart(charts);
  const from = startTime + 68 * minuteMs;
  const openTimes = (asked: object): readonly number[] =>
    minuteChart(charts, asked).values.flatMap(({ rows }) =>
      rows.map(([openTime]) => (openTime - startTime) / minuteMs),
    );
  expect(openTimes({ run, from })).toEqual([68, 69]);
  const seen = running(charts, 20, klines(10, 70), klines(70, 72));
  expect(openTimes({ run, from })).toHaveLength(62);
  const [{ rows } = { rows: [] }] = minuteChart(charts).values;
  expect(rows.at(-1)?.slice(1)).toEqual(seen.get(startTime + 71 * minuteMs));
  expect(rows[0]?.[0]).toBe(startTime + 10 * minuteMs);
});

test('of a long warm-up the newest klines are kept, with many indicators fewer, and a chart answers no more lines than fit', () => {
  const charts = new IndicatorCharts();
  running(charts, 10, klines(0, 1_500), klines(1_500, 1_501));
  const [{ rows } = { rows: [] }] = minuteChart(charts).values;
  expect([rows.length, rows.at(-1)?.[0]]).toEqual([1_000, startTime + 1_500 * minuteMs]);
  const many = new IndicatorCharts();
  const watcher = many.watch({ ...onBtc(), strategy: noStrategy });
  const indicators = Array.from({ length: 400 }, (_, index) => ({
    ...{ name: `a${index}`, group: `a${index}`, line: undefined, indicator: sma('close', 2) },
  }));
  watcher.begin(indicators);
  for (const { openTime } of klines(0, 600)) watcher.after(0, openTime, new Float64Array(400).fill(openTime));
  const shown = minuteChart(many);
  expect(shown.values[0]?.names).toHaveLength(24);
  expect(shown.values[0]?.rows).toHaveLength(500);
  expect(shown.leftOut).toBe(376);
});

const noStrategy = defineStrategy({
  name: 'none',
  about: '',
  params: {},
  indicators: () => ({}),
  decide: () => undefined,
});

test('an indicator over larger klines is on their chart, too, with its value at each of their closes', () => {
  const charts = new IndicatorCharts();
  const strategy = defineStrategy({
    name: 'larger',
    about: '',
    params: {},
    indicators: () => ({ fast: sma('close', 2), slow: on('5min', sma('close', 2)) }),
    decide: () => undefined,
  });
  const one = { ...onBtc(), strategy };
  decisionsOf(one, {
    ...{ history: klines(0, 20), klines: from(klines(20, 22)), trades: NEVER, depth: NEVER, ticker: NEVER },
    ...{ gaps: NEVER, fills: NEVER, holding, watcher: charts.watch(one), now: () => startTime, failed: () => {} },
  }).subscribe();
  expect(minuteChart(charts).values).toMatchObject([{ names: ['fast', 'slow'] }]);
  const [{ names, rows } = { names: [], rows: [] }] = charts.view({ symbol: btc.symbol, interval: '5min' }).values;
  expect(names).toEqual(['slow']);
  expect(rows).toEqual([
    [startTime, null],
    ...[5, 10, 15].map((minute) => [startTime + minute * minuteMs, (priceAt(minute + 4) + priceAt(minute - 1)) / 2]),
  ]);
});

test('of several markets each has its own indicators on its chart, by role or, in a list, by symbol', () => {
  const market = (role: string, at: typeof btc, interval: Interval): HostedMarket => ({
    ...{ role, symbol: at.symbol, interval, instrument: at, use: 'traded' },
  });
  const inputs = { holdings: [holding, holding], equity: () => 1 };
  const moment = (minute: number, both: readonly (Kline | undefined)[]) => ({
    ...{ time: startTime + minute * minuteMs, klines: both, isNew: true, isLate: false },
  });
  const roles = defineStrategy({
    name: 'roles',
    about: '',
    params: {},
    markets: { lead: 'traded', lag: 'traded' },
    indicators: () => ({ fast: of('lead', sma('close', 1)), slow: of('lag', sma('close', 1)) }),
    decide: () => undefined,
  });
  const charts = new IndicatorCharts();
  const markets = [market('lead', btc, '1min'), market('lag', btc, '5min')];
  const one = { ...onBtc(), strategy: roles, markets };
  const step = marketsStep(one, { ...inputs, watcher: charts.watch(one) });
  const five: Kline = { ...kline(50), interval: '5min' };
  step(moment(1, [kline(10, 0), undefined]));
  step(moment(5, [kline(14, 4), five]));
  expect(minuteChart(charts).values).toEqual([
    {
      strategy: 's',
      role: 'lead',
      names: ['fast'],
      rows: [
        [startTime, 10],
        [startTime + 4 * minuteMs, 14],
      ],
    },
  ]);
  expect(charts.view({ symbol: btc.symbol, interval: '5min' }).values).toEqual([
    { strategy: 's', role: 'lag', names: ['slow'], rows: [[startTime, 50]] },
  ]);

  const list = defineStrategy({
    name: 'list',
    about: '',
    params: {},
    indicators: () => ({ rise: roc('close', 1) }),
    choose: () => undefined,
  });
  const listed = {
    ...onBtc(),
    id: 'list',
    strategy: list,
    markets: [market(btc.symbol, btc, '1min'), market(eth.symbol, eth, '1min')],
  };
  const next = marketsStep(listed, { ...inputs, watcher: charts.watch(listed) });
  next(moment(1, [kline(10, 0), kline(20, 0, eth.symbol)]));
  next(moment(2, [kline(11, 1), kline(20, 1, eth.symbol)]));
  const [{ rows, ...shown } = { rows: [] }] = charts.view({ symbol: eth.symbol, interval: '1min' }).values;
  expect(shown).toEqual({ strategy: 'list', names: ['rise'] });
  expect(rows.at(-1)).toEqual([startTime + minuteMs, 0]);
});
