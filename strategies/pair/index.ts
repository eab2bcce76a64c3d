/** Two markets that move together: more of the one that has become cheap relative to the other, less of the other. */
import { decimal, defineStrategy, formula, hold, integer, of, zScore } from 'sluice';

export default defineStrategy({
  name: 'pair',
  about:
    'Shifts from one of two markets to the other when their ratio is far from its average, and back when it is near',
  params: {
    period: integer(240, { min: 10, max: 20_000 }, 'klines of the average ratio and its standard deviation'),
    enter: decimal(2, { min: 0.1, max: 10 }, 'standard deviations from the average at which it shifts'),
    leave: decimal(0.5, { min: 0, max: 10 }, 'standard deviations at which it shifts back'),
    base: decimal(0.45, { min: 0, max: 0.5 }, 'share of equity in each market while the ratio is near its average'),
    shift: decimal(
      0.45,
      { min: 0.01, max: 0.5 },
      'share of equity that moves from the expensive market to the cheap one',
    ),
  },
  check: ({ enter, leave }) => (leave < enter ? undefined : `leave (${leave}) must be below enter (${enter})`),
  markets: { first: 'traded', second: 'traded' },
  // One market without the other is not a pair: what is missing is ordered again.
  legsAlone: { afterMs: 600_000, action: 'complete' },
  indicators({ period }) {
    const prices = [of('first', 'close'), of('second', 'close')] as const;
    return {
      z: zScore(
        formula(prices, (first, second) => Math.log(first / second)),
        period,
      ),
    };
  },
  decide({ z }, { params: { enter, leave, base, shift } }) {
    if (z >= enter) return both(base - shift, base + shift, 'the first market is expensive relative to the second');
    if (z <= -enter) return both(base + shift, base - shift, 'the second market is expensive relative to the first');
    if (Math.abs(z) <= leave) return both(base, base, 'the ratio of the markets is near its average');
    // In between it stays as it is, so that it does not trade back and forth.
    return undefined;
  },
});

const both = (first: number, second: number, reason: string) => ({
  first: hold({ share: first }, reason),
  second: hold({ share: second }, reason),
});
