/**
 * `sluice dev` over the bundled minute klines of three months (129,600): real seconds from a save to its result, with unit tests, backtest, report
 * and check. The best and the median of so many saves, after the first run.
 *
 *     node bench/dev.ts [--saves N] [--json]
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { print } from './goals.ts';
import { root } from './market.ts';

const { values } = parseArgs({ options: { saves: { type: 'string', default: '10' }, json: { type: 'boolean' } } });
const dir = mkdtempSync(join(tmpdir(), 'sluice-dev-'));
const folder = join(dir, 'mine');
const launcher = join(root, 'bin', 'sluice.js');
spawnSync(process.execPath, [launcher, 'init', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
const config = join(folder, 'backtest.yaml');
writeFileSync(
  config,
  readFileSync(config, 'utf8')
    .replace('node_modules/sluice', root)
    .replaceAll(/^(from|to): .*\n/gm, '')
    .replace('period: 2000, margin: 0.02', 'period: 500'),
);
const child = spawn(process.execPath, [launcher, 'dev', 'strategies/above-average.ts'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const took: number[] = [];
let savedAt = performance.now();
for await (const line of createInterface({ input: child.stdout })) {
  if (!/^(done|failed) in /.test(line)) continue;
  took.push((performance.now() - savedAt) / 1_000);
  if (took.length > Number(values.saves)) break;
  savedAt = performance.now();
  appendFileSync(join(folder, 'strategies', 'above-average.ts'), `// ${took.length}\n`);
}
child.kill('SIGINT');
rmSync(dir, { recursive: true, force: true });
const [first = Number.NaN, ...saves] = took;
const sorted = saves.toSorted((a, b) => a - b);
const seconds = (s = Number.NaN): string => `${s.toFixed(2)} s`;
print(
  [
    { name: 'first run of `sluice dev`', result: seconds(first), goal: '' },
    {
      name: 'from a save to its result, the median',
      result: `${seconds(sorted[Math.floor(sorted.length / 2)])}, ${seconds(sorted[0])} to ${seconds(sorted.at(-1))}`,
      goal: '1.00 s',
    },
  ],
  values.json,
);
