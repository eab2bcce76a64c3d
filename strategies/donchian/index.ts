/** Breakout: buys a new high, sized so that its stop costs the same share of equity each time, and leaves at a new low. */
import { decimal, defineStrategy, donchian, flat, hold, integer, riskShare, sma, trueRange } from 'sluice';

export default defineStrategy({
  name: 'donchian',
  about:
    'Buys the highest price of many klines with a stop by the average true range, and leaves at the lowest of fewer',
  params: {
    entry: integer(240, { min: 2, max: 20_000 }, 'klines whose highest price it buys'),
    exit: integer(120, { min: 2, max: 20_000 }, 'klines at whose lowest price it leaves'),
    period: integer(48, { min: 2, max: 5_000 }, 'klines of the average true range'),
    ranges: decimal(3, { min: 0.1, max: 50 }, 'average true ranges from the entry price to the stop'),
    risk: decimal(0.01, { min: 0.0001, max: 0.2 }, 'share of equity that is lost when the stop is hit'),
  },
  check: ({ entry, exit }) => (exit <= entry ? undefined : `exit (${exit}) must be at most entry (${entry})`),
  indicators: ({ entry, exit, period }) => ({
    high: donchian(entry).upper,
    low: donchian(exit).lower,
    // A simple average: Wilder's depends on where the klines begin, and so would the stop after a restart.
    range: sma(trueRange(), period),
  }),
  decide({ high, low, range }, { kline, holding, params: { ranges, risk } }) {
    // Channels include the kline itself: it broke out where its high is that of the channel.
    if (kline.low <= low) return flat('a new low');
    if (holding.quantity > 0 || kline.high < high || range === 0) return undefined;
    const distance = ranges * range;
    const size = riskShare({ risk, stop: kline.close - distance, price: kline.close });
    return hold(size, 'a new high', { stop: { distance } });
  },
});
