/**
 * Indicators as columns over the klines of the benchmark, next to one pass that reads the same values and writes as many.
 *
 *     npx node bench/indicators.ts [KLINES.csv [ROUNDS]]
 */
import { loadKlines } from '../src/data/klines.ts';
import { ema, highest, type Indicator, rsi, sma, stdev } from '../src/strategy/indicators.ts';
import { market } from './market.ts';

const given = process.argv[2];
const { path, close } = given === undefined ? market() : { path: given, close: (): void => {} };
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();
const rounds = Number(process.argv[3] ?? 20);

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

function copied(values: Float64Array): Float64Array {
  const out = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) out[at] = (values[at] as number) + 1;
  return out;
}

const values = columns.close.length;
const bare = best(() => copied(columns.close));
const speed = (ms: number): string => `${(values / ms / 1_000).toFixed(0).padStart(4)} M values/s`;
console.log(`${values} values; reading them and writing as many: ${speed(bare)}`);
const asked: readonly (readonly [name: string, indicator: Indicator, asked: number])[] = [
  ['SMA 10', sma('close', 10), 200],
  ['SMA 50', sma('close', 50), 200],
  ['EMA 20', ema('close', 20), 300],
  ['RSI 14', rsi('close', 14), 120],
  ['STDEV 20', stdev('close', 20), 20],
  ['STDEV 200', stdev('close', 200), 20],
  ['HIGHEST 20', highest('high', 20), 20],
];
for (const [name, indicator, least] of asked) {
  const ms = best(() => indicator.column(columns, '1min'));
  console.log(`${name.padEnd(10)} ${speed(ms)}, ${(ms / bare).toFixed(1)} × that; asked ${least}`);
}
