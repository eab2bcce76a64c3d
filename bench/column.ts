/** Column path: `sma-cross` under `plain` over real minute klines, against the bare loop below; run in a process of its own. */

import { loadKlines } from '../src/data/klines.ts';
import { instrument } from '../src/domain/instrument.ts';
import type { Columns } from '../src/domain/market.ts';
import { rate, units, unitsText } from '../src/domain/money.ts';
import { feesFrom, rulesets } from '../src/fill/rules.ts';
import { runColumns } from '../src/modes/column-run.ts';
import type { RunInput } from '../src/modes/run.ts';
import { runStream } from '../src/modes/stream-run.ts';
import { readParams } from '../src/strategy/params.ts';
import smaCross from '../strategies/sma-cross/index.ts';

/** What everything is compared with: typed arrays, two running sums, count the crosses. Fixed. */
function bareLoop(close: Float64Array, fast: number, slow: number): number {
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

export function inputFor(columns: Columns, fast: number, slow: number): RunInput {
  const at = instrument({ symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 });
  const { values: params } = readParams(smaCross.params, { fast, slow, quantity: 1 });
  const wide = units('1000000000000');
  return {
    account: 'spot',
    hosted: [
      { id: 'bench', use: 'sma-cross', strategy: smaCross, params, symbol: 'XBTUSD', interval: '1min', instrument: at },
    ],
    instruments: new Map([['XBTUSD', at]]),
    series: [{ symbol: 'XBTUSD', interval: '1min', columns, gaps: [], first: 0, end: columns.close.length }],
    allocations: [{ strategy: 'bench', symbol: 'XBTUSD', amount: units('10000000') }],
    cash: units('10000000'),
    limits: {
      maxOrderValue: wide,
      maxPosition: wide,
      priceCollar: rate('1'),
      maxDataAgeMs: 86_400_000,
      duplicateMs: 0,
      maxOrdersPerSecond: 40,
      maxDailyLoss: rate('1'),
    },
    rules: rulesets.plain,
    fees: feesFrom({ maker: rate('0.001'), taker: rate('0.001') }),
  };
}

const [path = '', fast = '10', slow = '50', what = 'columns'] = process.argv.slice(2);
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
const rows = columns.close.length;
const input = inputFor(columns, Number(fast), Number(slow));
for (let round = 0; round < 5; round++) {
  const bareAt = performance.now();
  const crosses = bareLoop(columns.close, Number(fast), Number(slow));
  const bareMs = performance.now() - bareAt;
  const cpuAt = process.cpuUsage();
  const startedAt = performance.now();
  const result = what === 'stream' ? await runStream(input) : runColumns(input);
  const ms = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuAt);
  console.log(
    what,
    round === 0 ? 'cold' : 'warm',
    `${(rows / ms / 1000).toFixed(2)} M/s`,
    `${ms.toFixed(0)} ms`,
    `cpu ${((cpu.user + cpu.system) / 1000).toFixed(0)} ms`,
    `bare ${(rows / bareMs / 1000).toFixed(0)} M/s`,
    crosses,
    result.fills.length,
    unitsText(result.finalEquity),
  );
}
