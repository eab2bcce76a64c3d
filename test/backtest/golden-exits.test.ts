/**
 * The golden table of exits: each kind over a few minutes, in all engines over klines, over events and in the slow reference. Every price was worked out by
 * hand, as its comment says. MARKET orders fill at the next open, stops at their price, there are no fees, and a take-profit rests from the kline after the entry.
 */
import { describe, expect, test } from 'vitest';
import type { Signal, Target } from '../reference/types.ts';
import { type Case, xz } from './agreement.ts';
import { caseOfMinutes, freeMargin, sameFills } from './scripted-minutes.ts';

interface Row {
  readonly name: string;
  /** After each kline; the last one is repeated. */
  readonly signals: readonly Signal[];
  /** Open, high, low and close of each minute. */
  readonly klines: readonly (readonly number[])[];
  /** Side, quantity and price of each fill, and the minute in which it was. */
  readonly fills: readonly string[];
  readonly more?: Partial<Case>;
}

const quiet = [100, 100, 100, 100] as const;
const two = (exits: Partial<Target>): Target => ({ quantity: '2', ...exits });
const short = (exits: Partial<Target>): Target => ({ quantity: '-2', ...exits });
const onMargin = { margin: freeMargin };
const entered = 'BUY 2 @ 100 in 1';
const sold = 'SELL 2 @ 100 in 1';

/** The stop and the take-profit of a position that was entered at 100. */
const levels: readonly Row[] = [
  {
    // 100 - 5 % = 95.
    name: 'E1: a stop from the entry',
    signals: [two({ stop: { fromEntry: '0.05' } })],
    klines: [quiet, [100, 101, 95.01, 100], [100, 100, 94, 96]],
    fills: [entered, 'SELL 2 @ 95 in 2'],
  },
  {
    // 100 + 5 % = 105.
    name: 'E1 short',
    signals: [short({ stop: { fromEntry: '0.05' } })],
    klines: [quiet, [100, 104.99, 99, 100], [100, 106, 100, 104]],
    fills: [sold, 'BUY 2 @ 105 in 2'],
    more: onMargin,
  },
  {
    // 99.99 - 0.3 % = 99.69003, rounded away from the entry to 99.69.
    name: 'E2: a stop between two ticks is the one further away',
    signals: [two({ stop: { fromEntry: '0.003' } })],
    klines: [quiet, [99.99, 100, 99.7, 99.9], [99.9, 99.9, 99.5, 99.6]],
    fills: ['BUY 2 @ 99.99 in 1', 'SELL 2 @ 99.69 in 2'],
  },
  {
    // 100 + 10 % = 110.
    name: 'E3: a take-profit from the entry',
    signals: [two({ takeProfit: { fromEntry: '0.1' } })],
    klines: [quiet, [100, 109, 99, 100], [100, 112, 99, 111]],
    fills: [entered, 'SELL 2 @ 110 in 2'],
  },
  {
    // 100 - 10 % = 90.
    name: 'E3 short',
    signals: [short({ takeProfit: { fromEntry: '0.1' } })],
    klines: [quiet, [100, 101, 91, 100], [100, 101, 88, 89]],
    fills: [sold, 'BUY 2 @ 90 in 2'],
    more: onMargin,
  },
  {
    // The distance at the entry was 5: 100 - 5 = 95, whatever later signals say.
    name: 'E4: a distance stays as it was at the entry',
    signals: [two({ stop: { distance: '5' } }), two({ stop: { distance: '1' } })],
    klines: [quiet, quiet, [100, 100, 98, 98], [98, 98, 94, 96]],
    fills: [entered, 'SELL 2 @ 95 in 3'],
  },
  {
    // It is 1 after the second kline: 100 - 1 = 99.
    name: 'E5: a distance that moves is the latest',
    signals: [two({ stop: { distance: '5', moving: true } }), two({ stop: { distance: '1', moving: true } })],
    klines: [quiet, [100, 100, 98, 100], [100, 100, 98, 98]],
    fills: [entered, 'SELL 2 @ 99 in 2'],
  },
  {
    // 100 + 8 = 108, and not 104.
    name: 'E6: a take-profit at a distance stays as it was at the entry',
    signals: [two({ takeProfit: { distance: '8' } }), two({ takeProfit: { distance: '4' } })],
    klines: [quiet, quiet, [100, 105, 100, 105], [105, 109, 105, 109]],
    fills: [entered, 'SELL 2 @ 108 in 3'],
  },
  {
    // After the second kline it is 100 + 4 = 104.
    name: 'E6 moving',
    signals: [
      two({ takeProfit: { distance: '8', moving: true } }),
      two({ takeProfit: { distance: '4', moving: true } }),
    ],
    klines: [quiet, quiet, [100, 105, 100, 105]],
    fills: [entered, 'SELL 2 @ 104 in 2'],
  },
];

