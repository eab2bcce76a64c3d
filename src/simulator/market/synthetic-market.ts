/**
 * A synthetic market: an empty one in which other participants trade. Its klines are made from all trades. Earlier klines come from a
 * random walk that ends at the start price.
 */
import { type Rng, seededRng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { lotsOf, priceNumber, ticks, ticksOf } from '../../domain/money.ts';
import type { Print } from '../core/order.ts';
import type { SyntheticMarket } from '../options.ts';
import { emptyMarket } from './empty-market.ts';
import { scramble } from './made-book.ts';
import type { Market, MarketPast } from './market.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
const printsPerMinute = 4;
/** Value of a usual order in the quote asset. */
export const usualValue = 500;

const usual = { price: '100', volatility: 0.03, takersPerSecond: 0.5, historyMinutes: 600 };

/** The options with defaults. */
export const settled = (options: SyntheticMarket) => ({ ...usual, ...options });

/** A source of its own for each symbol. */
export function symbolRng(symbol: string, seed: number): Rng {
  let key = seed;
  for (const letter of symbol) key = scramble(key, letter.charCodeAt(0));
  return seededRng(key);
}

/** A draw from the normal distribution (Box and Muller). */
export const gauss = (rng: Rng): number => Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());

/** The price after this many ms of the random walk. */
export const walked = (price: number, ms: number, volatility: number, rng: Rng): number =>
  price * Math.exp(volatility * Math.sqrt(ms / dayMs) * gauss(rng));

/** Goes on from the last print of an earlier run, if there was one. */
export function syntheticMarket(
  instrument: Instrument,
  options: SyntheticMarket,
  now: number,
  seed: number,
  past: MarketPast | undefined,
): Market {
  if (past !== undefined) return emptyMarket(instrument, past);
  const { price, volatility, historyMinutes } = settled(options);
  const end = priceNumber(ticks(price, instrument, 'up'), instrument);
  return emptyMarket(instrument, {
    prints: history(end, instrument, historyMinutes, volatility, now, seed),
    minutes: [],
  });
}

function history(end: number, at: Instrument, minutes: number, volatility: number, now: number, seed: number): Print[] {
  const rng = symbolRng(at.symbol, seed);
  const stepMs = minuteMs / printsPerMinute;
  const count = minutes * printsPerMinute;
  const first = Math.floor(now / minuteMs) * minuteMs - minutes * minuteMs;
  // Walked backwards from the end, so that the market begins at the price it was given.
  const prices = [end];
  for (let index = 1; index < count; index++) prices.push(walked(prices[index - 1] ?? end, stepMs, volatility, rng));
  return prices.reverse().map((price, index) => ({
    time: first + index * stepMs,
    price: ticksOf(price, at, 'up'),
    quantity: lotsOf((usualValue / price) * Math.exp(gauss(rng) / 2), at),
    side: rng() < 0.5 ? 'BUY' : 'SELL',
  }));
}

/** The price that a market stands at, as a number; undefined before its first trade. */
export const lastPrice = (market: Market, at: Instrument): number | undefined => {
  const last = market.recent.at(-1);
  return last === undefined ? undefined : priceNumber(last.price, at);
};
