import { expect, test } from 'vitest';
import { depthReader } from './depth-reader.ts';
import { readingOf, UnreadableLines } from './row-reader.ts';

const levels = (count: number): [number, number][] => Array.from({ length: count }, (_, at) => [100 + at, 1]);
const book = (t: number, bids: number, asks: number): string => JSON.stringify({ t, b: levels(bids), a: levels(asks) });

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${lines.join('\n')}\n`);
}

test('a book of more levels than are read is refused, and loses no side', async () => {
  const start = Date.UTC(2024, 0, 1);
  const reading = readingOf(
    bytesOf([book(start, 2, 2), book(start + 1_000, 12_000, 8_001), book(start + 2_000, 12_000, 8_000)]),
    depthReader('json', new UnreadableLines('books.jsonl')),
  );
  const sides = new Map<number, number>();
  for await (const { columns, rows } of reading.batches)
    for (const side of columns[2]?.subarray(0, rows) ?? []) sides.set(side, (sides.get(side) ?? 0) + 1);
  expect(reading.unreadable).toMatchObject({
    count: 1,
    first: [
      {
        line: 2,
        what: 'the book has 20,001 levels, but at most 20,000 levels are read: keep the best of each side',
      },
    ],
  });
  expect([...sides]).toEqual([
    [1, 12_002],
    [-1, 8_002],
  ]);
});
