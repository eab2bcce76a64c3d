/** Values of TA-Lib over recorded klines, made by scripts/talib-values.py. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { all } from './all.ts';
import { quarterHours } from './klines.ts';

const sampled = z.object({ first: z.number(), values: z.array(z.tuple([z.number(), z.number()])) });
const row = z.object({ call: z.string(), lines: z.record(z.string(), sampled) });
const [about = '', ...texts] = readFileSync(join(import.meta.dirname, 'talib.jsonl'), 'utf8')
  .trim()
  .split('\n');
const { klines } = z.object({ klines: z.number() }).parse(JSON.parse(about));
const expected = texts.map((text) => row.parse(JSON.parse(text)));
const columns = quarterHours(klines);

/** Lines that begin earlier than those of TA-Lib, which begins all lines with the last. */
const earlier = ["macd('close', 12, 26, 9) line", 'stochastic(14, 3, 3) k', "stochRsi('close', 14, 5, 1, 3) k"];

describe.each(expected)('$call', ({ call, lines }) => {
  test.each(Object.entries(lines))('has the %s of TA-Lib, from the first row on', (line, { first, values }) => {
    const indicator = all.find((one) => one.call === call)?.lines[line];
    const column = indicator?.column(columns, '15min') ?? new Float64Array();
    const begins = column.findIndex((value) => !Number.isNaN(value));
    expect(begins).toBe((indicator?.warmup ?? 0) - 1);
    if (earlier.includes(`${call} ${line}`)) expect(begins).toBeLessThan(first);
    else expect(begins).toBe(first);
    for (const [row, value] of values)
      expect(Math.abs((column[row] as number) - value), `row ${row}: ${column[row]} and ${value}`).toBeLessThanOrEqual(
        // Its running sums leave rests of this size where the value is 0.
        Math.max(1e-9 * Math.abs(value), 1e-12),
      );
  });
});
