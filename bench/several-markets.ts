/**
 * A rotation over 20 symbols against 20 single runs that create the same orders, in one engine and by turns: the ratio counts. Then 200 symbols
 * over four years of hours, each in a process of its own.
 *
 *     node bench/several-markets.ts [--json]
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KlineEngine } from '../src/backtest/engine/klines/engine.ts';
import type { RunInput } from '../src/backtest/run.ts';
import { systemClock } from '../src/clock/clock.ts';
import { loadKlines } from '../src/data/klines.ts';
import { instrument } from '../src/domain/instrument.ts';
import { type Interval, intervalMs } from '../src/domain/interval.ts';
import { type Columns, mapColumns } from '../src/domain/market.ts';
import { minus, noLots, plus, quantityText, units } from '../src/domain/money.ts';
import type { Fill, Signal } from '../src/domain/order.ts';
import { defineStrategy, type Strategy } from '../src/strategy/contract.ts';
import { roc } from '../src/strategy/indicators.ts';
import { weights } from '../src/strategy/markets/weights.ts';
import { flat, hold } from '../src/strategy/signals.ts';
import { type Measured, print } from './goals.ts';
import { inputFor, root } from './market.ts';

/** Holds the three markets that rose the most. */
const rotation = (rebalance: Interval | undefined, period: number): Strategy =>
  defineStrategy({
    name: 'rotation',
    about: 'Holds the three markets that rose the most',
    params: {},
    ...(rebalance !== undefined && { rebalance }),
    indicators: () => ({ rise: roc('close', period) }),
    choose(markets) {
      const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 3);
      return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.3])), 'the strongest', { threshold: 0.1 });
    },
  });

const symbolOf = (index: number): string => `S${String(index).padStart(3, '0')}USD`;

/** The same klines, begun at another row for each symbol: markets that differ, with real prices. */
function turned(columns: Columns, index: number, count: number, rows: number): Columns {
  const first = Math.floor((columns.openTime.length * index) / count);
  return mapColumns(columns, (column, name) =>
    Float64Array.from({ length: rows }, (_, row) =>
      name === 'openTime' ? (columns.openTime[row] as number) : (column[(first + row) % column.length] as number),
    ),
  );
}

function inputOf(series: readonly Columns[], strategy: Strategy, interval: Interval): RunInput {
  const base = inputFor(series[0] as Columns, 10, 50);
  const [first] = base.hosted;
  if (first === undefined) throw new Error('there is no strategy');
  const at = series.map((_, index) => {
    const symbol = symbolOf(index);
    return instrument({ ...first.instrument, symbol, base: symbol.slice(0, 4) });
  });
  const markets = at.map((one) => ({
    role: one.symbol,
    symbol: one.symbol,
    interval,
    instrument: one,
    use: 'traded' as const,
  }));
  return {
    ...base,
    hosted: [
      {
        ...first,
        strategy,
        params: {},
        interval,
        symbol: symbolOf(0),
        instrument: at[0] as (typeof at)[number],
        markets,
      },
    ],
    instruments: new Map(at.map((one) => [one.symbol, one])),
    series: series.map((columns, index) => ({
      ...{ symbol: symbolOf(index), interval, columns, gaps: [], first: 0, end: columns.openTime.length },
    })),
    allocations: at.map(({ symbol }, index) => ({
      ...{ strategy: first.id, symbol, amount: units(index === 0 ? '1000000' : '0') },
    })),
  };
}

/** A run of one symbol whose strategy says after each close what leads to the fills of the rotation there. */
function singleOf(input: RunInput, index: number, fills: readonly Fill[]): RunInput {
  const [hosted] = input.hosted;
  const series = input.series[index];
  if (hosted === undefined || series === undefined) throw new Error('there is no strategy');
  const { symbol, interval } = series;
  const at = input.instruments.get(symbol);
  if (at === undefined) throw new Error('there is no instrument');
  const lengthMs = intervalMs(interval, 0);
  const signals = new Map<number, Signal>();
  let held = noLots;
  for (const { side, quantity, time } of fills.filter((fill) => fill.symbol === symbol)) {
    held = side === 'BUY' ? plus(held, quantity) : minus(held, quantity);
    const size = Number(quantityText(held, at));
    signals.set(time - lengthMs, size === 0 ? flat('as the rotation') : hold({ quantity: size }, 'as the rotation'));
  }
  const strategy = defineStrategy({
    name: 'single',
    about: 'Creates the orders of the rotation on one symbol',
    params: {},
    indicators: () => ({ rise: roc('close', 2_000) }),
    decide: ({ rise }, { kline }) => (Number.isNaN(rise) ? undefined : signals.get(kline.openTime)),
  });
  const { markets: _, ...alone } = hosted;
  return {
    ...input,
    hosted: [{ ...alone, strategy, symbol, instrument: at }],
    instruments: new Map([[symbol, at]]),
    series: [series],
    allocations: [{ strategy: hosted.id, symbol, amount: units('1000000') }],
  };
}

