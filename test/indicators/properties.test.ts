/** What holds for every indicator. */
import { describe, expect, test } from 'vitest';
import { fc, property } from '../kit/properties.ts';
import { all, others, recursive, windowed } from './all.ts';
import { anyKlines, flattened, minutes, rowsOf, streamed } from './klines.ts';

const linesOf = (calls: typeof all) =>
  calls.flatMap(({ call, lines }) => Object.entries(lines).map(([line, indicator]) => ({ call, line, indicator })));
const recorded = flattened(minutes(3_000), 1_200, 1_700);

describe.each(linesOf(all))('$call $line', ({ call, indicator }) => {
  property.prop([anyKlines, fc.integer({ min: 1, max: 70 })])(
    'has the same bits as a column, in pieces and as a stream',
    (klines, rowsAtOnce) => {
      const whole = indicator.column(klines, '1min');
      expect(streamed(indicator, klines)).toEqual(whole);
      const piece = indicator.column.pieces?.(klines, '1min');
      const values = new Float64Array(whole.length);
      for (let from = 0; from < whole.length; from += rowsAtOnce) {
        const to = Math.min(from + rowsAtOnce, whole.length);
        const into = new Float64Array(rowsAtOnce);
        piece?.(into, from, to);
        values.set(into.subarray(0, to - from), from);
      }
      expect(values).toEqual(whole);
    },
  );

  test('has the same bits as a column and as a stream, over recorded klines', () => {
    expect(streamed(indicator, recorded)).toEqual(indicator.column(recorded, '1min'));
  });

  test('has a finite value at each kline from its warm-up on, and none before', () => {
    if (call.endsWith('Vwap()') || call.startsWith('anchoredVwap')) return;
    const column = indicator.column(recorded, '1min');
    const begins = indicator.warmup - 1;
    expect(column.findIndex((value) => !Number.isNaN(value))).toBe(begins);
    expect(column.subarray(begins).findIndex((value) => !Number.isFinite(value))).toBe(-1);
  });
});

describe.each(linesOf(windowed))('$call $line, over a window', ({ indicator }) => {
  test('has the same bits wherever the klines begin', () => {
    const whole = indicator.column(recorded, '1min');
    for (const from of [1, 2, 3, 7, 64, 1_195, 1_203, 1_690, 2_000]) {
      const part = indicator.column(rowsOf(recorded, from, 3_000), '1min');
      const begins = indicator.warmup - 1;
      expect(part.subarray(begins)).toEqual(whole.subarray(from + begins));
    }
  });

  property.prop([anyKlines, fc.integer({ min: 0, max: 30 })])('has the same bits of any klines', (klines, from) => {
    const rows = klines.close.length;
    const begins = indicator.warmup - 1;
    const whole = indicator.column(klines, '1min').subarray(from + begins);
    expect(indicator.column(rowsOf(klines, Math.min(from, rows), rows), '1min').subarray(begins)).toEqual(whole);
  });
});

describe.each(recursive)('$call', ({ lines, settled }) => {
  const klines = minutes(12_000);

  test.each(Object.entries(lines))('has forgotten after its stated klines where they begin: %s', (line, indicator) => {
    const whole = indicator.column(klines, '1min');
    // Lines around 0 are compared with their usual size.
    const scale = usualSize(whole.subarray(indicator.warmup));
    for (const from of [1, 500, 3_333]) {
      const part = indicator.column(rowsOf(klines, from, 12_000), '1min');
      for (let row = settled + indicator.warmup - 1; row < part.length; row++) {
        const [value, other] = [part[row] as number, whole[from + row] as number];
        expect(Math.abs(value - other), `${line} from ${from}, row ${row}`).toBeLessThanOrEqual(
          1e-9 * Math.max(Math.abs(other), scale),
        );
      }
    }
  });
});

const usualSize = (values: Float64Array): number =>
  values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length;

describe('an indicator whose start counts until something happens', () => {
  const of = (call: string) => linesOf(others).filter((one) => one.call.startsWith(call));
  const klines = minutes(6_000);

  test.each(of('supertrend').concat(of('parabolicSar')))(
    '$call $line is the same after some turns',
    ({ indicator }) => {
      const whole = indicator.column(klines, '1min');
      for (const from of [1, 77, 500]) {
        const part = indicator.column(rowsOf(klines, from, 6_000), '1min');
        const late = part
          .subarray(1_000)
          .findIndex((value, row) => Math.abs(value - (whole[from + 1_000 + row] as number)) > 1e-6);
        expect(late).toBe(-1);
      }
    },
  );

  test.each(of('obv').concat(of('accumulation')))('$call has the same changes', ({ indicator }) => {
    const whole = indicator.column(klines, '1min');
    const part = indicator.column(rowsOf(klines, 1_000, 6_000), '1min');
    for (let row = 1; row < part.length; row++)
      expect((part[row] as number) - (part[row - 1] as number)).toBeCloseTo(
        (whole[row + 1_000] as number) - (whole[row + 999] as number),
        5,
      );
  });

  test('sessionVwap has no value before a session starts, and then does not depend on where the klines begin', () => {
    const [{ indicator }] = of('sessionVwap') as [ReturnType<typeof of>[number]];
    const whole = indicator.column(klines, '1min');
    const part = indicator.column(rowsOf(klines, 700, 6_000), '1min');
    expect(part.findIndex((value) => !Number.isNaN(value))).toBe(1_440 - 700);
    expect(part.subarray(1_440 - 700)).toEqual(whole.subarray(1_440));
  });
});
