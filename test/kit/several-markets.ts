/** Backtests of strategies of several markets over klines that a test writes down or makes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBacktest } from '../../src/backtest/engines.ts';
import { castOf, type Given, inputOf } from '../../src/backtest/prepare/prepare.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { readConfig } from '../../src/config/read.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { instrument } from '../../src/domain/instrument.ts';
import type { Interval } from '../../src/domain/interval.ts';
import type { Columns } from '../../src/domain/market.ts';
import { lots, units } from '../../src/domain/money.ts';
import type { AlonePolicy, Size, Target } from '../../src/domain/order.ts';
import type { TargetOptions } from '../../src/domain/target-options.ts';
import type { RulesetName } from '../../src/fill/rules.ts';
import { flat, hold } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';

export const minute = 60_000;

/** Klines of so many minutes that open where the one before closed; a row of `undefined` is missing. */
export function klines(closes: readonly (number | undefined)[], minutes = 1): Columns {
  const rows = closes.flatMap((close, index) =>
    close === undefined ? [] : [[index * minutes * minute, close] as const],
  );
  const column = (value: (row: number) => number): Float64Array => Float64Array.from(rows, (_, row) => value(row));
  const close = (row: number): number => (rows[row] as readonly [number, number])[1];
  const open = (row: number): number => close(Math.max(0, row - 1));
  return {
    openTime: column((row) => (rows[row] as readonly [number, number])[0]),
    open: column(open),
    high: column((row) => Math.max(open(row), close(row))),
    low: column((row) => Math.min(open(row), close(row))),
    close: column(close),
    volume: column(() => 1_000),
  };
}

/** Which markets the strategies below hold. */
export const fastAndSlow = 'markets: { fast: { symbol: AAAUSD }, slow: { symbol: BBBUSD } }';

/** Holds both from the first moment on. */
export const holdingBoth = (fast: Target, slow: Target, alone?: AlonePolicy) =>
  defineStrategy({
    name: 'both',
    about: 'Holds two markets at once',
    params: {},
    markets: { fast: 'traded', slow: 'traded' },
    ...(alone !== undefined && { legsAlone: alone }),
    indicators: () => ({}),
    decide: () => ({ fast, slow }),
  });

/** Holds `fast`, and from the minute `after` on `slow` in its place. */
export const swapping = (after: number, size: Size, options: TargetOptions = {}) =>
  defineStrategy({
    name: 'swapping',
    about: 'Holds one market, then the other',
    params: {},
    markets: { fast: 'traded', slow: 'traded' },
    indicators: () => ({}),
    decide: (_, { time }) =>
      time < after * minute
        ? { fast: hold(size, 'first'), slow: flat('not yet') }
        : { fast: flat('over'), slow: hold(size, 'second', options) },
  });

/** What a run has beside its strategy and klines. */
export interface SeveralOptions {
  /** Lines of the configuration. */
  readonly more?: string;
  /** Further limits, each after a comma. */
  readonly risk?: string;
  /** The strategy's, and that of all series that `intervals` does not name. */
  readonly interval?: Interval;
  /** Of the series of a symbol. */
  readonly intervals?: Readonly<Record<string, Interval>>;
  readonly fees?: { readonly maker: string; readonly taker: string };
  readonly cash?: string;
  readonly rules?: RulesetName;
  /** The minimum orders of a symbol; none if left out. */
  readonly minima?: Readonly<Record<string, { readonly minQuantity: string; readonly minNotional: string }>>;
}

const shape = { pricePrecision: 2, quantityPrecision: 4 };
const minimumOf = (given: { readonly minQuantity: string; readonly minNotional: string } | undefined) =>
  given === undefined ? {} : { minQuantity: lots(given.minQuantity, shape), minNotional: units(given.minNotional) };

function configOf(text: string) {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-several-'));
  try {
    const file = join(dir, 'run.yaml');
    writeFileSync(file, text);
    return readConfig(file, backtestSchema);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The input of a run of one strategy, with 10,000 USD unless told otherwise; `binding` is its markets or symbols in the configuration. */
export async function severalInput(
  strategy: Strategy,
  binding: string,
  series: Readonly<Record<string, Columns>>,
  options: SeveralOptions = {},
): Promise<RunInput> {
  const { more = '', risk = '', interval = '1min', intervals = {}, fees = { maker: '0', taker: '0' } } = options;
  const { cash = '10000', rules = 'plain', minima = {} } = options;
  const config = configOf(
    `cash: "${cash}"\nrules: ${rules}\n${more}strategies: [{ id: one, use: given, interval: ${interval}, ${binding} }]\nrisk: { maxOrderValue: "100000", maxPosition: "100000", maxDailyLoss: "1", duplicateWindowMs: 0${risk} }\nfees: { maker: "${fees.maker}", taker: "${fees.taker}" }\n`,
  );
  const given: Given = {
    registry: { given: async () => ({ default: strategy }) },
    placeOf: (path) => path.join('.'),
    instruments: new Map(
      Object.keys(series).map((symbol) => [
        symbol,
        instrument({ symbol, base: symbol.slice(0, 3), quote: 'USD', ...shape, ...minimumOf(minima[symbol]) }),
      ]),
    ),
    klines: new Map(),
  };
  const cast = await castOf('run.yaml', config, [], given);
  return inputOf(
    config,
    cast,
    Object.entries(series).map(([symbol, columns]) => ({
      ...{ symbol, interval: intervals[symbol] ?? interval, columns },
      ...{ gaps: [], first: 0, end: columns.openTime.length },
    })),
  );
}

/** Runs it over minutes, or five minutes where all klines of a symbol open so; `more` and `risk` as in the options. */
export async function run(
  strategy: Strategy,
  binding: string,
  series: Readonly<Record<string, Columns>>,
  more = '',
  risk = '',
): Promise<RunResult> {
  const isLarger = ({ openTime }: Columns): boolean => openTime.every((time) => time % (5 * minute) === 0);
  const larger = Object.entries(series).filter(([, columns]) => isLarger(columns));
  const intervals = Object.fromEntries(larger.map(([symbol]) => [symbol, '5min' as const]));
  return runBacktest(
    await severalInput(strategy, binding, series, { more, risk: `, maxDataAgeMs: 600000${risk}`, intervals }),
  );
}

/** `minute SIDE symbol lots at ticks`, of each fill. */
export const fillsOf = ({ fills }: RunResult) =>
  fills.map(
    ({ symbol, side, quantity, price, time }) =>
      `${Math.round(time / minute)} ${side} ${symbol} ${quantity} at ${price}`,
  );
