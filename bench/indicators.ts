/**
 * Every indicator as columns over the klines of the benchmark, in values/s and next to the bare loop of `market.ts`: how many of its runs a column
 * takes. All lines of an indicator are calculated together, as a backtest reads them, and count as one value.
 *
 *     node bench/indicators.ts [KLINES.csv [ROUNDS]] [--json]
 */
import { parseArgs } from 'node:util';
import { loadKlines } from '../src/data/klines.ts';
import { ema, type Indicator, rsi, sma, stdev } from '../src/strategy/indicators.ts';
import { all } from '../test/indicators/all.ts';
import { type Measured, print } from './goals.ts';
import { bareLoop, market } from './market.ts';

const {
  values: { json },
  positionals: [given, roundsText = '7'],
} = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } });
const { path, close } = given === undefined ? market() : { path: given, close: (): void => {} };
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();
const rounds = Number(roundsText);
const values = columns.close.length;
const pieceRows = 4_096;

/** ms of CPU time, the best of the rounds. */
function best(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const from = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(from);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** All lines, piece by piece, as the engine reads them. */
function read(lines: readonly Indicator[]): void {
  const pieces = lines.map(({ column }) => column.pieces?.(columns, '1min'));
  const into = new Float64Array(pieceRows);
  for (let from = 0; from < values; from += pieceRows)
    for (const piece of pieces) piece?.(into, from, Math.min(from + pieceRows, values));
}

/** Sums and extremes; the others are asked 20. */
const exact = /^(sma|highest|lowest)\('/;
const bare = best(() => bareLoop(columns.close, 10, 50));
const speed = (ms: number): string => `${(values / ms / 1_000).toFixed(0)} M/s`;
const row = (name: string, lines: readonly Indicator[], asked: number): Measured => {
  const ms = best(() => read(lines));
  return { name, result: `${speed(ms)}, ${(ms / bare).toFixed(1)} times the bare loop`, goal: `${asked} M/s` };
};
const rows: Measured[] = [{ name: `the bare loop over ${values} values`, result: speed(bare), goal: '' }];
for (const { call, lines } of all) rows.push(row(call, Object.values(lines), exact.test(call) ? 100 : 20));
for (const [name, indicator, asked] of [
  ["sma('close', 500)", sma('close', 500), 100],
  ["ema(sma('close', 10), 10)", ema(sma('close', 10), 10), 20],
  ["sma(rsi('close', 14), 10)", sma(rsi('close', 14), 10), 20],
  ["stdev('close', 200)", stdev('close', 200), 20],
] as const)
  rows.push(row(name, [indicator], asked));
print(rows, json);
