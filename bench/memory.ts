/** Resident memory of the demo's daemon (two strategies at 60×) while it runs: `npx node bench/memory.ts [MINUTES]`, ten by default. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const minutes = Number(process.argv[2] ?? 10);
const flags = ['--max-semi-space-size=1', '--optimize-for-size'];
const state = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
const daemon = spawn(process.execPath, [...flags, 'src/main.ts', 'demo', '--fresh', '--state', state], {
  stdio: 'ignore',
  env: { ...process.env, MALLOC_ARENA_MAX: '1' },
});
const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1024;

const samples: { readonly minute: number; readonly mb: number }[] = [];
for (let tick = 1; tick <= minutes * 6; tick++) {
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  samples.push({ minute: tick / 6, mb: residentMb() });
}
daemon.kill('SIGINT');
await new Promise((resolve) => daemon.once('exit', resolve));
rmSync(state, { recursive: true, force: true });

/** MB per minute over the second half, by least squares. */
function slope(points: typeof samples): number {
  const n = points.length;
  const x = points.reduce((sum, { minute }) => sum + minute, 0) / n;
  const y = points.reduce((sum, { mb }) => sum + mb, 0) / n;
  const covariance = points.reduce((sum, { minute, mb }) => sum + (minute - x) * (mb - y), 0);
  return covariance / points.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
}
const half = samples.slice(Math.floor(samples.length / 2));
console.log(
  `flags ${flags.join(' ')} and MALLOC_ARENA_MAX=1, as bin/sluice.js starts daemons; resident after ${minutes} min: ${samples.at(-1)?.mb.toFixed(0)} MB, most ${Math.max(...samples.map(({ mb }) => mb)).toFixed(0)} MB, second half ${slope(half).toFixed(2)} MB/min`,
);
