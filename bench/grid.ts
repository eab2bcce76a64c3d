/**
 * 200 pairs of averages over the first 100,000 minute klines on warm workers, next to the bare loop on one core (docs/benchmarks.md).
 *
 *     npx node bench/grid.ts [KLINES.csv [WORKERS [ROUNDS]]]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { castOf, inputOf } from '../src/backtest/prepare/prepare.ts';
import { parameterSets, readAxes } from '../src/backtest/search/axes.ts';
import { hasRun, type Outcome } from '../src/backtest/search/outcome.ts';
import { openPool } from '../src/backtest/search/pool.ts';
import { readConfig } from '../src/config/read.ts';
import { backtestSchema } from '../src/config/schema.ts';
import { loadKlines } from '../src/data/klines.ts';
import { bareLoop, market } from './market.ts';

const klines = 100_000;
const given = process.argv[2];
const { path, close } = given === undefined ? market() : { path: given, close: (): void => {} };
const { columns: all } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
close();
const part = (column: Float64Array): Float64Array => column.subarray(0, klines);
const { openTime, open, high, low, volume } = all;
const columns = {
  openTime: part(openTime),
  open: part(open),
  high: part(high),
  low: part(low),
  close: part(all.close),
  volume: part(volume),
};

const dir = mkdtempSync(join(tmpdir(), 'sluice-grid-'));
const file = join(dir, 'grid.yaml');
writeFileSync(
  file,
  `cash: "10000000"
rules: plain
strategies:
  - { id: s, use: sma-cross, symbol: XBTUSD, interval: 1min, params: { quantity: 1 } }
risk: { maxOrderValue: "1000000000", maxPosition: "1000000000", maxDailyLoss: "1" }
fees: { maker: "0.001", taker: "0.001" }
`,
);
const config = readConfig(file, backtestSchema);
const cast = await castOf(file, config);
const axes = readAxes(['fast=5..24', 'slow=30..75:5'], cast.hosted);
const cells = parameterSets(axes);
const series = [
  { symbol: 'XBTUSD', interval: '1min', columns, gaps: [], first: 0, end: columns.close.length },
] as const;
const pool = openPool(
  { input: inputOf(config, cast, series), dir, axes, riskFree: 0, withReturns: true },
  process.argv[3] === undefined ? undefined : Number(process.argv[3]),
);
for (let round = 0; round < Number(process.argv[4] ?? 4); round++) {
  const bareAt = performance.now();
  for (const [fast, slow] of cells) bareLoop(columns.close, Number(fast), Number(slow));
  const bareMs = performance.now() - bareAt;
  const outcomes: Outcome[] = [];
  const startedAt = performance.now();
  await pool.run([...cells.keys()], (index, outcome) => {
    outcomes[index] = outcome;
  });
  const ms = performance.now() - startedAt;
  const ran = outcomes.filter(hasRun);
  const best = ran.toSorted((a, b) => b.return - a.return)[0];
  const cell = best && cells[outcomes.indexOf(best)]?.join('/');
  console.log(
    `${round === 0 ? 'cold' : 'warm'} ${ms.toFixed(0)} ms, ${((cells.length * columns.close.length) / ms / 1000).toFixed(1)} M klines/s on ${pool.workers} workers, ${(ms / bareMs).toFixed(1)} × bare loops on one; best ${cell} ${best?.finalEquity}`,
  );
}
await pool.close();
rmSync(dir, { recursive: true });
