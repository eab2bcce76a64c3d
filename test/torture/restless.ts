/** A strategy that never rests until it is told to: it changes its mind at every few trades, so that something is always under way. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mergeMap } from 'rxjs';
import { defineStrategy, integer, type Signal, type Trade } from '../../src/index.ts';
import { stringsVariable } from '../kit/puppet.ts';

/** While this file lies there it wants nothing to be held and nothing to rest. */
export const calmFile = (dir: string): string => join(dir, 'calm');

/** How an order says which trade moved it; the number is that trade's time, UTC ms. */
export const restlessReason = /^restless at the trade of (\d+)$/;
const reasonOf = (time: number): string => `restless at the trade of ${time}`;

const lot = 0.1;

const calmly = (isMaker: boolean, reason: string): Signal =>
  isMaker ? { kind: 'quotes', quotes: [], reason } : { kind: 'target', size: { quantity: 0 }, reason };

/** Of a maker: one order that often fills, buying and selling in turn, and one that rests; of a taker: in and out, at market or by a limit. */
function wildly(isMaker: boolean, turn: number, { price, time }: Trade): Signal {
  const reason = reasonOf(time);
  const away = (share: number): number => Math.round(price * share * 100) / 100;
  if (isMaker) {
    const quotes = [
      turn % 2 === 0
        ? ({ side: 'BUY', price: away(1.0005), quantity: lot } as const)
        : ({ side: 'SELL', price: away(0.9995), quantity: lot } as const),
      { side: 'BUY', price: away(0.98 + (turn % 7) / 1_000), quantity: lot } as const,
    ];
    return { kind: 'quotes', quotes, reason };
  }
  const size = { quantity: turn % 2 === 0 ? lot : 0 };
  return { kind: 'target', size, ...(turn % 5 === 0 && { limit: away(turn % 10 === 0 ? 1.002 : 0.998) }), reason };
}

export default defineStrategy({
  name: 'restless',
  about: 'Changes its mind at every few trades until it is told to be calm',
  params: {
    number: integer(1, { min: 1, max: 99 }, 'the second is a maker'),
    every: integer(2, { min: 1, max: 1_000 }, 'trades between two minds'),
  },
  signals({ params, trades }) {
    const calm = calmFile(process.env[stringsVariable] ?? '.');
    const isMaker = params.number === 2;
    let seen = 0;
    return trades.pipe(
      mergeMap((trade) => {
        if (existsSync(calm)) return [calmly(isMaker, reasonOf(trade.time))];
        return seen++ % params.every === 0 ? [wildly(isMaker, Math.floor(seen / params.every), trade)] : [];
      }),
    );
  },
});
