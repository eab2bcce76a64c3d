/**
 * Prints made out of a recorded kline: they pass through its open, low, high and close (low first in a rising minute, high
 * first in a falling one), reach nothing beyond, and their volumes sum to its volume.
 */
import type { Rng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { type Lots, lotsOf, minus, noLots, partOfLots, plus, rate, ticksOf } from '../../domain/money.ts';
import type { Print } from '../core/order.ts';
import type { MinuteRow } from './market.ts';

const printsPerMinute = 20;
const oneLot = 1n as Lots;
/** The first print comes within this, so that the minute before is soon seen to have closed. */
const firstWithinMs = 400;
const lastMs = 59_500;

/**
 * The prints of one minute, in order; none when nothing traded. A minute with fewer lots than corners prints only the first
 * of them, and a recorded open outside [low, high] is moved to the nearer end.
 */
export function makePrints(row: MinuteRow, at: Instrument, rng: Rng): Print[] {
  const volume = lotsOf(row.volume, at);
  if (volume <= 0n) return [];
  const prices = pathOf(row, volume < printsPerMinute ? [] : randoms(rng, printsPerMinute), rng);
  const shown: number[] = [];
  let spare = volume;
  for (const price of prices) {
    if (spare <= 0n) break;
    spare = minus(spare, oneLot);
    shown.push(price);
  }
  const extra = split(spare, shown.length, rng);
  const times = [rng() * firstWithinMs, ...randoms(rng, shown.length - 1).map((at01) => 500 + at01 * (lastMs - 500))];
  let before = row.open;
  let side: Side = row.close >= row.open ? 'BUY' : 'SELL';
  return shown.map((price, index) => {
    if (price !== before) side = price > before ? 'BUY' : 'SELL';
    else if (rng() < 0.5) side = side === 'BUY' ? 'SELL' : 'BUY';
    before = price;
    return {
      time: Math.floor(row.openTime + (times[index] ?? 0)),
      price: ticksOf(price, at, 'down'),
      quantity: plus(oneLot, extra[index] ?? noLots),
      side,
    };
  });
}

/** Prices from open to close through the extremes, with `between` (fractions of the way, rising) spread over the path. */
function pathOf({ open, high, low, close }: MinuteRow, between: readonly number[], rng: Rng): number[] {
  const start = Math.min(high, Math.max(low, open));
  const corners = (close >= open ? [start, low, high, close] : [start, high, low, close]).filter(
    (price, index, all) => index === 0 || price !== all[index - 1],
  );
  const steps = corners.length - 1;
  const prices: number[] = [];
  corners.forEach((corner, step) => {
    prices.push(corner);
    const next = corners[step + 1];
    for (const fraction of between.slice(corners.length)) {
      const along = fraction * Math.max(1, steps) - step;
      if (along < 0 || along >= 1) continue;
      const noisy = Math.min(1, Math.max(0, along + (rng() - 0.5) * 0.3));
      if (next !== undefined) prices.push(corner + (next - corner) * noisy);
      else if (steps === 0) prices.push(corner);
    }
  });
  return prices;
}

/** `whole` in that many parts of random size, none of them below zero. */
function split(whole: Lots, parts: number, rng: Rng): Lots[] {
  const cuts = randoms(rng, parts - 1).map((cut) => partOfLots(whole, rate(cut.toFixed(8))));
  const ends = [...cuts, whole];
  return ends.map((end, index) => minus(end, ends[index - 1] ?? noLots));
}

/** `count` random fractions in rising order. */
const randoms = (rng: Rng, count: number): number[] =>
  Array.from({ length: Math.max(0, count) }, () => rng()).sort((a, b) => a - b);
