/** Recorded frames into the catalogue: files that meet within a moment, and what is told where one cannot be stored. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSeries } from '../../data/catalogue/load.ts';
import { readManifest } from '../../data/catalogue/manifest.ts';
import { encoded, magic } from '../../data/frames/file.ts';
import { compactFrames } from './compact-frames.ts';
import { compactions } from './compact-process.ts';

const midnight = Date.UTC(2024, 0, 2);
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function place() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-compact-'));
  mkdirSync(join(dir, 'frames'));
  let number = 0;
  const series = (kind: 'trades' | 'depth') => {
    const found = readManifest(dir, { kind, symbol: 'BTCUSDT' });
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };
  const column = async (kind: 'trades' | 'depth', at: number): Promise<number[]> => [
    ...((await loadSeries(dir, series(kind))).columns[at] ?? []),
  ];
  return {
    dir,
    column,
    holes: (kind: 'trades' | 'depth') => series(kind).holes ?? [],
    /** Trades and books by the second after midnight and the price, as `-1@100`; each came at once, or at `seen`. */
    record(begins: boolean, seen: number, ...rows: readonly string[]): void {
      const record = (kind: 'frame' | 'note', at: number, value: unknown): Buffer =>
        encoded({ kind, seenAt: at, machineAt: at, bytes: bytesOf(value) });
      const first = midnight + seen * 1_000;
      const symbols = [{ symbol: 'BTCUSDT', trades: true, depth: true, klines: [] }];
      const parts = rows.flatMap((text) => {
        const [second = 0, price = 0] = text.split('@').map(Number);
        const ts = midnight + second * 1_000;
        const at = Math.max(first, ts);
        const row = { side: 'BUY', price, vol: 1, amount: price, ts, ds: `${second}` };
        const book = { asks: [[price + 1, 1]], buys: [[price, 1]] };
        return [
          record('frame', at, { channel: 'market_btcusdt_trade_ticker', tick: { data: [row] }, ts }),
          record('frame', at, { channel: 'market_btcusdt_depth_step0', tick: book, ts }),
        ];
      });
      const name = `${new Date(first).toISOString().replaceAll(':', '-')}-${String(number++).padStart(6, '0')}.frames`;
      const head = record('note', first, { source: 'x', symbols, begins });
      writeFileSync(join(dir, 'frames', name), Buffer.concat([magic, head, ...parts]));
    },
  };
}

test.for<[string, string[], number[]]>([
  ['in the moment of the last stored row', ['-1@101.5', '0@104'], [102, 101, 101.5, 104]],
  ['with the last stored row once more', ['-1@101', '-1@101.5', '0@104'], [102, 101, 101.5, 104]],
  ['before the last stored row', ['-1.5@101.5', '0@104'], [102, 101.5, 101, 104]],
])('a file of frames that begins %s is stored beside what is there', async ([, rows, prices]) => {
  const here = place();
  here.record(true, -20, '-2@102', '-1@101');
  expect(await compactFrames(here.dir)).toMatchObject({ files: 1, failed: 0, said: [] });
  here.record(false, 0.005, ...rows);
  expect(await compactFrames(here.dir)).toMatchObject({ files: 1, failed: 0, said: [] });
  expect(await here.column('trades', 1)).toEqual(prices);
  expect(await here.column('depth', 3)).toEqual(prices.flatMap((price) => [price, price + 1]));
  expect(await here.column('depth', 1)).toEqual(prices.flatMap((_, book) => [book, book]));
});

test('a flipped bit costs the frame that it is in, which is told, and leaves a hole', async () => {
  const here = place();
  here.record(true, -20, '-9@102', '-6@101', '-3@103');
  const [name = ''] = readdirSync(join(here.dir, 'frames'));
  const path = join(here.dir, 'frames', name);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('"price":101');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const { files, failed, said } = await compactFrames(here.dir);
  expect([files, failed, said]).toEqual([1, 0, [expect.stringMatching(/frames: \d+ bytes are damaged and left out/)]]);
  expect(await here.column('trades', 1)).toEqual([102, 103]);
  expect(await here.column('depth', 3)).toEqual([102, 103, 101, 102, 103, 104]);
  const hole = [midnight - 9_000, midnight - 6_000];
  expect(here.holes('trades')).toContainEqual(hole);
  expect(here.holes('depth')).toContainEqual(hole);
});

test('a damaged beginning leaves a hole behind the file before, and a file that stays where there is none', async () => {
  const here = place();
  const flip = (name = ''): void => {
    const path = join(here.dir, 'frames', name);
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"symbol":"BTCUSDT"');
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };
  here.record(true, -20, '-9@102', '-8@101');
  here.record(false, -7, '-6@103', '-5@104');
  flip(readdirSync(join(here.dir, 'frames')).toSorted()[1]);
  expect(await compactFrames(here.dir)).toMatchObject({ files: 2, failed: 0 });
  expect(await here.column('trades', 1)).toEqual([102, 101, 103, 104]);
  expect(here.holes('trades')).toEqual([[midnight - 8_000, midnight - 6_000]]);
  here.record(false, -4, '-3@105');
  flip(readdirSync(join(here.dir, 'frames')).find((name) => name.endsWith('.frames')));
  const { files, failed, said } = await compactFrames(here.dir);
  expect([files, failed, said]).toEqual([0, 1, [expect.stringMatching(/is left unchanged: its header is damaged/)]]);
  expect(await here.column('trades', 1)).toEqual([102, 101, 103, 104]);
});

test("two compactions at once are not in each other's way: the second is refused", async () => {
  const here = place();
  here.record(true, -20, '-2@102', '-1@101');
  const [first, second] = await Promise.allSettled([compactFrames(here.dir), compactFrames(here.dir)]);
  expect(first).toMatchObject({ value: { files: 1, failed: 0 } });
  expect(second).toMatchObject({ reason: { message: expect.stringMatching(/\(compaction\) is in use by/) } });
  expect(await compactFrames(here.dir)).toMatchObject({ files: 0, failed: 0 });
});

test('a compaction beside that stores not all is told of, in its own words', async () => {
  const here = place();
  const program = join(here.dir, 'program.mjs');
  const told: string[] = [];
  for (const [code, text] of [
    [1, 'x.frames stays as it is\\nsluice: 1 file could not be stored\\n'],
    [0, 'cut off\\n'],
  ] as const) {
    writeFileSync(program, `process.stderr.write('${text}'); process.exitCode = ${code};`);
    const all = compactions(here.dir, (line) => told.push(line), program);
    all.request();
    await all.done();
  }
  expect(told).toEqual(['x.frames stays as it is', 'sluice: 1 file could not be stored']);
});

test('frames of another recording of the same hours contradict what is stored, and stay as they are', async () => {
  const here = place();
  here.record(true, -4_000, '-3000@100', '-2000@101', '0@102');
  await compactFrames(here.dir);
  here.record(true, -4_000, '-3000@105', '-2000@106', '0@107');
  const { failed, said } = await compactFrames(here.dir);
  expect(failed).toBe(1);
  expect(said.join()).toMatch(/is left unchanged: .*would be replaced by different ones/);
});
