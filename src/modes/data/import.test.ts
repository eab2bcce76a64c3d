import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importAll } from './import.ts';

test('a stop between two files leaves those behind it, and says how many', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-import-all-'));
  const start = Date.UTC(2024, 0, 1);
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
    out: (line: string) => {
      said.push(line);
      stopping.abort();
    },
  };
  await expect(importAll(files, given)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(/^stopped: 2 of 3 files are not imported, the first is .*two\.csv/),
  });
  expect(said).toHaveLength(1);
  rmSync(dir, { recursive: true });
});
