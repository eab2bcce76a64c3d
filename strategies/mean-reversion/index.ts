/** Buys what has fallen too far too fast within a rising market, and sells it back at its average. */
import { bollinger, decimal, defineStrategy, flat, hold, integer, on, rsi, sma } from 'sluice';

export default defineStrategy({
  name: 'mean-reversion',
  about: 'Buys below the lower Bollinger band while the RSI is low and the days rise, and leaves at the middle band',
  params: {
    period: integer(20, { min: 2, max: 5_000 }, 'klines of the bands'),
    deviations: decimal(2, { min: 0.1, max: 10 }, 'standard deviations from the middle band to the others'),
    low: decimal(30, { min: 1, max: 99 }, 'RSI of 14 klines below which it buys'),
    trend: integer(20, { min: 1, max: 500 }, 'days of the average above which the market counts as rising'),
    share: decimal(0.5, { min: 0.01, max: 1 }, 'share of equity to hold'),
    stop: decimal(0.03, { min: 0.001, max: 0.5 }, 'distance of the stop below the entry price, as a fraction'),
  },
  indicators: ({ period, deviations, trend }) => ({
    bands: bollinger('close', period, deviations),
    strength: rsi('close', 14),
    days: on('1day', sma('close', trend)),
  }),
  decide({ bands, strength, days }, { kline: { close }, params: { low, share, stop } }) {
    if (close >= bands.middle) return flat('back at the middle band');
    const isSoldOff = close < bands.lower && strength < low;
    if (!isSoldOff || close < days) return undefined;
    return hold({ share }, 'sold off while the days rise', { stop: { fromEntry: stop } });
  },
});
