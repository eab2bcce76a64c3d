/** Bids far below the market, as many as it is told: orders that rest until somebody cancels them. */
import { map } from 'rxjs';
import { defineStrategy, integer, quotes } from '../../src/index.ts';

export default defineStrategy({
  name: 'bids',
  about: 'Bids far below the market',
  params: { orders: integer(5, { min: 1, max: 100 }, 'how many') },
  signals: ({ params, trades }) =>
    trades.pipe(
      map(() =>
        quotes(
          Array.from({ length: params.orders }, (_, step) => ({ side: 'BUY', price: 1 - step / 100, quantity: 1 })),
          'bench',
        ),
      ),
    ),
});
