/**
 * The weight plan against what the built-in exchange counted over an hour of simulated trading, and the stress run: ten kinds of
 * strategies on forty symbols, which must draw no 429.
 *
 *     npx node bench/weight.ts [MINUTES]
 */

import { textTable } from '../src/terminal/table.ts';
import { busy, type Weighing, weigh } from '../test/kit/weighed.ts';

const minutes = Number(process.argv[2] ?? 60);
const quoting = { ordersPerMinute: 2, resting: true };
const taking = { ordersPerMinute: 2, resting: false };
const runs: readonly (readonly [string, Weighing['strategies']])[] = [
  ['one quote, moved twice a minute', [quoting]],
  ['one position, changed twice a minute', [taking]],
  ['five of each', Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? quoting : taking))],
  ['ten kinds, forty symbols', busy(40)],
];

const head = ['', 'planned a minute', 'counted a minute', 'difference', 'asked', '429, 418, 410'];
const rows: string[][] = [];
let failed = false;
for (const [name, strategies] of runs) {
  const { plan, weightPerMinute, refusals } = await weigh({ strategies, minutes });
  const off = plan.weightPerMinute / weightPerMinute - 1;
  failed ||= Math.abs(off) > 0.05 || refusals > 0;
  rows.push([
    name,
    plan.weightPerMinute.toFixed(1),
    weightPerMinute.toFixed(1),
    `${(off * 100).toFixed(1)} %`,
    '≤ 5 %',
    String(refusals),
  ]);
}
console.log(textTable(head, rows));
process.exitCode = failed ? 1 : 0;
