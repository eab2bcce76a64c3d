/** Indicators by a formula of the user's own. */
import { inspect } from 'node:util';
import { SignalError } from '../fault.ts';
import type { Indicator, Source } from '../indicator.ts';
import { calculated } from './calculated.ts';

/**
 * What `calculate` makes of the values of its sources at the same kline, such as the ratio of two markets. It is NaN while a source has no
 * value. `calculate` must depend on its arguments alone. Throws a `SignalError` where it does not return a number.
 */
export const formula = <const S extends readonly Source[]>(
  sources: S,
  calculate: (...values: { readonly [Index in keyof S]: number }) => number,
): Indicator =>
  calculated({
    // Two formulas may differ in what nobody can see: their columns are not shared.
    ...{ name: 'formula', sources, isShared: false, warmup: 1 },
    begin: () => (arrays: readonly Float64Array[], lines, count) => {
      const values: number[] = [];
      for (let row = 0; row < count; row++) {
        for (const [index, array] of arrays.entries()) values[index] = array[row] as number;
        lines[0][row] = numberOf(calculate(...(values as { readonly [Index in keyof S]: number })));
      }
    },
  });

function numberOf(result: unknown): number {
  if (typeof result === 'number') return result;
  throw new SignalError(`formula(): it returned ${inspect(result, { depth: 0 })} instead of a number`);
}
