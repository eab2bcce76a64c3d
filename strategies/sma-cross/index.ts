/** Long while the fast average stands above the slow one, flat otherwise. */
import { decimal, defineStrategy, flat, hold, integer, sma } from 'sluice';

export default defineStrategy({
  name: 'sma-cross',
  about: 'Long while the fast simple moving average stands above the slow one, flat otherwise',
  params: {
    fast: integer(10, { min: 1, max: 5_000 }, 'klines of the fast average'),
    slow: integer(50, { min: 2, max: 20_000 }, 'klines of the slow average'),
    quantity: decimal(0, { min: 0, max: 1e9 }, 'how much to hold, in the base asset; 0: a share of equity'),
    share: decimal(0.9, { min: 0, max: 1 }, 'share of equity to hold when quantity is 0'),
    stop: decimal(0, { min: 0, max: 0.5 }, 'trailing stop, as a fraction of the best price; 0: none'),
  },
  check: ({ fast, slow }) => (fast < slow ? undefined : `fast (${fast}) must be below slow (${slow})`),
  indicators: ({ fast, slow }) => ({ fast: sma('close', fast), slow: sma('close', slow) }),
  decide({ fast, slow }, { params }) {
    // Prices are decimals and doubles are not: averages that are equal on paper may differ in the last digits.
    if (fast - slow <= 1e-11 * slow) return out;
    const size = params.quantity > 0 ? { quantity: params.quantity } : { share: params.share };
    return params.stop > 0 ? hold(size, above, { trailing: params.stop }) : hold(size, above);
  },
});

const above = 'the fast average is above the slow one';
const out = flat('the fast average is not above the slow one');
