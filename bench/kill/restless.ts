/** One bid that moves at every trade: whatever stops creation stops it in the middle of something. */
import { map } from 'rxjs';
import { defineStrategy, integer, quotes } from '../../src/index.ts';

export default defineStrategy({
  name: 'restless',
  about: 'Moves its bid at every trade',
  params: { orders: integer(1, { min: 1, max: 1 }, 'one') },
  signals: ({ trades }) =>
    trades.pipe(map((_, count) => quotes([{ side: 'BUY', price: 0.5 + (count % 10) / 100, quantity: 1 }], 'bench'))),
});
