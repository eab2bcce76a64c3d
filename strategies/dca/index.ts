/** A ladder: buys the same amount again each time the price has fallen one step more, and sells everything at a gain. */
import { decimal, defineStrategy, hold, integer } from 'sluice';

export default defineStrategy({
  name: 'dca',
  about: 'Buys the same amount again at each step down, and sells everything at a gain over its average cost',
  params: {
    amount: decimal(1_000, { min: 1, max: 1e9 }, 'quote amount of each rung'),
    rungs: integer(10, { min: 1, max: 100 }, 'how many rungs there are'),
    step: decimal(0.03, { min: 0.001, max: 0.5 }, 'fall from one rung to the next, as a fraction'),
    gain: decimal(
      0.03,
      { min: 0.001, max: 5 },
      'rise above the average cost at which it sells everything, as a fraction',
    ),
  },
  indicators: () => ({}),
  decide(_, { kline: { close }, holding: { quantity, entryPrice }, params: { amount, rungs, step, gain } }) {
    // What it has bought says how many rungs those were, after a restart, too.
    const bought = quantity > 0 ? Math.round((quantity * entryPrice) / amount) : 0;
    // Rungs at equal distances cost the middle one on average: the next is half their number and half a step below.
    const isNext = bought === 0 || close <= entryPrice * (1 - (step * (bought + 1)) / 2);
    if (!isNext || bought >= rungs) return undefined;
    const size = { quantity: quantity + amount / close };
    return hold(size, `rung ${bought + 1} of ${rungs}`, { takeProfit: { fromEntry: gain } });
  },
});
