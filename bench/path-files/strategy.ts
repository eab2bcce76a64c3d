/** Buys in every fourth minute of the market and sells in the next. */
import { defineStrategy, flat, hold } from '../../src/index.ts';

const minuteMs = 60_000;

export default defineStrategy({
  name: 'alternating',
  about: 'Buys and sells by turns',
  params: {},
  indicators: () => ({}),
  decide: (_, { kline }) =>
    (kline.openTime / minuteMs) % 4 === 0 ? hold({ quantity: 1 }, 'the fourth minute') : flat('another minute'),
});
