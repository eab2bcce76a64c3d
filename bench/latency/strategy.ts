/** Signals for another resting order with every trade. */
import { map } from 'rxjs';
import { defineStrategy, quotes } from '../../src/index.ts';

export default defineStrategy({
  name: 'each-trade',
  about: 'One order for each trade',
  params: {},
  signals: ({ trades }) =>
    trades.pipe(
      map(({ price }) => quotes([{ side: 'BUY', price: Math.round(price * 90) / 100, quantity: 1 }], 'a trade')),
    ),
});
