/** The runs that `speed.ts` measures: strategies that people run, over the recorded minute klines. */
import { map } from 'rxjs';
import type { RunInput } from '../src/backtest/run.ts';
import { instrument } from '../src/domain/instrument.ts';
import type { Columns } from '../src/domain/market.ts';
import { noRate, rate, units } from '../src/domain/money.ts';
import { feesFrom, rulesets } from '../src/fill/rules.ts';
import { defineStrategy, type Strategy } from '../src/strategy/contract.ts';
import { atr, sma } from '../src/strategy/indicators.ts';
import { readParams } from '../src/strategy/params.ts';
import { flat, hold, quotes } from '../src/strategy/signals.ts';
import type { NamedHosted } from '../src/trading/strategies.ts';
import { registry } from '../strategies/registry.ts';
import { inputFor } from './market.ts';

const { default: grid } = await registry.grid();
const { default: smaCross } = await registry['sma-cross']();

export interface Case {
  readonly name: string;
  readonly input: (klines: Columns) => RunInput;
  /** M klines/s on a machine whose bare loop makes 280: of the run, and with its summary. */
  readonly goal?: readonly [run: number, withSummary: number];
}

type Changes = Partial<Omit<RunInput, 'limits'>> & { readonly limits?: Partial<RunInput['limits']> };
type Given = Readonly<Record<string, unknown>>;

/** One of several strategies of a run. */
interface Part extends Partial<Pick<NamedHosted, 'interval' | 'symbol'>> {
  readonly strategy: Strategy;
  readonly given?: Given;
}

/** A run of these strategies, each with its part of the cash. */
function runOf(klines: Columns, parts: readonly Part[], { limits, ...changes }: Changes = {}): RunInput {
  const base = inputFor(klines, 10, 50);
  const [first] = base.hosted;
  const [series] = base.series;
  if (first === undefined || series === undefined) throw new Error('there is no strategy');
  const hosted = parts.map(({ strategy, given = {}, ...more }, index): NamedHosted => {
    const { values: params, problems } = readParams(strategy.params, given);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    const symbol = more.symbol ?? first.symbol;
    const at = { ...first.instrument, symbol, base: symbol.slice(0, 3) };
    return { ...first, ...more, id: `bench${index}`, strategy, params, symbol, instrument: instrument(at) };
  });
  const symbols = [...new Set(hosted.map(({ symbol }) => symbol))];
  const each = units(String(Math.floor(10_000_000 / parts.length)));
  return {
    ...base,
    hosted,
    instruments: new Map(hosted.map((one) => [one.symbol, one.instrument])),
    series: symbols.map((symbol) => ({ ...series, symbol })),
    allocations: hosted.map(({ id, symbol }) => ({ strategy: id, symbol, amount: each })),
    ...changes,
    limits: { ...base.limits, ...limits },
  };
}

const one = (strategy: Strategy, given: Given = {}, changes: Changes = {}) => ({
  input: (klines: Columns) => runOf(klines, [{ strategy, given }], changes),
});

/** Averages of 500 and 2,500 klines, `share` 0.5, and whatever `exits` gives at a close. */
const slowCross = (exits: (close: number) => object): Strategy =>
  defineStrategy({
    name: 'slow-cross',
    about: 'Averages of 500 and 2,500 klines',
    params: {},
    indicators: () => ({ fast: sma('close', 500), slow: sma('close', 2_500) }),
    decide: ({ fast, slow }, { kline, holding }) =>
      fast <= slow
        ? flat('below')
        : holding.quantity > 0
          ? undefined
          : hold({ share: 0.5 }, 'above', exits(kline.close)),
  });

const atrStop = defineStrategy({
  name: 'atr-stop',
  about: 'Two averages, and a stop that follows at eight true ranges',
  params: {},
  indicators: () => ({ fast: sma('close', 100), slow: sma('close', 400), range: atr(14) }),
  decide: ({ fast, slow, range }, { kline }) =>
    fast <= slow ? flat('below') : hold({ quantity: 1 }, 'above', { stop: kline.close - 8 * range }),
});

/** Long above, short below. */
const reversing = defineStrategy({
  name: 'reversing',
  about: 'Long above the slow average, short below',
  params: {},
  indicators: () => ({ fast: sma('close', 50), slow: sma('close', 250) }),
  decide: ({ fast, slow }) => (fast > slow ? hold({ share: 0.5 }, 'above') : hold({ share: -0.5 }, 'below')),
});

const makesMarket = defineStrategy({
  name: 'makes-market',
  about: 'A quote on each side of every twentieth close',
  params: {},
  indicators: () => ({ mean: sma('close', 20) }),
  decide: ({ mean }, { kline, holding }) =>
    kline.openTime % 1_200_000 !== 0
      ? undefined
      : quotes(
          [
            ...(holding.quantity < 5 ? [{ side: 'BUY' as const, price: Math.floor(mean * 0.999), quantity: 1 }] : []),
            ...(holding.quantity >= 1 ? [{ side: 'SELL' as const, price: Math.ceil(mean * 1.001), quantity: 1 }] : []),
          ],
          'around the mean',
        ),
});

const rebalances = defineStrategy({
  name: 'rebalances',
  about: 'A share of the equity that changes with each hour',
  params: {},
  indicators: () => ({ mean: sma('close', 600) }),
  decide: ({ mean }, { kline }) =>
    kline.openTime % 3_600_000 !== 0
      ? undefined
      : hold({ share: Math.min(0.9, Math.max(0.1, 0.5 + (5 * (mean - kline.close)) / mean)) }, 'rebalance'),
});

