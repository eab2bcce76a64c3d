/**
 * A displayed book made around the last print of a kline market. Recorded klines say nothing about depth, so this invents a
 * plausible one: 30 levels a side, half a basis point apart, each showing a few percent of a minute's volume. A level keeps
 * its size for a minute, so that what users take from it stays taken that long.
 */
import type { Instrument } from '../../domain/instrument.ts';
import {
  type Lots,
  lotsOf,
  max,
  minus,
  noRate,
  partOfLots,
  plus,
  priceNumber,
  type Rate,
  rate,
  type Ticks,
  worsened,
} from '../../domain/money.ts';
import type { DisplayedBook, DisplayedLevel } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';

const levelsPerSide = 30;
const spacing = rate('0.00005');
const oneLot = 1n as Lots;
/** A level shows between 1 % and 9.4 % of a minute's volume. */
const shares: readonly Rate[] = Array.from({ length: 64 }, (_, index) =>
  rate((0.01 + (index * 0.0847) / 64).toFixed(8)),
);

/** The book after a print that left `last` as the price; `volume` is a minute's, `key` changes when sizes should. */
export function madeBook(
  last: Pick<Print, 'price' | 'side'>,
  volume: number,
  key: number,
  at: Instrument,
): DisplayedBook {
  const step = minus(worsened('BUY', last.price, spacing), last.price);
  // A taker's BUY printed at the ask, a SELL at the bid.
  const ask = last.side === 'BUY' ? last.price : plus(last.price, step);
  const bid = minus(ask, step);
  const minuteLots = max(oneLot, lotsOf(volume, at));
  const level = (price: Ticks): DisplayedLevel => {
    const share = shares[scramble(Math.round(priceNumber(price, at) * 1e4), key) & 63] ?? noRate;
    return { price, quantity: max(oneLot, partOfLots(minuteLots, share)) };
  };
  const bids: DisplayedLevel[] = [];
  const asks: DisplayedLevel[] = [];
  let up = ask;
  let down = bid;
  for (let index = 0; index < levelsPerSide; index++) {
    asks.push(level(up));
    if (down > 0n) bids.push(level(down));
    up = plus(up, step);
    down = minus(down, step);
  }
  return { bids, asks };
}

/** Two whole numbers mixed into 32 bits. */
export function scramble(a: number, b: number): number {
  let mixed = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
