/**
 * Backtests as a user types them, from the start of the process to its end, over the recorded minute klines as a CSV (the bundled ones where
 * those are absent), and a grid over bundled quarter-hour klines. Each is the best of so many runs, beside the bare loop of `market.ts`.
 *
 *     node bench/commands.ts [--runs N] [--json]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { market, root } from './market.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '3' }, json: { type: 'boolean' } } });

/** Averages of 500 and 2,500 klines, with the exits of `options` at each entry. */
const crossing = (options: string): string => `
import { defineStrategy, flat, hold, sma } from 'sluice';
export default defineStrategy({
  name: 'crossing',
  about: 'Averages of 500 and 2,500 klines',
  params: {},
  indicators: () => ({ fast: sma('close', 500), slow: sma('close', 2500) }),
  decide({ fast, slow }, { kline: { close }, holding }) {
    if (fast <= slow) return flat('below');
    return holding.quantity > 0 ? undefined : hold({ share: 0.5 }, 'above', ${options});
  },
});
`;

const ranging = `
import { atr, decimal, defineStrategy, flat, hold, integer, sma } from 'sluice';
export default defineStrategy({
  name: 'ranging',
  about: 'Two averages, with a stop that follows by average true ranges',
  params: { fast: integer(10, { min: 2, max: 100 }, 'klines'), ranges: decimal(3, { min: 1, max: 20 }, 'true ranges') },
  indicators: ({ fast }) => ({ fast: sma('close', fast), slow: sma('close', 4 * fast), range: atr(14) }),
  decide({ fast, slow, range }, { kline: { close }, params }) {
    return fast <= slow ? flat('below') : hold({ share: 0.5 }, 'above', { stop: close - params.ranges * range });
  },
});
`;

const configOf = (rules: string, strategy: string, data: string): string => `
cash: "10000000"
rules: ${rules}
data: { ${data} }
strategies: [{ id: bench, ${strategy} }]
risk: { maxOrderValue: "1000000000", maxPosition: "1000000000", maxDailyLoss: "1" }
fees: { maker: "0.001", taker: "0.001" }
`;

const { path, close } = market();
const dir = mkdtempSync(join(tmpdir(), 'sluice-commands-'));
const minutes = `XBTUSD: ${JSON.stringify(path)}`;
const quarters = `ETHUSDT: ${JSON.stringify(join(root, 'backtests', 'data', 'ETHUSDT-15m-2025-10_2026-03.csv.gz'))}`;
const onMinutes = (use: string, params = '{}'): string =>
  `use: ${use}, symbol: XBTUSD, interval: 1min, params: ${params}`;
const cases = [
  {
    name: 'SMA 10/50, fixed quantity',
    config: ['plain', onMinutes('sma-cross', '{ fast: 10, slow: 50, quantity: 1 }')],
  },
  { name: 'stop and target 5 %, 500/2500', config: ['plain', onMinutes('./exits.ts')], goal: 1_800 },
  { name: 'LIMIT entries, stop and target', config: ['plain', onMinutes('./limits.ts')], goal: 2_200 },
  { name: 'shipped grid', config: ['sluice', onMinutes('grid')], goal: 2_200 },
  {
    name: 'shipped sma-cross, share and stop, rules sluice',
    config: ['sluice', onMinutes('sma-cross', '{ fast: 10, slow: 50, share: 0.9, stop: 0.05 }')],
    goal: 2_200,
  },
  {
    name: '165 parameter sets with an ATR stop × 17,472 klines',
    config: ['plain', 'use: ./ranging.ts, symbol: ETHUSDT, interval: 15min, params: {}'],
    data: quarters,
    more: ['--grid', 'fast=5..19', '--grid', 'ranges=2..7:0.5'],
    goal: 800,
  },
] as const;

const rows: { readonly name: string; readonly ms: number; readonly goal?: number }[] = [];
try {
  const exits = '{ stop: close * 0.95, takeProfit: close * 1.05 }';
  writeFileSync(join(dir, 'exits.ts'), crossing(exits));
  writeFileSync(join(dir, 'limits.ts'), crossing(`{ limit: close * 0.999, ...${exits} }`));
  writeFileSync(join(dir, 'ranging.ts'), ranging);
  for (const one of cases) {
    const [rules, strategy] = one.config;
    writeFileSync(join(dir, 'b.yaml'), configOf(rules, strategy, 'data' in one ? one.data : minutes));
    const args = ['bin/sluice.js', 'backtest', '--config', join(dir, 'b.yaml'), '--no-save'];
    const taken = Array.from({ length: Number(values.runs) }, () => {
      const startedAt = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [...args, ...('more' in one ? one.more : [])], {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1e9,
      });
      if (status !== 0) throw new Error(`${one.name} failed: ${stderr}`);
      return performance.now() - startedAt;
    });
    const row = { name: one.name, ms: Math.min(...taken), ...('goal' in one && { goal: one.goal }) };
    rows.push(row);
    if (values.json !== true) console.log(`${row.name.padEnd(54)} ${row.ms.toFixed(0).padStart(6)} ms`);
  }
} finally {
  close();
  rmSync(dir, { recursive: true });
}
if (values.json === true) console.log(JSON.stringify(rows));
