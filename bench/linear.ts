/**
 * How the cost of a backtest over columns grows: with klines at the same rule, with fills over the same klines, and with symbols in one
 * run; each with its summary, the best CPU time of the rounds.
 *
 *     npx node bench/linear.ts [KLINES.csv [ROUNDS]]
 */

import { summarise } from '../src/backtest/result/summary.ts';
import type { RunInput } from '../src/backtest/run.ts';
import { loadKlines } from '../src/data/klines.ts';
import type { Columns } from '../src/domain/market.ts';
import { units } from '../src/domain/money.ts';
import { runNow } from '../test/kit/run-now.ts';
import { configFor, inputFor, market } from './market.ts';

const given = process.argv[2];
const { path, close } = given === undefined ? market() : { path: given, close: (): void => {} };
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();
const rounds = Number(process.argv[3] ?? 8);
const config = configFor();

const first = (rows: number): Columns => {
  const part = (column: Float64Array): Float64Array => column.subarray(0, rows);
  const { openTime, open, high, low, close: last, volume } = columns;
  return {
    ...{ openTime: part(openTime), open: part(open), high: part(high), low: part(low) },
    ...{ close: part(last), volume: part(volume) },
  };
};

function best(input: RunInput): { readonly ms: number; readonly fills: number } {
  let ms = Number.POSITIVE_INFINITY;
  let fills = 0;
  for (let round = 0; round < rounds; round++) {
    const from = process.cpuUsage();
    fills = summarise({ input, warnings: [], dataHashes: {} }, runNow(input), config).summary.fillCount;
    const { user, system } = process.cpuUsage(from);
    ms = Math.min(ms, (user + system) / 1_000);
  }
  return { ms, fills };
}

const rows = columns.close.length;
console.log('klines, SMA 500/2500');
for (const share of [8, 4, 2, 1]) {
  const klines = Math.floor(rows / share);
  const { ms, fills } = best(inputFor(first(klines), 500, 2_500));
  console.log(`${klines} klines, ${fills} fills: ${ms.toFixed(0)} ms, ${((ms * 1e6) / klines).toFixed(0)} ns a kline`);
}
console.log('fills, all klines');
let before: { readonly ms: number; readonly fills: number } | undefined;
for (const [fast, slow] of [
  [500, 2_500],
  [100, 500],
  [40, 200],
  [20, 100],
  [10, 50],
] as const) {
  const now = best(inputFor(columns, fast, slow));
  const more =
    before === undefined
      ? ''
      : `, ${(((now.ms - before.ms) * 1e3) / (now.fills - before.fills)).toFixed(2)} µs a fill more`;
  console.log(`SMA ${fast}/${slow}, ${now.fills} fills: ${now.ms.toFixed(0)} ms${more}`);
  before = now;
}

/** The same strategy on as many symbols, each with the same klines and cash of its own. */
function together(count: number, one: RunInput): RunInput {
  const names = Array.from({ length: count }, (_, index) => `XBTUSD${index}`);
  const [at] = one.instruments.values();
  const [hosted] = one.hosted;
  const [series] = one.series;
  if (at === undefined || hosted === undefined || series === undefined) throw new Error('one run has one of each');
  const places = names.map((symbol) => ({ ...at, symbol, base: symbol.replace('USD', '') }));
  return {
    ...one,
    hosted: places.map((instrument) => ({ ...hosted, id: instrument.symbol, symbol: instrument.symbol, instrument })),
    instruments: new Map(places.map((place) => [place.symbol, place])),
    series: names.map((symbol) => ({ ...series, symbol })),
    allocations: names.map((symbol) => ({ strategy: symbol, symbol, amount: units('10000000') })),
    cash: units(String(10_000_000 * count)),
    // The long way goes through every rule of every symbol; one symbol alone is made to go it, too.
    limits: { ...one.limits, maxDrawdown: one.limits.maxDailyLoss },
  };
}
const small = inputFor(first(Math.floor(rows / 20)), 10, 50);
const alone = best(together(1, small));
const ten = best(together(10, small));
console.log(
  `ten symbols in one run, ${ten.fills} fills: ${ten.ms.toFixed(0)} ms, ${(ten.ms / (10 * alone.ms)).toFixed(2)} of ten runs of one (the long way)`,
);