/** Stops that the best price moves. */
const moved: readonly Row[] = [
  {
    // The best price is 104 once the kline of the entry is over: 104 - 3 = 101.
    name: 'E7: a trailing stop at a distance',
    signals: [two({ trailing: { distance: '3' } })],
    klines: [quiet, [100, 104, 99, 103], [103, 103, 100.5, 102]],
    fills: [entered, 'SELL 2 @ 101 in 2'],
  },
  {
    // The distance of the entry was 3, also after it fell to 1; the best price is 96: 96 + 3 = 99.
    name: 'E7 short',
    signals: [short({ trailing: { distance: '3' } }), short({ trailing: { distance: '1' } })],
    klines: [quiet, [100, 101, 96, 97], [97, 98.99, 97, 98], [98, 99.5, 98, 99]],
    fills: [sold, 'BUY 2 @ 99 in 3'],
    more: onMargin,
  },
  {
    // 102 is 2 % above the entry. The stop is 100 + 0.5 % = 100.5 from then on.
    name: 'E8: break-even with a profit',
    signals: [two({ stop: '90', breakEven: { after: '0.02', plus: '0.005' } })],
    klines: [quiet, [100, 102, 99, 101.5], [101.5, 101.5, 100, 100]],
    fills: [entered, 'SELL 2 @ 100.5 in 2'],
  },
  {
    // 101.99 is less than 2 %: the stop is still 90.
    name: 'E8 not reached',
    signals: [two({ stop: '90', breakEven: { after: '0.02', plus: '0.005' } })],
    klines: [quiet, [100, 101.99, 99, 101.5], [101.5, 101.5, 95, 100], [100, 100, 89, 95]],
    fills: [entered, 'SELL 2 @ 90 in 3'],
  },
  {
    // 103 is 3 % above 100, so the stop is 100. The average of 100 and 103 is 101.5; 3 % of that are at 104.545: the stop stays.
    name: 'E9: break-even stays where it is when an order adds to the position',
    signals: [
      { quantity: '1', stop: '80', breakEven: { after: '0.03' } },
      { quantity: '2', stop: '80', breakEven: { after: '0.03' } },
    ],
    klines: [quiet, [100, 103, 99, 103], [103, 104.5, 100.5, 101], [101, 101, 99, 99]],
    fills: ['BUY 1 @ 100 in 1', 'BUY 1 @ 103 in 2', 'SELL 2 @ 100 in 3'],
  },
  {
    // 104.55 is 3 % above the average of 101.5: the stop is there from then on.
    name: 'E9 reached again',
    signals: [
      { quantity: '1', stop: '80', breakEven: { after: '0.03' } },
      { quantity: '2', stop: '80', breakEven: { after: '0.03' } },
    ],
    klines: [quiet, [100, 103, 99, 103], [103, 104.55, 102, 102], [102, 102, 99, 99]],
    fills: ['BUY 1 @ 100 in 1', 'BUY 1 @ 103 in 2', 'SELL 2 @ 101.5 in 3'],
  },
];

/** Exits by time, and the time after an exit. The first kline opens at midnight. */
const times: readonly Row[] = [
  {
    // Entered at 00:01, due at 00:04, which is the close of the fourth kline: it sells at the open of the fifth.
    name: 'E10: an exit after three klines',
    signals: [two({ exitAfterKlines: 3 })],
    klines: [quiet, quiet, quiet, quiet, [97, 97, 97, 97], quiet],
    fills: [entered, 'SELL 2 @ 97 in 4'],
  },
  {
    // Entered at 00:01, due at 00:03: it sells at the open of that minute.
    name: 'E11: an exit at a time of day',
    signals: [two({ exitAt: '00:03' })],
    klines: [quiet, quiet, quiet, [98, 98, 98, 98], quiet],
    fills: [entered, 'SELL 2 @ 98 in 3'],
  },
  {
    // Sold at 00:02, as it opens. Two minutes later, at 00:04, the same target enters again at the open.
    name: 'E12: a new entry two klines after a stop at an open',
    signals: [two({ stop: '95', reenterAfterKlines: 2 })],
    klines: [quiet, quiet, [94, 96, 94, 96], [96, 96, 96, 96], [97, 97, 97, 97]],
    fills: [entered, 'SELL 2 @ 94 in 2', 'BUY 2 @ 97 in 4'],
  },
  {
    // Sold within 00:02, which counts as its end, 00:02:59.999: the first close two minutes later is 00:05.
    name: 'E12 inside a kline',
    signals: [two({ stop: '95', reenterAfterKlines: 2 })],
    klines: [quiet, quiet, [100, 100, 94, 96], [96, 96, 96, 96], [97, 97, 97, 97], [98, 98, 98, 98]],
    fills: [entered, 'SELL 2 @ 95 in 2', 'BUY 2 @ 98 in 5'],
  },
];

