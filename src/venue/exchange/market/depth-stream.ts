/** Books from the socket, the sound ones in order. */
import type { Clock } from '../../../clock/clock.ts';
import type { Depth } from '../../../domain/market.ts';
import type { Count } from '../counters.ts';
import { timeOf } from '../rest/json.ts';
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
 * So many books in a row, over so long (real ms), that are dated before the newest and in order among themselves: the exchange has set
 * its clock back. One old book from a replica, or a few that waited in a queue, are less; without this, no book would be
 * believed for as long as the step was.
 */
const steppedBooks = 3;
const steppedMs = 3_000;

interface Run {
  readonly since: number;
  readonly first: number;
  readonly last: number;
  readonly books: number;
}

/**
 *     {"event_rep":"","channel":"market_btcusdt_depth_step0","data":null,"tick":{"asks":[[86764.73,0.18459],…],
 *      "buys":[[86621.91,0.05117],…]},"ts":1790134142000,"status":"ok"}
 *
 * Every frame is the whole book, without a sequence number: one dated before the last is refused, because nothing else shows their
 * order. A break forgets none of this, since the first book after one may be seconds old. Some deployments write `bids`, four texts for each level, and the time as ISO text, as 0 or not at all.
 */
export function depthStream({ symbol, clock, count, book, gap }: DepthStreamOptions): Listener {
  let newest = 0;
  let takenAt = 0;
  /** Books refused in a row, by when they came (monotonic) and what they say. */
  let refused: Run | undefined;

  /** Whether a book is older than what was seen; what the exchange's clock shows now ends that. */
  function isOld(time: number, seenAt: number): boolean {
    // Our own clock was set back.
    if (newest > seenAt + clock.machine(aheadMs)) newest = 0;
    if (time >= newest) return false;
    const at = clock.monotonic();
    const run = refused !== undefined && time >= refused.last ? refused : { since: at, first: time, books: 0 };
    refused = { since: run.since, first: run.first, last: time, books: run.books + 1 };
    if (refused.books < steppedBooks || time === run.first || at - run.since < clock.machine(steppedMs)) return true;
    gap({ from: takenAt, to: seenAt, cause: "the exchange's clock was set back" });
    return false;
  }

  return {
    data(tick, ts) {
      const seenAt = clock.now();
      const stated = timeOf(ts);
      const usable = stated !== undefined && stated <= seenAt + clock.machine(aheadMs);
      if (!usable) count('depth without a usable time', ts);
      const time = usable ? stated : seenAt;
      const sides = readBook(tick['buys'] ?? tick['bids'], tick['asks']);
      if (typeof sides === 'string') count(sides, tick);
      else if (usable && isOld(time, seenAt)) count('older depth', ts);
      else {
        if (usable) newest = time;
        refused = undefined;
        takenAt = seenAt;
        book({ symbol, time, bids: sides.bids, asks: sides.asks, seenAt });
      }
    },
    hole: gap,
  };
}
