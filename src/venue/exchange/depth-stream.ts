/** Books from the socket, the sound ones in order. */
import type { Clock } from '../../clock/clock.ts';
import type { Depth } from '../../domain/market.ts';
import type { Count } from './counters.ts';
import { timeOf } from './json.ts';
import { readBook } from './read-market.ts';
import type { Hole, Listener } from './socket.ts';

export interface DepthStreamOptions {
  readonly symbol: string;
  readonly clock: Clock;
  readonly count: Count;
  readonly book: (depth: Depth) => void;
  readonly gap: (hole: Hole) => void;
}

/** A frame dated further ahead than this (real ms) says nothing about order; believed, it would shut out all that follow. */
const aheadMs = 10_000;

/**
 *     {"event_rep":"","channel":"market_btcusdt_depth_step0","data":null,"tick":{"asks":[[86764.73,0.18459],…],
 *      "buys":[[86621.91,0.05117],…]},"ts":1790134142000,"status":"ok"}
 *
 * Every frame is the whole book, without a sequence number: one dated before the last is refused, since nothing else tells their
 * order. Some deployments write `bids`, four texts for each level, and the time as ISO text, as 0 or not at all.
 */
export function depthStream({ symbol, clock, count, book, gap }: DepthStreamOptions): Listener {
  let newest = 0;
  return {
    data(tick, ts) {
      const seenAt = clock.now();
      const stated = timeOf(ts);
      const usable = stated !== undefined && stated <= seenAt + clock.machine(aheadMs);
      if (!usable) count('depth without a usable time', ts);
      const time = usable ? stated : seenAt;
      const sides = readBook(tick['buys'] ?? tick['bids'], tick['asks']);
      if (typeof sides === 'string') count(sides, tick);
      else if (usable && time < newest) count('older depth', ts);
      else {
        if (usable) newest = time;
        book({ symbol, time, bids: sides.bids, asks: sides.asks, seenAt });
      }
    },
    hole: gap,
  };
}
