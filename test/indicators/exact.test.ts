/** Values against exact arithmetic, over recorded minutes with flat stretches, one of which lasts ten hours. */
import { describe, expect, test } from 'vitest';
import { all } from './all.ts';
import { exactLines } from './exact.ts';
import { exactly } from './exact-series.ts';
import { flattened, minutes } from './klines.ts';

const klines = flattened(minutes(2_400), 1_000, 1_600);
const series = (values: Float64Array): readonly bigint[] => Array.from(values, exactly);
const exact = exactLines({
  ...{ open: series(klines.open), high: series(klines.high), low: series(klines.low) },
  ...{ close: series(klines.close), volume: series(klines.volume) },
});

describe.each(Object.keys(exact))('%s', (call) => {
  const lines = all.find((one) => one.call === call)?.lines ?? {};
  const expected = exact[call]?.() ?? {};

  test('has the lines of the definition', () => {
    expect(Object.keys(lines).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  test.each(Object.keys(expected))('is right to nine digits at each kline: %s', (line) => {
    const column = lines[line]?.column(klines, '1min') ?? new Float64Array();
    const wrong: string[] = [];
    for (const [row, value] of (expected[line] ?? []).entries()) {
      const given = column[row] as number;
      if (value === undefined ? Number.isNaN(given) : isClose(given, value)) continue;
      // 52 digits of the fraction are enough to read.
      wrong.push(`row ${row}: ${given}, not ${value === undefined ? undefined : Number(value >> 460n) / 2 ** 52}`);
    }
    expect(wrong).toEqual([]);
  });
});

const isClose = (given: number, value: bigint): boolean => {
  if (Number.isNaN(given)) return false;
  const apart = exactly(given) - value;
  return (apart < 0n ? -apart : apart) * 1_000_000_000n <= (value < 0n ? -value : value);
};