/** With columns of its own, so that nothing is known of a run before. */
const afresh = (input: RunInput): RunInput => ({
  ...input,
  series: input.series.map((one) => ({ ...one, columns: mapColumns(one.columns, (column) => column.slice()) })),
});

function timed(input: RunInput): { readonly ms: number; readonly fills: readonly Fill[] } {
  const began = systemClock.monotonic();
  const engine = new KlineEngine(input);
  while (engine.advance(Number.POSITIVE_INFINITY) === 'more');
  const ms = systemClock.monotonic() - began;
  return { ms, fills: engine.result().fills };
}

/** The median ratio of some runs by turns, and both terms of each. */
function compared(input: RunInput, turns: number) {
  const { fills } = timed(input);
  const singles = input.series.map((_, index) => singleOf(input, index, fills));
  const pairs = Array.from({ length: turns }, () => ({
    together: timed(afresh(input)).ms,
    apart: singles.reduce((sum, one) => sum + timed(afresh(one)).ms, 0),
  }));
  const apartFills = singles.reduce((sum, one) => sum + timed(one).fills.length, 0);
  if (apartFills !== fills.length) throw new Error(`${apartFills} fills in single runs, not ${fills.length}`);
  const ratios = pairs.map(({ together, apart }) => together / apart).toSorted((a, b) => a - b);
  return { fills: fills.length, ratio: ratios[Math.floor(turns / 2)] as number, pairs };
}

/** Hourly klines of a random walk: a market of this size is recorded nowhere. */
function walk(seed: number, rows: number): Columns {
  let state = seed * 2_654_435_761;
  const chance = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  const column = (): Float64Array => new Float64Array(rows);
  const columns = {
    openTime: column(),
    open: column(),
    high: column(),
    low: column(),
    close: column(),
    volume: column(),
  };
  let price = 20 + 200 * chance();
  for (let row = 0; row < rows; row++) {
    const close = Math.max(1, Math.round(price * (1 + 0.02 * (chance() - 0.5)) * 100) / 100);
    columns.openTime[row] = row * 3_600_000;
    columns.open[row] = price;
    columns.high[row] = Math.max(price, close) + 0.05;
    columns.low[row] = Math.min(price, close) - 0.05;
    columns.close[row] = close;
    columns.volume[row] = 10_000;
    price = close;
  }
  return columns;
}

function comparedRows() {
  const path = join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz');
  const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
  const few = Array.from({ length: 20 }, (_, index) => turned(columns, index, 20, 100_000));
  return (['each close', '1day', '1week'] as const).map((asked) => ({
    asked,
    ...compared(inputOf(few, rotation(asked === 'each close' ? undefined : asked, 2_000), '1min'), 5),
  }));
}

/** 200 symbols over four years of hours, in a process of its own. */
function manySymbols(rebalance: Interval | undefined) {
  const many = Array.from({ length: 200 }, (_, index) => walk(index + 1, 35_000));
  const before = process.memoryUsage().rss;
  const { ms, fills } = timed(inputOf(many, rotation(rebalance, 720), '60min'));
  const mb = (bytes: number): number => Math.round(bytes / 1e6);
  return { ms, fills: fills.length, mb: mb(process.resourceUsage().maxRSS * 1_024), klinesMb: mb(before) };
}

const {
  values: { json, many },
} = parseArgs({ options: { json: { type: 'boolean' }, many: { type: 'string' } } });
if (many !== undefined)
  console.log(JSON.stringify(manySymbols(many === 'each close' ? undefined : (many as Interval))));
else {
  const rows = comparedRows();
  const wide = ['1week', '1day', 'each close'].map((asked) => ({
    asked,
    ...(JSON.parse(
      execFileSync(process.execPath, [import.meta.filename, '--many', asked], { encoding: 'utf8' }),
    ) as ReturnType<typeof manySymbols>),
  }));
  const ratios = rows.map(({ asked, fills, ratio, pairs }): Measured => {
    const [first] = pairs.toSorted((a, b) => a.together - b.together);
    const ms = first === undefined ? '' : `, at best ${first.together.toFixed(0)} ms`;
    return {
      name: `20 symbols × 100,000 minutes, ${asked}, beside 20 single runs`,
      result: `${ratio.toFixed(2)} times as long, ${fills} fills${ms}`,
      goal: '1.2 times',
    };
  });
  const runs = wide.map(
    ({ asked, ms, fills, mb }): Measured => ({
      name: `200 symbols × 35,000 hours, ${asked}`,
      result: `${(ms / 1_000).toFixed(2)} s, ${mb} MB at most, ${fills} fills`,
      goal: '4 s, 800 MB',
    }),
  );
  print([...ratios, ...runs], json);
}
