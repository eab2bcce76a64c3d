/** Backtests of strategies of several markets over klines that a test writes down. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { castOf, type Given, inputOf } from '../../src/backtest/prepare/prepare.ts';
import { readConfig } from '../../src/config/read.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { instrument } from '../../src/domain/instrument.ts';
import type { Columns } from '../../src/domain/market.ts';
import type { Strategy } from '../../src/strategy/contract.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-several-'));
afterAll(() => rmSync(dir, { recursive: true }));

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

const at = (symbol: string) =>
  instrument({ symbol, base: symbol.slice(0, 3), quote: 'USD', pricePrecision: 2, quantityPrecision: 4 });

/** Runs a strategy with 10,000 USD and no fees; `binding` are its markets in YAML, `more` further keys, `risk` further limits. */
export async function run(
  strategy: Strategy,
  binding: string,
  series: Readonly<Record<string, Columns>>,
  more = '',
  risk = '',
) {
  const file = join(dir, 'run.yaml');
  writeFileSync(
    file,
    `cash: "10000"\nrules: plain\n${more}strategies: [{ id: one, use: given, interval: 1min, ${binding} }]\nrisk: { maxOrderValue: "100000", maxPosition: "100000", maxDailyLoss: "1", duplicateMs: 0, maxDataAgeMs: 600000${risk} }\nfees: { maker: "0", taker: "0" }\n`,
  );
  const config = readConfig(file, backtestSchema);
  const given: Given = {
    registry: { given: async () => ({ default: strategy }) },
    placeOf: (path) => path.join('.'),
    instruments: new Map(Object.keys(series).map((symbol) => [symbol, at(symbol)])),
    klines: new Map(),
  };
  const cast = await castOf(file, config, [], given);
  return runBacktest(
    inputOf(
      config,
      cast,
      Object.entries(series).map(([symbol, columns]) => ({
        ...{ symbol, columns, gaps: [], first: 0, end: columns.openTime.length },
        interval: columns.openTime.every((time) => time % (5 * minute) === 0) ? ('5min' as const) : ('1min' as const),
      })),
    ),
  );
}

/** `minute SIDE symbol lots at ticks`, of each fill. */
export const fillsOf = ({ fills }: Awaited<ReturnType<typeof runBacktest>>) =>
  fills.map(
    ({ symbol, side, quantity, price, time }) =>
      `${Math.round(time / minute)} ${side} ${symbol} ${quantity} at ${price}`,
  );
