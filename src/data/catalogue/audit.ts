/** Checks a stored series again: its files against their hashes, and its rows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../check/finding.ts';
import { futureFinding } from '../check/gaps.ts';
import { checksOf } from '../import/import.ts';
import { compareSeries } from './compare-series.ts';
import { openDuck } from './duckdb.ts';
import { frameOf } from './gap-ledger.ts';
import { isAsWritten, loadMonth } from './load.ts';
import { columnPath, folderOf, type Manifest } from './manifest.ts';
import { readParquet } from './parquet.ts';

/** Reads every month twice, from Parquet and from its column file, and compares. `damage`: files that are missing, changed, or whose column file says something else. `now`: UTC ms. */
export async function audit(dir: string, manifest: Manifest, now: number) {
  const damage: string[] = [];
  const checks = checksOf(manifest);
  const duck = await openDuck();
  let books = 0;
  try {
    for (const month of manifest.months) {
      const path = join(folderOf(dir, manifest), month.file);
      if (!existsSync(path)) {
        damage.push(`${path} is missing: restore it from a copy, or remove the series and import its rows again`);
        continue;
      }
      if (!isAsWritten(path, month)) {
        damage.push(
          `${path} differs from its hash: restore it from a copy, or remove the series and import its rows again`,
        );
        continue;
      }
      const truth = await readParquet(duck, manifest.kind, path, month.rows);
      const cached = await loadMonth(duck, dir, manifest, month);
      const equal = truth.columns.every((column, index) => sameBytes(column, cached.columns[index] as Float64Array));
      if (!equal)
        damage.push(`${columnPath(dir, month.sha256)} differs from ${month.file}: remove it; Sluice rebuilds it`);
      if (manifest.kind === 'depth') {
        const numbers = truth.columns[1] as Float64Array;
        const last = numbers[month.rows - 1] ?? 0;
        for (let row = 0; row < month.rows; row++) numbers[row] = (numbers[row] as number) + books;
        books += last + 1;
      }
      checks.add(truth.columns, truth.rows);
    }
  } finally {
    duck.close();
  }
  const future = futureFinding(manifest.months.at(-1)?.to ?? 0, frameOf(manifest), now);
  // Times are compared by the column files: with damage nothing follows from them.
  const slips = damage.length > 0 ? [] : await compareSeries(dir, manifest);
  const findings: readonly Finding[] = [...checks.findings(), ...future, ...slips];
  return { manifest, damage, findings };
}

const sameBytes = (a: Float64Array, b: Float64Array): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
