/** A maker: buys a little below the market and sells what it bought a little above. */

import type { Quote } from '../../src/domain/order.ts';
import { defineStrategy, quote } from '../../src/strategy/contract.ts';
import { atr, sma } from '../../src/strategy/indicators.ts';
import { decimal, integer } from '../../src/strategy/params.ts';

export default defineStrategy({
  name: 'grid',
  about: 'Keeps resting orders below and above the average price, spaced by the average true range',
  params: {
    levels: integer(3, { min: 1, max: 20 }, 'orders on each side'),
    quantity: decimal(0.01, { min: 1e-8, max: 1e9 }, 'base quantity of each order'),
    spacing: decimal(0.5, { min: 0.05, max: 20 }, 'distance between levels, in average true ranges'),
    period: integer(20, { min: 2, max: 500 }, 'klines of the average and of the true range'),
    most: decimal(0.05, { min: 0, max: 1e9 }, 'base quantity at which it stops buying'),
  },
  indicators: ({ period }) => ({ middle: sma('close', period), range: atr(period) }),
  decide({ middle, range }, { kline, holding, params }) {
    // Steps no finer than 0.05 % keep the quotes still while the range wanders, and pay for the fees.
    const step = Math.max(range * params.spacing, middle * 0.0005);
    const base = Math.round(middle / step) * step;
    // Nothing is sold below what it cost, whatever the average does.
    const asksFrom = holding.quantity > 0 ? Math.max(base, holding.entryPrice) : base;
    const quotes: Quote[] = [];
    for (let level = 1; level <= params.levels; level++) {
      const bid = base - level * step;
      const ask = asksFrom + level * step;
      if (bid < kline.close && holding.quantity + level * params.quantity <= params.most)
        quotes.push({ side: 'BUY', price: bid, quantity: params.quantity });
      if (ask > kline.close && level * params.quantity <= holding.quantity)
        quotes.push({ side: 'SELL', price: ask, quantity: params.quantity });
    }
    return quote(quotes, `${params.levels} levels a side, ${step.toPrecision(3)} apart`);
  },
});