/** Long while the close lies above its exponential mean. */
const streams = defineStrategy({
  name: 'streams',
  about: 'Long above an exponential mean of 500 klines',
  params: {},
  signals: ({ klines }) => {
    let mean = Number.NaN;
    return klines.pipe(
      map(({ close }) => {
        mean = Number.isNaN(mean) ? close : mean + (close - mean) / 500;
        return close > mean * 1.005 ? hold({ share: 0.5 }, 'above') : flat('below');
      }),
    );
  },
});

const sluice = { rules: rulesets.sluice, fees: feesFrom({ maker: rate('0.001'), taker: rate('0.002') }) };
const free = { fees: feesFrom({ maker: noRate, taker: noRate }) };
const margin = { maxLeverage: rate('2'), maintenanceRatio: rate('0.05') };
const cross = { fast: 10, slow: 50 };
const slow = { fast: 500, slow: 2_500 };

/** Every thirty days 1,000 are paid in. */
function paidIn(klines: Columns): RunInput {
  const run = runOf(klines, [{ strategy: smaCross, given: { ...slow, share: 0.5 } }]);
  const [start = 0] = klines.openTime;
  const end = klines.openTime.at(-1) ?? 0;
  const amount = units('1000');
  const shares = run.allocations.map(({ strategy, symbol }) => ({ strategy, symbol, amount }));
  const times = Array.from({ length: Math.floor((end - start) / 2_592_000_000) }, (_, month) => month + 1);
  const cashFlows = times.map((month) => ({
    ...{ time: start + month * 2_592_000_000, asset: 'USD', amount, reason: 'savings', shares },
  }));
  return { ...run, cashFlows };
}

export const cases: readonly Case[] = [
  { name: 'SMA 10/50, fixed quantity', goal: [15, 8], ...one(smaCross, { ...cross, quantity: 1 }) },
  { name: 'SMA 10/50, share', goal: [12, 7], ...one(smaCross, { ...cross, share: 0.9 }) },
  { name: 'SMA 10/50, share, no fees', ...one(smaCross, { ...cross, share: 0.9 }, free) },
  { name: 'SMA 10/50, trailing stop never hit', goal: [10, 6], ...one(smaCross, { ...cross, quantity: 1, stop: 0.5 }) },
  { name: 'SMA 500/2500, share, trailing 5 %', goal: [30, 30], ...one(smaCross, { ...slow, share: 0.5, stop: 0.05 }) },
  {
    name: 'SMA 500/2500, stop and target 5 %',
    ...one(slowCross((close) => ({ stop: close * 0.95, takeProfit: close * 1.05 }))),
  },
  {
    name: 'SMA 500/2500, LIMIT entry, stop, target',
    ...one(slowCross((close) => ({ limit: close * 0.999, stop: close * 0.95, takeProfit: close * 1.05 }))),
  },
  { name: 'SMA 500/2500, time exit', ...one(slowCross(() => ({ exitAfterMs: 6 * 3_600_000 }))) },
  {
    name: 'SMA 500/2500, target, trailing stop',
    ...one(slowCross((close) => ({ trailing: 0.02, takeProfit: close * 1.05 }))),
  },
  { name: 'shipped grid', ...one(grid, {}, sluice) },
  { name: 'SMA 10/50, share and stop, rules sluice', ...one(smaCross, { ...cross, share: 0.9, stop: 0.02 }, sluice) },
  { name: 'stop that moves with each kline', ...one(atrStop) },
  { name: 'quotes that move every 20 klines', ...one(makesMarket, {}, free) },
  { name: 'share that changes every hour', ...one(rebalances, {}, free) },
  {
    name: 'long and short on margin',
    ...one(
      reversing,
      {},
      {
        ...{
          account: 'margin',
          margin: { ...margin, liquidationFee: noRate, interest: new Map(), interestEveryMs: 3_600_000 },
        },
        limits: { maxLeverage: margin.maxLeverage },
      },
    ),
  },
  {
    name: 'max drawdown and rates',
    ...one(
      smaCross,
      { ...cross, share: 0.9 },
      {
        ...free,
        limits: { maxDrawdown: rate('0.9'), maxPositionShare: rate('1'), maxOpenOrders: 5, maxEntries: 100 },
      },
    ),
  },
  { name: 'made of streams', ...one(streams, {}, free) },
  { name: 'money paid in each month', input: paidIn },
  {
    name: 'three strategies on one symbol',
    input: (klines) =>
      runOf(klines, [
        { strategy: smaCross, given: { fast: 20, slow: 100, share: 0.9, stop: 0.05 } },
        { strategy: smaCross, given: { fast: 50, slow: 250, share: 0.9 } },
        { strategy: smaCross, given: { ...slow, share: 0.9, stop: 0.1 } },
      ]),
  },
  {
    name: 'two symbols',
    input: (klines) =>
      runOf(klines, [
        { strategy: smaCross, given: { fast: 20, slow: 100, share: 0.9, stop: 0.05 } },
        { strategy: smaCross, symbol: 'ETHUSD', given: { fast: 50, slow: 250, share: 0.9 } },
      ]),
  },
  {
    name: 'quarter hours made of minutes',
    input: (klines) =>
      runOf(klines, [{ strategy: smaCross, interval: '15min', given: { ...cross, share: 0.9, stop: 0.05 } }]),
  },
];