const four = (exits: Partial<Target>): Target => ({ quantity: '4', ...exits });

/** Lists of take-profits. */
const lists: readonly Row[] = [
  {
    // Half of 4 is 2, and the last takes all that is left.
    name: 'E13: two of a list in one kline, the nearer first',
    signals: [
      four({
        takeProfit: [
          { at: { fromEntry: '0.2' }, share: '0.5' },
          { at: '110', share: '0.5' },
        ],
      }),
    ],
    klines: [quiet, quiet, [100, 121, 100, 120]],
    fills: ['BUY 4 @ 100 in 1', 'SELL 2 @ 110 in 2', 'SELL 2 @ 120 in 2'],
  },
  {
    // A quarter of 4 is 1; the stop sells the 3 that are left.
    name: 'E14: what the list leaves is under the stop',
    signals: [four({ stop: '95', takeProfit: [{ at: '110', share: '0.25' }] })],
    klines: [quiet, quiet, [100, 111, 100, 105], [105, 105, 94, 96]],
    fills: ['BUY 4 @ 100 in 1', 'SELL 1 @ 110 in 2', 'SELL 3 @ 95 in 3'],
  },
  {
    // A tenth of 0.004 is 0.0004, below the minimum of 0.001. With the 0.0012 of the next it is 0.0016.
    name: 'E15: a share below the minimum goes to the next',
    signals: [
      {
        quantity: '0.004',
        takeProfit: [
          { at: '110', share: '0.1' },
          { at: '115', share: '0.3' },
          { at: '120', share: '0.6' },
        ],
      },
    ],
    klines: [quiet, quiet, [100, 121, 100, 120]],
    fills: ['BUY 0.004 @ 100 in 1', 'SELL 0.0016 @ 115 in 2', 'SELL 0.0024 @ 120 in 2'],
    more: { instrument: { ...xz, minNotional: '0' } },
  },
  {
    // A kline gives 100,000 × 0.00001 = 1 to what rests: of the 2 at 110 one is sold, and the stop sells the 3 that are left.
    name: 'E16: one that fills in part',
    signals: [
      four({
        stop: '95',
        takeProfit: [
          { at: '110', share: '0.5' },
          { at: '120', share: '0.5' },
        ],
      }),
    ],
    klines: [quiet, quiet, [100, 111, 100, 105], [105, 105, 94, 96]],
    fills: ['BUY 4 @ 100 in 1', 'SELL 1 @ 110 in 2', 'SELL 3 @ 95 in 3'],
    more: { fills: { limitParticipation: '0.00001' } },
  },
];

/** Entries that a limit reduces. */
const clipped: readonly Row[] = [
  {
    // 500 at 100 are 5. The reduced size is the target, so that nothing is added, and the stop sells all of it.
    name: 'E17: an entry over the limit of the position',
    signals: [{ quantity: '10', stop: '95', clip: true }],
    klines: [quiet, quiet, [99, 99, 94, 96]],
    fills: ['BUY 5 @ 100 in 1', 'SELL 5 @ 95 in 2'],
    more: { maxPosition: '500' },
  },
  {
    // 10,000 at 100 are 100.
    name: 'E17 over the money',
    signals: [{ quantity: '150', stop: '95', clip: true }],
    klines: [quiet, quiet, [99, 99, 94, 96]],
    fills: ['BUY 100 @ 100 in 1', 'SELL 100 @ 95 in 2'],
  },
  {
    // 3 are held. At 110 the 500 leave room for (500 - 330) / 110 = 1.5454…, in lots 1.5454.
    name: 'E17 while adding',
    signals: [
      { quantity: '3', clip: true },
      { quantity: '9', clip: true },
    ],
    klines: [quiet, [100, 110, 100, 110], [110, 110, 110, 110]],
    fills: ['BUY 3 @ 100 in 1', 'BUY 1.5454 @ 110 in 2'],
    more: { maxPosition: '500' },
  },
];

describe('the golden exits', () => {
  test.each([...levels, ...moved, ...times, ...lists, ...clipped])(
    '$name',
    async ({ signals, klines, fills, more }) => {
      const made = await sameFills(caseOfMinutes(signals, klines, more), signals);
      expect(
        made.map(({ side, quantity, price, time }) => `${side} ${quantity} @ ${price} in ${Math.floor(time / 60_000)}`),
      ).toEqual(fills);
    },
  );
});
