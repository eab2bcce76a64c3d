/** Every recorded file beside the checkout goes through import and check, and its described defects are found; skipped where there is none. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { audit } from '../src/data/catalogue/audit.ts';
import { ledgerOf } from '../src/data/catalogue/ledger.ts';
import { readManifest } from '../src/data/catalogue/manifest.ts';
import type { Finding, Repair } from '../src/data/check/finding.ts';
import { importFile } from '../src/data/import/import.ts';

const root = join(import.meta.dirname, '..', '..', 'shared', 'data');
const folders = ['recorded/klines', 'recorded/trades', 'recorded/depth', 'bundle'];
const files = folders
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
  .filter((path) => /\.(csv|jsonl)\.(xz|gz)$/.test(path) && !path.includes('chainup-frames'));
const described = existsSync(root) ? readFileSync(join(root, 'MANIFEST.md'), 'utf8').split('\n') : [];

/** What the manifest says of a file: rows of data or books, and its defects. */
function expected(path: string): { readonly rows: number; readonly defects: string } {
  const line = described.find((text) => text.includes(`/${basename(path)} |`))?.split('|') ?? [];
  return { rows: Number((line[3] ?? '').replaceAll(',', '')), defects: line[5] ?? '' };
}

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
const countOf = (findings: readonly Finding[], check: Finding['check']): number =>
  findings.find((one) => one.check === check)?.count ?? 0;

describe.skipIf(files.length === 0)('recorded data', () => {
  test.for(files)('%s', async (path) => {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-recorded-'));
    const { rows, defects } = expected(path);
    const disorder = number(defects, /(\d+) out of order/);
    const options = { dir, endStamps: false, replace: false, now: 0 };
    const plain = importFile(path, { ...options, repair: new Set<Repair>() });
    if (disorder > 0) await expect(plain).rejects.toThrow(`${disorder} trades earlier than the one before`);
    const result =
      disorder > 0 ? await importFile(path, { ...options, repair: new Set<Repair>(['sort']) }) : await plain;
    const manifest = readManifest(dir, result.key);
    if (manifest === undefined) throw new Error('nothing was stored');
    const again = await audit(dir, manifest);
    expect(again.damage).toEqual([]);
    // What the import found is what the stored rows hold.
    const found = result.findings.filter(({ check }) => check !== 'assumed' && check !== 'cut-off');
    expect(again.findings.map(({ check, count }) => [check, count])).toEqual(
      found.map(({ check, count }) => [check, count]),
    );
    expect(result.repaired.map((one) => [one.repair, one.rows])).toEqual(disorder > 0 ? [['sort', disorder]] : []);
    expect(result.key.kind === 'depth' || result.rows === rows).toBe(true);

    expect(countOf(found, 'zero-volume')).toBe(number(defects, /(\d+) zero-volume/));
    expect(countOf(found, 'opens-outside')).toBe(number(defects, /(\d+) opens outside/));
    expect(countOf(found, 'locked')).toBe(number(defects, /(\d+) locked/));
    expect(countOf(found, 'same-time')).toBe(number(defects, /(\d+) repeated t/));
    expect(countOf(found, 'one-sided')).toBe(/buy 0 \//.test(defects) ? rows : 0);
    if (result.key.kind === 'klines') {
      expect(countOf(found, 'gaps')).toBe(number(defects, /(\d+) gaps/));
      expect(ledgerOf(manifest)).toHaveLength(number(defects, /(\d+) gaps/));
    }
    // Sorting brings equal trades together that lay apart.
    const identical = number(defects, /(\d+) identical rows/);
    if (result.key.kind === 'trades') expect(countOf(found, 'identical')).toBe(identical);
    rmSync(dir, { recursive: true });
  });
});
