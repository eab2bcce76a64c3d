/**
 * The import of a CSV of klines into an empty catalogue, beside the bare loop that everything is compared with: read the whole
 * file, split it into lines and cells, `Number` each. Each in a process of its own, best of five.
 *
 *     npx node bench/import.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSeries } from '../src/data/catalogue/load.ts';
import { readManifest } from '../src/data/catalogue/manifest.ts';
import { importFile } from '../src/data/import/import.ts';
import { market, root } from './market.ts';

const rounds = 5;

interface Round {
  readonly rows: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly maxMb: number;
}

function bare(path: string): number {
  let rows = 0;
  const columns = Array.from({ length: 6 }, (): number[] => []);
  for (const line of readFileSync(path, 'utf8').split('\n').slice(1)) {
    if (line === '') continue;
    const cells = line.split(',');
    for (let at = 0; at < 6; at++) columns[at]?.push(Number(cells[at]));
    rows++;
  }
  return rows;
}

const key = { kind: 'klines', symbol: 'XBTUSD', interval: '1min' } as const;

async function measured(work: () => Promise<number> | number): Promise<Round> {
  const [startedAt, cpuAt] = [performance.now(), process.cpuUsage()];
  const rows = await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuAt);
  return { rows, ms, cpuMs: (user + system) / 1000, maxMb: process.resourceUsage().maxRSS / 1000 };
}

async function one(what: string, path: string, dir: string): Promise<Round> {
  if (what === 'bare') return measured(() => bare(path));
  if (what === 'load') {
    const manifest = readManifest(dir, key);
    return measured(async () => (manifest === undefined ? 0 : (await loadSeries(dir, manifest)).rows));
  }
  const options = { dir, ...key, source: 'bench', endStamps: false, repair: new Set<never>(), replace: false, now: 0 };
  return measured(async () => (await importFile(path, options)).rows);
}

const [what, given = '', dir = ''] = process.argv.slice(2);
if (what !== undefined) console.log(JSON.stringify(await one(what, given, dir)));
else {
  const { path, about, close } = market();
  console.log(`${about}, best of ${rounds}`);
  const least = new Map<string, Round>();
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-import-'));
    for (const name of ['bare', 'import', 'load']) {
      const child = spawnSync(process.execPath, ['bench/import.ts', name, path, folder], {
        cwd: root,
        encoding: 'utf8',
      });
      if (child.status !== 0) throw new Error(child.stderr);
      const taken = JSON.parse(child.stdout) as Round;
      if (taken.ms < (least.get(name)?.ms ?? Number.POSITIVE_INFINITY)) least.set(name, taken);
    }
    rmSync(folder, { recursive: true });
  }
  close();
  const bareMs = least.get('bare')?.ms ?? 0;
  for (const [name, { rows, ms, cpuMs, maxMb }] of least)
    console.log(
      `${name.padEnd(8)} ${rows} rows  ${ms.toFixed(0)} ms  CPU ${cpuMs.toFixed(0)} ms  ${maxMb.toFixed(0)} MB  ${(ms / bareMs).toFixed(3)} × bare`,
    );
}
