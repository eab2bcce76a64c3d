import { expect, test } from 'vitest';
import { CsvReader } from './csv-reader.ts';
import { ObjectReader } from './line-reader.ts';
import { type Reading, readingOf, UnreadableLines } from './row-reader.ts';
import { epochMs } from './times.ts';

const start = Date.UTC(2024, 0, 1);
const times = Array.from({ length: 1_000 }, (_, row) => start + row * 1_001);

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${lines.join('\n')}\n`);
}

async function timesOf({ batches, units }: Reading): Promise<{ times: number[]; units: string[] }> {
  const found: number[] = [];
  for await (const { columns, rows } of batches) found.push(...(columns[0]?.subarray(0, rows) ?? []));
  return { times: found, units: [...units] };
}

const csv = (cells: readonly string[]): Reading =>
  readingOf(
    bytesOf(cells),
    new CsvReader(
      { columns: [{ role: 'epoch', to: 0 }], separator: ',', decimalComma: false, skipLines: 0, zone: 'UTC' },
      1,
      new UnreadableLines('times.csv'),
    ),
  );
const objects = (values: readonly string[]): Reading =>
  readingOf(
    bytesOf(values.map((value) => `{"t":${value}}`)),
    new ObjectReader(
      { keys: [{ key: 't', role: 'epoch', to: 0 }], zone: 'UTC' },
      1,
      new UnreadableLines('times.jsonl'),
    ),
  );

test.for([
  ['CSV', (cell: string) => cell, csv],
  ['texts of JSON', (cell: string) => `"${cell}"`, objects],
  ['numbers of JSON', (cell: string) => cell, objects],
] as const)('times in ns are read in their ms from %s, not in the one before', async ([, cell, read]) => {
  const given = times.map((time) => cell(`${time}000000`));
  expect(await timesOf(read(given))).toEqual({ times, units: ['ns'] });
});

test('what is finer than ms is cut off to the last ns, whatever the unit', async () => {
  const given = times.flatMap((time) => [`${time}999999`, `${time}999`, `${time}.9`]);
  expect((await timesOf(csv(given))).times).toEqual(times.flatMap((time) => [time, time, time]));
});

test('a double of a time in ns is of the ms that it is next to', () => {
  for (const time of times) expect(epochMs(Number(`${time}000000`))).toBe(time);
});
