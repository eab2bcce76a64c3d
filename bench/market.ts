/** What the backtest benchmarks share: the recorded market, the bare loop, and a run's input. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunInput } from '../src/backtest/run.ts';
import { type BacktestConfig, backtestSchema } from '../src/config/schema.ts';
import { instrument } from '../src/domain/instrument.ts';
import type { Columns } from '../src/domain/market.ts';
import { rate, units } from '../src/domain/money.ts';
import { feesFrom, rulesets } from '../src/fill/rules.ts';
import { readParams } from '../src/strategy/params.ts';
import { registry } from '../strategies/registry.ts';

const { default: smaCross } = await registry['sma-cross']();

export const root = join(import.meta.dirname, '..');
const bundled = join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz');
const recorded = join(root, '..', 'shared', 'data', 'recorded', 'klines');

export interface Market {
  readonly path: string;
  readonly about: string;
  /** Removes what was unpacked. */
  readonly close: () => void;
}

/** The 2.77 million minute klines where the recording lies beside this checkout, else the bundled 129,600. */
export function market(): Market {
  const packed = existsSync(recorded)
    ? readdirSync(recorded).find((name) => /^bitmex_XBTUSD.*\.csv\.xz$/.test(name))
    : undefined;
  if (packed === undefined) return { path: bundled, about: 'XBTUSD minute klines, bundled', close: () => {} };
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const path = join(dir, packed.replace(/\.xz$/, ''));
  execFileSync('xz', ['-dc', join(recorded, packed)], { stdio: ['ignore', openSync(path, 'w'), 'inherit'] });
  return { path, about: `XBTUSD minute klines, ${packed}`, close: () => rmSync(dir, { recursive: true }) };
}

/** What everything is compared with: typed arrays, two running sums, count the crosses. Fixed. */
export function bareLoop(close: Float64Array, fast: number, slow: number): number {
  let fastSum = 0;
  let slowSum = 0;
  let crosses = 0;
  let isAbove = false;
  for (let at = 0; at < close.length; at++) {
    fastSum += close[at] as number;
    slowSum += close[at] as number;
    if (at >= fast) fastSum -= close[at - fast] as number;
    if (at >= slow) slowSum -= close[at - slow] as number;
    if (at < slow - 1) continue;
    const above = fastSum / fast - slowSum / slow > 1e-6;
    if (above !== isAbove) crosses++;
    isAbove = above;
  }
  return crosses;
}

/** What the summary of such a run is made by. */
export const configFor = (): BacktestConfig =>
  backtestSchema.parse({
    cash: '10000000',
    rules: 'plain',
    strategies: [{ id: 'bench', use: 'sma-cross', symbol: 'XBTUSD', interval: '1min' }],
    risk: { maxOrderValue: '1', maxPosition: '1' },
  });

/** The shipped `sma-cross` holding one unit, under `plain`, a fee of 0.1 %, 10,000,000 of cash and limits that never bind. */
export function inputFor(columns: Columns, fast: number, slow: number): RunInput {
  const at = instrument({ symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 });
  const { values: params } = readParams(smaCross.params, { fast, slow, quantity: 1 });
  const wide = units('1000000000000');
  const hosted = {
    id: 'bench',
    use: 'sma-cross',
    strategy: smaCross,
    params,
    symbol: 'XBTUSD',
    interval: '1min',
  } as const;
  return {
    account: 'spot',
    hosted: [{ ...hosted, instrument: at }],
    instruments: new Map([['XBTUSD', at]]),
    series: [{ symbol: 'XBTUSD', interval: '1min', columns, gaps: [], first: 0, end: columns.close.length }],
    allocations: [{ strategy: 'bench', symbol: 'XBTUSD', amount: units('10000000') }],
    cash: units('10000000'),
    limits: {
      maxOrderValue: wide,
      maxPosition: wide,
      priceCollar: rate('1'),
      maxDataAgeMs: 86_400_000,
      duplicateWindowMs: 0,
      maxOrdersPerSecond: 40,
      maxDailyLoss: rate('1'),
    },
    rules: rulesets.plain,
    fees: feesFrom({ maker: rate('0.001'), taker: rate('0.001') }),
  };
}
