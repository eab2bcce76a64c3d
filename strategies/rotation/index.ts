/** Holds the strongest of many markets, and changes over once a week. */
import { decimal, defineStrategy, integer, roc, weights } from 'sluice';

export default defineStrategy({
  name: 'rotation',
  about: 'Each week holds the markets that rose the most, in equal parts, and none of those that fell',
  params: {
    period: integer(30, { min: 2, max: 500 }, 'klines over which the rise of a market is measured'),
    top: integer(3, { min: 1, max: 50 }, 'how many markets to hold'),
    invest: decimal(0.9, { min: 0.01, max: 1 }, 'share of equity to hold in all of them together'),
    threshold: decimal(0.05, { min: 0, max: 1 }, 'difference between share and weight below which it does not trade'),
  },
  rebalance: '1week',
  indicators: ({ period }) => ({ rise: roc('close', period) }),
  choose(markets, { params: { top, invest, threshold } }) {
    const best = markets
      .filter(({ values }) => values.rise > 0)
      .toSorted((a, b) => b.values.rise - a.values.rise)
      .slice(0, top);
    // With fewer risers than `top`, the rest stays in cash.
    return weights(
      Object.fromEntries(best.map(({ symbol }) => [symbol, invest / top])),
      best.length === 0 ? 'no market has risen' : `the strongest: ${best.map(({ symbol }) => symbol).join(', ')}`,
      { threshold },
    );
  },
});
