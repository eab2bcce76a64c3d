import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fc, property as propertyTest } from '../../test/kit/properties.ts';
import { rowAt } from '../domain/market.ts';
import { CsvReader } from './import/csv-reader.ts';
import { type Batch, UnreadableLines } from './import/row-reader.ts';
import { type KlineData, type KlineFile, loadKlines } from './klines.ts';

const header = 'time_ms,open,high,low,close,volume';
const minute = (count: number): number => 1_580_515_200_000 + 60_000 * count;
const row = (count: number, rest = '100,101,99,100.5,7'): string => `${minute(count)},${rest}`;
const folder = mkdtempSync(join(tmpdir(), 'sluice-data-'));
let files = 0;

function load(content: string | Uint8Array, options: Partial<KlineFile> = {}): KlineData {
  const path = join(folder, `${files++}.csv`);
  writeFileSync(path, content);
  return loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2, ...options });
}
const csv = (...rows: readonly string[]): string => `${[header, ...rows].join('\n')}\n`;

describe('a file of klines', () => {
  test('becomes columns, plain or gzipped, with either line end', () => {
    const text = csv(row(0), row(1, '100.5,102,100,101.25,0.00001'));
    for (const content of [text, gzipSync(text), text.replaceAll('\n', '\r\n')]) {
      const { columns, warnings } = load(content);
      expect([...columns.openTime]).toEqual([minute(0), minute(1)]);
      expect([...columns.close]).toEqual([100.5, 101.25]);
      expect([...columns.volume]).toEqual([7, 0.00001]);
      expect(warnings).toEqual([]);
    }
  });

  test('reports its gaps, its klines without volume and its opens outside the range', () => {
    const found = load(csv(row(0), row(3, '98,101,99,100,0'), row(4)));
    expect(found.gaps).toEqual([
      {
        symbol: 'XBTUSD',
        channel: 'klines',
        from: minute(1),
        to: minute(3),
        cause: 'not in the recorded data',
        healed: false,
      },
    ]);
    expect(found.warnings).toEqual([
      expect.stringMatching(/^\d+\.csv: 1 gap, 2 klines missing, longest 2 min \(\S+Z\)$/),
      expect.stringMatching(/^\d+\.csv: 3 klines, used as recorded: 1 opens outside \[low, high\], 1 has no volume$/),
    ]);
  });

  test('takes a file that begins with a byte order mark, and names its lines as they are', () => {
    expect(load(`\uFEFF${csv(row(0), row(1))}`).columns.openTime).toHaveLength(2);
    expect(() => load(`\uFEFF${csv(row(0), row(1, '98,101'))}`)).toThrow(/line 3: 3 columns, not 6/);
  });

  test('reports a price that jumps to another scale, and of one wrong print', () => {
    const at = (count: number, price: number): string => row(count, `${price},${price},${price},${price},7`);
    const jump = csv(at(0, 100), at(1, 101), at(2, 100_900), at(3, 101_000));
    expect(() => load(jump)).toThrow(
      /csv: not read .*: 1 jump to more than 3 times .* \(line 4, 2020-02-01T00:02:00Z: close 101, then 100900\): .*--accept-jumps\. Options \(--…\) are of an import: run sluice data import \S+csv with them, then write catalogue/,
    );
    expect(load(jump, { acceptJumps: true }).doubts).toEqual([
      expect.stringMatching(/^\d+\.csv: 1 jump to more than 3 times or less than a third of the price$/),
    ]);
    expect(load(csv(at(0, 100), at(1, 101), at(2, 900), at(3, 101.5))).warnings).toEqual([
      expect.stringMatching(
        /1 close more than 20 % from both neighbours \(2020-02-01T00:02:00Z: close 900\): one wrong/,
      ),
    ]);
    const open = load(csv(row(0), row(1, '10000,101,99,100.5,7'), row(2)));
    expect(open.doubts).toEqual([expect.stringMatching(/1 open more than 20 % from both neighbours$/)]);
    expect(open.warnings[0]).toContain('(2020-02-01T00:01:00Z: open 10000): one wrong print can decide the result');
    expect(load(csv(at(0, 100), at(1, 119), at(2, 99), at(3, 75), at(4, 40))).warnings).toEqual([]);
  });

  test('with swapped open and close columns is refused, and a volume that no market has is reported', () => {
    const close = (count: number): string => (100 + 5 * Math.sin(count)).toFixed(2);
    const rows = Array.from({ length: 60 }, (_, at) => row(at, `${close(at)},106,94,${close(at - 1)},7`));
    expect(() => load(csv(...rows))).toThrow(
      /csv: not read \(.*\): the open and close columns are swapped: on average/,
    );
    // Rows in the wrong order are reported as that alone.
    const right = Array.from({ length: 60 }, (_, at) => row(at, `${close(at - 1)},106,94,${close(at)},7`));
    expect(() => load(csv(...right.toReversed()))).toThrow(/\(60 rows\): 59 rows earlier than the row before/);
    const [first, second] = [row(0), row(1, '100,101,99,100,9e16')];
    expect(load(csv(first, second)).doubts).toEqual([expect.stringContaining('1 kline with a volume worth')]);
  });

  test('has the warnings that an import would give: a feed that stood still, quiet hours', () => {
    const frozen = Array.from({ length: 120 }, (_, count) => row(count));
    const quiet = Array.from({ length: 20 }, (_, count) => row(120 + count, `100,101,99,100.${count},0`));
    const { warnings, doubts } = load(csv(...frozen, ...quiet));
    const stuck = '119 klines that repeat the one before in price and volume, longest run 119';
    expect(warnings).toEqual([
      expect.stringMatching(/20 klines without volume, longest run 20 .* an outage that was filled/),
      expect.stringContaining(`${stuck} (first 2020-02-01T00:01:00Z): the feed was stuck`),
    ]);
    expect(doubts).toEqual([expect.stringMatching(new RegExp(`^\\d+\\.csv: ${stuck}$`))]);
  });

  test('is refused for a fault outside of from and to, by its line, too; a jump there concerns no run', () => {
    const rows = Array.from({ length: 12 }, (_, count) => row(count));
    const part = { from: minute(4), to: minute(8) };
    const refusal = (at: number, text: string): string => {
      try {
        load(csv(...rows.with(at, text)), part);
        return '';
      } catch (error) {
        return String(error);
      }
    };
    for (const at of [0, 2, 3, 4, 6, 8, 9, 11])
      expect(refusal(at, row(at, '100,99,101,100,7'))).toMatch(
        new RegExp(`1 impossible row of 12 rows \\(line ${at + 2},`),
      );
    // Out of order with the row before or behind it, wherever a part begins.
    for (let at = 1; at < 12; at++) {
      expect(refusal(at, row(0, '100,101,99,100,7'))).toMatch(
        /1 row (earlier than|of the same time as) the row before/,
      );
      expect(refusal(at, rows[at - 1] ?? '')).toContain(`row of the same time as the row before (line ${at + 2},`);
    }
    const jump = rows.map((text, at) => (at < 2 ? row(at, '10,11,9,10,7') : text));
    expect(load(csv(...jump), part).columns.openTime).toHaveLength(12);
  });

  test('has warnings for what lies between from and to alone', () => {
    const rows = [0, 1, 2, 5, 6, 7, 8, 12, 13].map((count) => row(count, `100,101,99,100.${count},${count % 6}`));
    const { warnings, gaps } = load(csv(...rows), { from: minute(6), to: minute(9) });
    expect(gaps).toHaveLength(2);
    expect(warnings).toEqual([expect.stringContaining('3 klines, used as recorded: 1 has no volume')]);
    expect(load(csv(...rows), { from: minute(6) }).warnings[0]).toContain('1 gap, 3 klines missing');
  });

  test('is known by the hash of the very file, packed or not', () => {
    const text = csv(row(0), row(1));
    for (const content of [text, gzipSync(text)])
      expect(load(content).sha256).toBe(createHash('sha256').update(content).digest('hex'));
  });

  test('is read to the last row although its last line has no end, with a warning', () => {
    const found = load(csv(row(0), row(1)).trimEnd());
    expect(found.columns.openTime).toHaveLength(2);
    expect(found.warnings).toEqual([expect.stringContaining('may be cut off')]);
  });

  test('holds more rows than its first line lets expect', () => {
    const wide = row(0, '100.00000000000,101,99,100.0000000000000000000000,7.0000000000000000000000000000000');
    const rows = Array.from({ length: 500 }, (_, count) => row(count + 1));
    expect(load(csv(wide, ...rows)).columns.volume.at(-1)).toBe(7);
  });
});

