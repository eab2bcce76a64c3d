/** A market maker on live depth: one order on each side of the mid price, moved when the mid price has moved. */
import { distinctUntilChanged, filter, map } from 'rxjs';
import { decimal, defineStrategy, type Quote, quotes } from 'sluice';

export default defineStrategy({
  name: 'maker',
  about: 'Keeps one order on each side of the mid price, and moves them when the mid price has moved',
  params: {
    offset: decimal(0.0005, { min: 0, max: 0.1 }, 'distance of each order from the mid price, as a fraction of it'),
    refresh: decimal(0.0002, { min: 0, max: 0.1 }, 'move of the mid price, as a fraction, at which the orders follow'),
    quantity: decimal(0.01, { min: 1e-8, max: 1e9 }, 'base quantity of each order'),
    most: decimal(0.05, { min: 0, max: 1e9 }, 'base quantity beyond which it does not buy'),
  },
  check: ({ quantity, most }) =>
    quantity <= most ? undefined : `most (${most}) must be at least quantity (${quantity}), or it never buys`,
  signals: ({ depth, holding, params }) =>
    depth.pipe(
      map(({ bids, asks }) => ((bids[0]?.[0] ?? Number.NaN) + (asks[0]?.[0] ?? Number.NaN)) / 2),
      filter((middle) => !Number.isNaN(middle)),
      // Each move of an order takes two requests and puts it at the end of the queue: small moves are ignored.
      distinctUntilChanged((last, middle) => Math.abs(middle - last) < last * params.refresh),
      map((middle) => {
        const { quantity, entryPrice } = holding();
        const orders: Quote[] = [];
        if (quantity + params.quantity <= params.most) {
          orders.push({ side: 'BUY', price: middle * (1 - params.offset), quantity: params.quantity });
        }
        // Fees are taken from what is bought: a little less than an order's quantity is there to be sold.
        const sellable = Math.min(quantity, params.quantity);
        if (sellable > params.quantity / 2) {
          orders.push({ side: 'SELL', price: Math.max(middle, entryPrice) * (1 + params.offset), quantity: sellable });
        }
        return quotes(orders, `the mid price is ${middle.toPrecision(8)}`);
      }),
    ),
});
