/** Several take-profits of one position: what each sells, and row by row by all engines and the slow reference. */
import { describe, expect, test } from 'vitest';
import { type RulesetName, rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import { generated, oftenShort, scaledOut, trailed } from '../reference/generated.ts';
import type { Signal } from '../reference/types.ts';
import { byColumns, byReference, byStream, type Case, caseOfXz, columnsOf, scripted } from './agreement.ts';
import { caseOfMinutes, freeMargin, sameFills } from './scripted-minutes.ts';

/** Side, quantity, price and minute of each fill, alike by columns, by streams, by events and by the reference. */
async function fillsOf(
  signals: readonly Signal[],
  klines: readonly (readonly number[])[],
  more: Partial<Case> = {},
): Promise<readonly string[]> {
  const fills = await sameFills(caseOfMinutes(signals, klines, more), signals);
  return fills.map(
    ({ side, quantity, price, time }) => `${side} ${quantity} at ${price} in ${Math.floor(time / 60_000)}`,
  );
}

const quiet = [100, 100, 100, 100] as const;
const halves = [
  { at: '105', share: '0.5' },
  { at: '110', share: '0.5' },
];

describe('several take-profits', () => {
  test('each sell their share of the quantity, and the last closes the position', async () => {
    const signal = { quantity: '3', takeProfit: halves };
    const rows = [quiet, quiet, [101, 106, 101, 104], quiet, [104, 111, 104, 109], quiet, quiet];
    expect(await fillsOf([signal], rows)).toEqual([
      'BUY 3 at 100 in 1',
      'SELL 1.5 at 105 in 2',
      'SELL 1.5 at 110 in 4',
    ]);
  });

  test('both fill in one kline that reaches both', async () => {
    const signal = { quantity: '3', takeProfit: halves };
    expect(await fillsOf([signal], [quiet, quiet, [101, 111, 101, 104], quiet, quiet])).toEqual([
      'BUY 3 at 100 in 1',
      'SELL 1.5 at 105 in 2',
      'SELL 1.5 at 110 in 2',
    ]);
  });

  test('of a short position are below its entry', async () => {
    const takeProfit = [
      { at: '90', share: '0.5' },
      { at: '95', share: '0.5' },
    ];
    const signal = { quantity: '-3', takeProfit };
    const rows = [quiet, quiet, [99, 99, 94, 96], quiet, [96, 96, 89, 91], quiet, quiet];
    expect(await fillsOf([signal], rows, { margin: freeMargin })).toEqual([
      'SELL 3 at 100 in 1',
      'BUY 1.5 at 95 in 2',
      'BUY 1.5 at 90 in 4',
    ]);
  });

  test('leave what their shares leave, which stays under the stop', async () => {
    const signal = { quantity: '4', stop: '95', takeProfit: [{ at: '105', share: '0.25' }] };
    const rows = [quiet, quiet, [101, 106, 101, 104], quiet, quiet, [99, 99, 94, 96], quiet, quiet];
    const fills = await fillsOf([signal], rows);
    expect(fills).toEqual(['BUY 4 at 100 in 1', 'SELL 1 at 105 in 2', expect.stringMatching(/^SELL 3 at 95 in 5/)]);
  });

  test('give way to a stop, which sells what is left of the position', async () => {
    const signal = { quantity: '4', stop: '95', takeProfit: halves };
    const rows = [quiet, quiet, [101, 106, 101, 104], quiet, [99, 99, 94, 96], [104, 111, 104, 109], quiet];
    expect(await fillsOf([signal], rows)).toEqual([
      'BUY 4 at 100 in 1',
      'SELL 2 at 105 in 2',
      expect.stringMatching(/^SELL 2 at 95 in 4/),
    ]);
  });

  test('keep what they sold while the target stays, and begin anew with another size', async () => {
    const first = { quantity: '4', takeProfit: halves };
    const moved = { quantity: '4', takeProfit: [halves[0], { at: '112', share: '0.5' }] } as Signal;
    const more = { quantity: '6', takeProfit: halves };
    const signals = [first, first, first, moved, moved, more];
    const rows = [quiet, quiet, [101, 106, 101, 104], quiet, quiet, quiet, quiet, [101, 106, 101, 104], quiet];
    expect(await fillsOf(signals, rows)).toEqual([
      'BUY 4 at 100 in 1',
      'SELL 2 at 105 in 2',
      // Six are to be held, not two more.
      'BUY 4 at 100 in 6',
      'SELL 3 at 105 in 7',
    ]);
  });

  test("that are below the exchange's minimum are added to the next, and the last to the one before", async () => {
    const takeProfit = [
      { at: '105', share: '0.004' },
      { at: '106', share: '0.992' },
      { at: '110', share: '0.004' },
    ];
    const rows = [quiet, quiet, [101, 105.5, 101, 104], [101, 107, 101, 104], quiet, quiet];
    const instrument = { base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4, minQuantity: '0.01' };
    const more = { instrument: { ...instrument, minNotional: '1' } };
    expect(await fillsOf([{ quantity: '1', takeProfit }], rows, more)).toEqual([
      'BUY 1 at 100 in 1',
      'SELL 1 at 106 in 3',
    ]);
  });
});

describe('a position whose size changes', () => {
  const [one, two] = ['1', '2'].map((quantity) => ({ quantity, trailing: '0.05' })) as [Signal, Signal];
  const risen = [109, 110, 109, 109] as const;

  test('keeps the best price since its first entry for its trailing stop, when it grows and when it shrinks', async () => {
    // Grown at 109 and reduced again: the stop stays five percent below 110.
    const signals = [one, one, one, two, two, one];
    const rows = [quiet, quiet, risen, [109, 109, 109, 109], [109, 109, 109, 109], [109, 109, 109, 109]] as const;
    const fills = await fillsOf(signals, [...rows, [109, 109, 109, 109], [108, 108, 104, 105], quiet, quiet]);
    expect(fills).toEqual([
      'BUY 1 at 100 in 1',
      'BUY 1 at 109 in 4',
      'SELL 1 at 109 in 6',
      expect.stringMatching(/^SELL 1 at 104\.5 in 7/),
    ]);
  });

  test('is covered whole by its stop', async () => {
    const signals = [one, one, one, two];
    const rows = [quiet, quiet, risen, [109, 109, 109, 109], [109, 109, 109, 109], [108, 108, 104, 105], quiet, quiet];
    expect(await fillsOf(signals, rows)).toEqual([
      'BUY 1 at 100 in 1',
      'BUY 1 at 109 in 4',
      expect.stringMatching(/^SELL 2 at 104\.5 in 5/),
    ]);
  });
});

describe('generated runs with several take-profits', () => {
  const compared = (rules: RulesetName, minutes: number, count: number) => {
    let taken = 0;
    return fc
      .assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), fc.boolean(), async (seed, isShort) => {
          const { klines, signals: plain } = generated(seed, 200 * (minutes === 1 ? 1 : 2));
          const every = scaledOut(trailed(isShort ? oftenShort(plain) : plain));
          const signals = every.filter((_, row) => row % minutes === minutes - 1);
          const given = caseOfXz({
            ...{ columns: columnsOf(klines), rules, cash: '3000', strategy: scripted(signals, minutes * 60_000) },
            ...(minutes > 1 && { decidesOn: '5min' as const }),
            ...(isShort && { margin: freeMargin }),
          });
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[Math.floor(row / minutes)] });
          taken += expected.orders.filter(
            ({ purpose, state }) => purpose === 'takeProfit' && state === 'filled',
          ).length;
          if (!isShort) expect(byColumns(given)).toEqual(expected);
          expect(await byStream(given)).toEqual(expected);
        }),
        { numRuns: count },
      )
      .then(() => taken);
  };

  test.for(rulesetNames)('have the same rows by columns, by streams and by the reference: %s', async (rules) => {
    expect(await compared(rules, 1, 12)).toBeGreaterThan(10);
  });

  test.for(rulesetNames)('do so over klines finer than those decided on: %s', async (rules) => {
    expect(await compared(rules, 5, 12)).toBeGreaterThan(5);
  });
});