test('the bundled klines of 2020 are read whole, with the defects that their source is known for', () => {
  const path = new URL('../../backtests/data/XBTUSD-1m-2020-02_2020-04.csv.gz', import.meta.url).pathname;
  const { columns, warnings, gaps } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
  expect(columns.openTime).toHaveLength(129_600);
  expect(warnings).toContainEqual(
    expect.stringMatching(/129,600 klines, used as recorded: 2,546 open outside \[low, high\], 17 have no volume$/),
  );
  expect(gaps).toEqual([]);
  expect(Math.min(...columns.low.subarray(rowAt(columns.openTime, Date.UTC(2020, 2, 13))))).toBe(3596);
});

describe('a file that would falsify a result is refused, with the line and what to do', () => {
  test.each([
    ['missing columns', `time_ms,open\n${minute(0)},1\n`, /columns are "time_ms,open", not "time_ms,open,high/],
    ['no rows', csv(), /has no rows/],
    [
      'a cut line',
      `${csv(row(0))}${minute(1)},100,10`,
      /line 3: 3 columns, not 6: "[^"]*" \(the last line: the file may be cut off\)/,
    ],
    ['too many columns', csv(row(0), `${row(1)},9`), /line 3: 7 columns, not 6/],
    ['text', csv(row(0), row(1, '100,n/a,99,100,7')), /line 3: "n\/a" in column 3 is not a number/],
    ['an empty value', csv(row(0, ',101,99,100,7')), /line 2: "" in column 2 is not a number/],
    ['a decimal comma', csv(row(0, '100,5,101,99,100,7')), /line 2: 7 columns, not 6 \(decimal commas\?/],
    [
      'too many decimals',
      csv(row(0), row(1, '100,101,99,100.125,7')),
      /line 3: 100.125 in column 5 has more than 2 decimals/,
    ],
    [
      'disorder',
      csv(row(0), row(2), row(1), row(3)),
      /1 row earlier than the row before \(line 4, 2020-02-01T00:01:00Z\): a run would see the future; correct the file, or write repair: true in the configuration, which sorts rows and drops repeated ones$/,
    ],
    [
      'repetition',
      csv(row(0), row(0), row(1)),
      /1 row of the same time as the row before \(line 3, .*, or write repair: true in the configuration, which sorts rows and drops repeated ones$/,
    ],
    [
      'high below low',
      csv(row(0), row(1, '100,99,101,100,7'), row(2), row(3)),
      /1 impossible row of 4 rows \(line 3, .* high 99, low 101/,
    ],
    ['swapped columns', csv(row(0, '100,100,102,99,7')), /if the columns have another order/],
    [
      'a close outside',
      csv(row(0, '100,101,99,98,7')),
      /1 impossible row of 1 row \(line 2, .*high 101, low 99, close 98/,
    ],
    ['a price of zero', csv(row(0, '100,101,0,98,7')), /1 impossible row of 1 row \(line 2, .*low 0/],
    ['a negative volume', csv(row(0, '100,101,99,100,-7')), /1 impossible row of 1 row \(line 2, .*volume -7/],
    [
      'an infinite volume',
      csv(row(0, '100,101,99,100,1e999')),
      /1 impossible row of 1 row \(line 2, .*volume Infinity/,
    ],
    ['times in seconds', csv('1580515200,100,101,99,100,7'), /line 2: the time 1580515200 is in s; .* need UTC ms/],
    ['times in µs', csv(row(0), '1580515260000000,100,101,99,100,7'), /line 3: the time 1580515260000000 is in µs/],
    ['times in ns', csv('1580515200000000000,100,101,99,100,7'), /line 2: the time .* is in ns; .* import it/],
    ['times of rows', csv('0,100,101,99,100,7'), /line 2: the time 0 is before 1973/],
  ])('%s', (_, content, message) => {
    expect(() => load(content)).toThrow(message);
  });

  test.each([
    ['impossible rows', csv(row(0, '100,99,101,100,7'))],
    ['two klines of one time', csv(row(0), row(0, '100,101,99,100,8'))],
    ['times between klines', csv(row(0), `${minute(1) + 1},100,101,99,100,7`)],
  ])('%s, without a repair that cannot help', (_, content) => {
    expect(() => load(content)).toThrow(/not read/);
    expect(() => load(content)).not.toThrow(/repair: true/);
  });

  test('an empty file, as one', () => expect(() => load('')).toThrow(/csv is empty: fetch the file again/));

  test('times that are late by less than a second, in ms', () => {
    const late = csv(...[0, 1].map((count) => `${minute(count) + 1},100,101,99,100,7`));
    expect(() => load(late)).toThrow(/each is 1 ms late: not opening times/);
  });

  test('with how many lines cannot be read, and how to go without them', () => {
    const rows = Array.from({ length: 30_000 }, (_, count) =>
      row(count, count % 3_000 === 1 ? 'NaN,1,1,1,1' : undefined),
    );
    const cut = `${csv(...rows, 'a'.repeat(200_000))}${minute(30_000)},5`;
    const remedy = /: correct the file, or import it without them \(sluice data import \S+ --repair unreadable\)$/;
    expect(() => load(cut)).toThrow(
      /csv, line 3: "NaN" in column 2 is not a number \(12 lines cannot be read, of 30002\):/,
    );
    expect(() => load(cut)).toThrow(remedy);
    expect(() => load(csv(row(0), row(1, 'x,1,1,1,1')))).toThrow(/\(1 line cannot be read, of 2\): correct/);
    const wrong = csv(...Array.from({ length: 2_000 }, () => '1;2'));
    expect(() => load(wrong)).toThrow(
      /csv: 1,000 lines of its first 1,001 lines cannot be read; import stopped \(first: line 2: "1;2" in column 1 is not a time/,
    );
  });

  test.each([
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
    ['zip', [0x50, 0x4b, 3, 4]],
  ])('a file packed with %s, by name', (packing, magic) => {
    expect(() => load(Uint8Array.of(...magic, ...Array.from({ length: 50 }, (_, at) => at)))).toThrow(
      new RegExp(`csv is packed with ${packing}: unpack it \\(plain files and gzip are read here\\), or import`),
    );
  });

  test('klines of a smaller interval, with how to say so', () => {
    const minutes = csv(...Array.from({ length: 100 }, (_, count) => row(count)));
    expect(() => load(minutes, { interval: '60min' })).toThrow(
      /98 times at which no 60min kline opens .*these are 1min klines: set dataIntervals: \{ XBTUSD: 1min \}, and Sluice makes the 60min klines from them$/,
    );
  });

  test('a file that is not there, or is cut off gzip', () => {
    const path = join(folder, 'nowhere.csv');
    const file = { path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 } as const;
    expect(() => loadKlines(file)).toThrow(`${path} does not exist`);
    const whole = gzipSync(csv(...Array.from({ length: 100 }, (_, count) => row(count))));
    expect(() => load(whole.subarray(0, whole.length - 20))).toThrow(
      /damaged or cut off \(gzip: .*fetch the file again/,
    );
  });
});

describe('a repair, when asked for', () => {
  test('sorts and drops exact repetitions, and says how many', () => {
    const found = load(csv(row(2), row(0), row(1), row(0)), { repair: true });
    expect([...found.columns.openTime]).toEqual([minute(0), minute(1), minute(2)]);
    expect(found.warnings).toEqual([
      expect.stringMatching(/csv: repaired \(sort\): 2 rows$/),
      expect.stringMatching(/csv: repaired \(duplicates\): 1 row$/),
    ]);
    expect(found.doubts).toEqual(found.warnings);
  });

  test('never chooses between two different klines of one time', () => {
    const content = csv(row(0), row(1), row(0, '100,101,99,100,8'));
    expect(() => load(content, { repair: true })).toThrow(
      /1 row of the same time as the row before, with other values \(2020-02-01T00:00:00Z: close 100, in .*; volume 8, in the row before it 7\)/,
    );
  });
});

test('the row of a time is the first that opens then or later', () => {
  const openTime = Float64Array.from([10, 20, 30]);
  expect([5, 10, 11, 30, 31].map((time) => rowAt(openTime, time))).toEqual([0, 0, 1, 2, 3]);
});

const anyDecimal = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.bigInt({ min: 0n, max: 10n ** 24n }))
    .map(([a, b]) => `${a}.${b}`),
  fc
    .tuple(fc.integer({ min: 0, max: 99_999_999 }), fc.integer({ min: 0, max: 9_999_999 }))
    .map(([a, b]) => `${a}.${b}`),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt({ min: 0n, max: 10n ** 18n }).map((digits) => `0.${String(digits).padStart(15, '0')}`),
);
interface Table {
  readonly columns: readonly (readonly number[])[];
  readonly faults: readonly { readonly line: number; readonly what: string }[];
}
/** Reads lines of numbers in blocks of a size. */
function tableOf(text: string, width: number, size = Number.POSITIVE_INFINITY): Table {
  const unreadable = new UnreadableLines('f');
  const layout = {
    columns: Array.from({ length: width }, (_, to) => ({ role: 'number', to }) as const),
    ...{ separator: ',', decimalComma: false, skipLines: 1, zone: 'UTC' },
  };
  const reader = new CsvReader(layout, width, unreadable);
  const columns = layout.columns.map((): number[] => []);
  const take = (batches: Iterable<Batch>): void => {
    for (const batch of batches)
      for (const [at, column] of batch.columns.entries()) columns[at]?.push(...column.subarray(0, batch.rows));
  };
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) take(reader.read(bytes.subarray(at, at + size)));
  take(reader.end());
  return { columns, faults: unreadable.first };
}

propertyTest.prop([fc.array(anyDecimal, { minLength: 1, maxLength: 20 })])(
  'every value is read exactly as Number reads it',
  (texts) => {
    expect(tableOf(`value\n${texts.join('\n')}\n`, 1).columns).toEqual([texts.map(Number)]);
  },
);

propertyTest.prop([
  fc.array(fc.tuple(anyDecimal, anyDecimal), { minLength: 1, maxLength: 30 }),
  fc.integer({ min: 1, max: 40 }),
  fc.boolean(),
])('a table is read the same in blocks of any size, and its faults have the same line', (rows, size, isFaulty) => {
  const lines = rows.map((cells) => cells.join(','));
  const text = `a,b\n${lines.join('\n')}\n${isFaulty ? '1,x\n' : ''}`;
  const read = tableOf(text, 2, size);
  expect(read).toEqual(tableOf(text, 2));
  expect(read.columns).toEqual([0, 1].map((at) => rows.map((cells) => Number(cells[at]))));
  expect(read.faults).toEqual(isFaulty ? [{ line: rows.length + 2, what: '"x" in column 2 is not a number' }] : []);
});

test('a file of many blocks is read whole, with its hash and the lines of its faults', () => {
  const text = csv(Array.from({ length: 250_000 }, (_, count) => row(count)).join('\n'));
  const { columns, sha256 } = load(text);
  expect(columns.openTime).toHaveLength(250_000);
  expect(columns.openTime.at(-1)).toBe(minute(249_999));
  expect(columns.close.every((price) => price === 100.5)).toBe(true);
  expect(sha256).toBe(createHash('sha256').update(text).digest('hex'));
  expect(() => load(`${text}x,1,1,1,1,1\n`)).toThrow('line 250002: "x" in column 1');
});
