/** Files that hold almost nothing that can be read: they are not read to their end, and do not fill the memory. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadKlines } from '../klines.ts';
import { loadDepth, loadTrades } from '../tape-files.ts';
import { type ImportResult, importFile } from './import.ts';
import { formats as knownFormats, type LayoutOptions } from './layout.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-endless-'));
const at = Date.UTC(2024, 0, 1);
const rows = (count: number, row: (at: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${row(at + index * 60_000)}\n`).join('');
const klines = `time_ms,open,high,low,close,volume\n${rows(300, (time) => `${time},100,101,99,100.5,7`)}`;
const trades = `time_ms,price,qty,side\n${rows(300, (time) => `${time},100,1,buy`)}`;
const books = rows(300, (time) => `{"t":${time},"b":[[99,1]],"a":[[101,1]]}`);

let files = 0;
function written(content: string | Uint8Array): string {
  const path = join(dir, `BTCUSDT_1m_${files++}`);
  writeFileSync(path, content);
  return path;
}
const { 'freqtrade-klines': freqtrade } = knownFormats;

const take = (
  content: string | Uint8Array,
  repair: readonly 'unreadable'[] = [],
  more: LayoutOptions = {},
): Promise<ImportResult> =>
  importFile(written(content), {
    ...more,
    ...{ dir: join(dir, `data${files}`), symbol: 'BTCUSDT', endStamps: false },
    ...{ repair: new Set(repair), replace: false, now: Date.UTC(2026, 0, 1) },
  });

const formats: readonly (readonly [string, string, number])[] = [
  ['CSV', klines, 302],
  ['JSON arrays', `[${rows(300, (time) => `[${time},100,101,99,100.5,7],`)}[`, 301],
  ['JSON objects', rows(300, (time) => `{"time":${time},"open":1,"high":1,"low":1,"close":1,"volume":1}`), 301],
  ['books', books, 301],
  ['levels', `time_ms,book,side,price,quantity\n${rows(300, (time) => `${time},${time},bid,9,1`)}`, 302],
  [
    'Tardis books',
    `timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount\n${rows(300, (time) => `${time},101,1,99,1`)}`,
    302,
  ],
  ['Binance bookDepth', `timestamp,percentage,depth,notional\n${rows(300, (time) => `${time},1,1,1`)}`, 302],
  [
    'Tardis differences',
    `timestamp,local_timestamp,is_snapshot,side,price,amount\n${rows(300, (time) => `${time}000,${time}000,true,bid,9,1`)}`,
    302,
  ],
];

describe('a line without end', () => {
  test.for(formats)('of %s ends the reading and is named', async ([name, content, line]) => {
    const endless = gzipSync(content + '1'.repeat(2 ** 24 + 2 ** 21));
    await expect(take(endless, [], name === 'JSON arrays' ? freqtrade : {})).rejects.toThrow(
      new RegExp(`BTCUSDT_1m_\\d+, line ${line} is longer than the limit of 2 MiB: write one`),
    );
  });

  test('is never left out with all that comes behind it', async () => {
    const content = `${klines}${'1'.repeat(2 ** 24 + 2 ** 21)}\n${at + 300 * 60_000},100,101,99,100.5,7\n`;
    await expect(take(content, ['unreadable'])).rejects.toThrow('line 302 is longer than the limit of 2 MiB');
  });

  test.for(['1', '1,', '"', 'a'])('of "%s" is named in a file of a configuration, too', (text) => {
    const endless = text.repeat(2 ** 24 / text.length);
    const file = { symbol: 'BTCUSDT', interval: '1min', pricePrecision: 2 } as const;
    for (const content of [klines + endless, gzipSync(klines + endless)])
      expect(() => loadKlines({ ...file, path: written(content) })).toThrow(
        /line 302 is longer than the limit of 2 MiB/,
      );
    expect(() => loadTrades({ symbol: 'BTCUSDT', path: written(trades + endless) })).toThrow(
      /line 302 is longer than the limit of 2 MiB/,
    );
    expect(() => loadDepth({ symbol: 'BTCUSDT', path: written(gzipSync(books + endless)) })).toThrow(
      /line 301 is longer than the limit of 2 MiB/,
    );
  });
});

describe('lines that cannot be read', () => {
  test.for(formats.filter(([name]) => name !== 'JSON arrays'))(
    'of %s end the reading at the thousandth',
    async (given) => {
      const [, content, line] = given;
      // What comes last is never reached: it would be another refusal.
      const endless = `${'x\n'.repeat(5_000)}${'1'.repeat(2 ** 22)}`;
      await expect(take(content + endless)).rejects.toThrow(
        new RegExp(`: 1,000 lines of its first [\\d,]+ lines cannot be read; import stopped \\(first: line ${line}: `),
      );
    },
  );

  test('are all left out where that is asked for, however many they are', async () => {
    const { repaired, rows: taken } = await take(klines + 'x\n'.repeat(5_000), ['unreadable']);
    expect([taken, repaired]).toMatchObject([300, [{ repair: 'unreadable', rows: 5_000 }]]);
  });
});
