/** A maker: buys on fixed lines below the market and sells what it bought on the lines between them. */
import { atr, decimal, defineStrategy, integer, type Quote, quotes } from 'sluice';

export default defineStrategy({
  name: 'grid',
  about: 'Keeps resting orders on fixed lines: buys below the market, sells what it bought above what it paid',
  params: {
    levels: integer(3, { min: 1, max: 20 }, 'orders on each side'),
    quantity: decimal(0.01, { min: 1e-8, max: 1e9 }, 'base quantity of each BUY'),
    maxPosition: decimal(0.05, { min: 0, max: 1e9 }, 'base quantity beyond which it does not buy'),
    minSpacing: decimal(
      0.006,
      { min: 0.0001, max: 0.5 },
      'minimum distance from a buying line to the selling line above, as a fraction of the price: both fees and a gain',
    ),
    spacing: decimal(0.5, { min: 0, max: 20 }, 'that distance in average true ranges, where it is more'),
    period: integer(20, { min: 1, max: 500 }, 'klines of the average true range'),
  },
  check: ({ quantity, maxPosition }) =>
    quantity <= maxPosition
      ? undefined
      : `maxPosition (${maxPosition}) must be at least quantity (${quantity}), or it never buys`,
  indicators: ({ period }) => ({ range: atr(period) }),
  decide({ range }, { kline: { close }, holding, params: { levels, quantity, maxPosition, minSpacing, spacing } }) {
    const held = holding.quantity;
    const step = stepFor((range * spacing) / close, minSpacing);
    // Line n is at e^(n * step), whatever the market does, so orders stand still; even lines buy, odd ones sell. On one
    // and the same line it would buy back what it has just sold, and pay two fees for nothing.
    const market = Math.log(close) / step;
    let bid = 2 * Math.ceil(market / 2) - 2;
    let ask = 2 * Math.floor((market + 1) / 2) + 1;
    // Fees are taken from what is bought: a lot is a little less than its order.
    const lots = Math.ceil(held / quantity - 0.05);
    if (lots > 0) {
      const paid = Math.log(holding.entryPrice) / step;
      // Lots of neighbouring lines have cost the middle one on average: the next one is below the lowest of them.
      bid = Math.min(bid, 2 * Math.floor((paid - lots - 1) / 2));
      ask = Math.max(ask, 2 * Math.ceil((paid - 1) / 2) + 1);
    }
    const orders: Quote[] = [];
    for (let level = 0; level < levels; level++) {
      if (held + (level + 1) * quantity <= maxPosition)
        orders.push({ side: 'BUY', price: Math.exp((bid - 2 * level) * step), quantity });
      if (level < lots) orders.push({ side: 'SELL', price: Math.exp((ask + 2 * level) * step), quantity: held / lots });
    }
    return quotes(orders, 'orders on fixed lines');
  },
});

/** `minSpacing`, doubled until it is near the spacing: a step that followed every kline would move every order. */
const stepFor = (spacing: number, minSpacing: number): number =>
  minSpacing * 2 ** Math.max(0, Math.round(Math.log2(spacing / minSpacing)));
