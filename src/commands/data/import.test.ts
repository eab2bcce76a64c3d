import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importAll } from './import.ts';

const start = Date.UTC(2024, 0, 1);

/** Files of one kline each, and what `import` is given for them. */
function threeFiles() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-import-all-'));
  const files = ['one', 'two', 'three'].map((name, day) => {
    const path = join(dir, `${name}.csv`);
    writeFileSync(path, `time_ms,open,high,low,close,volume\n${start + day * 60_000},1,1,1,1,1\n`);
    return path;
  });
  const stopping = new AbortController();
  const said: string[] = [];
  const given = {
    ...({
      data: join(dir, 'data'),
      json: true,
      symbol: 'BTCUSDT',
      interval: '1min',
      as: 'klines',
      stamps: 'open',
    } as const),
    ...{ replace: false, acceptJumps: false, dryRun: false, signal: stopping.signal, say: () => {} },
    out: (line: string) => void said.push(line),
  };
  return { dir, files, given, stopping, said };
}

test('a stop between two files leaves those behind it, and says how many', async () => {
  const { dir, files, given, stopping, said } = threeFiles();
  const out = (line: string): void => {
    said.push(line);
    stopping.abort();
  };
  await expect(importAll(files, { ...given, out })).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/^stopped: 2 of 3 files were not imported, the first is .*two\.csv/),
  });
  expect(said).toHaveLength(1);
  rmSync(dir, { recursive: true });
});

test('a stop during the last file says that all is stored', async () => {
  const { dir, files, given, stopping } = threeFiles();
  const noted: string[] = [];
  const out = (): void => stopping.abort();
  await importAll(files.slice(0, 1), { ...given, out, say: (line) => void noted.push(line) });
  expect(noted).toEqual(['note: stopped after the last file: 1 file imported']);
  rmSync(dir, { recursive: true });
});

test('a file that is refused leaves those behind it, and that is said', async () => {
  const { dir, files, given, said } = threeFiles();
  writeFileSync(files[1] ?? '', `time_ms,open,high,low,close,volume\n${start},1,1,2,1,1\n`);
  await expect(importAll(files, given)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/two\.csv.*\n(.*\n)*1 file of 3 after it was not read, the first is .*three\.csv$/),
  });
  expect(said).toHaveLength(1);
  const alone = await importAll(files.slice(0, 2), given).catch(String);
  expect(alone).not.toContain('not read');
  rmSync(dir, { recursive: true });
});
