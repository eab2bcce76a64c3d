/** Public prints from the socket, oldest first, without those that a reconnect brings again. */
import type { Trade } from '../../domain/market.ts';
import type { Count } from './counters.ts';
import { isFields, numberOf, textOf, timeOf } from './json.ts';
import { sideOf } from './read-order.ts';
import type { Hole, Listener } from './socket.ts';

export interface TradeStreamOptions {
  readonly symbol: string;
  readonly count: Count;
  readonly now: () => number;
  readonly print: (trade: Trade) => void;
  readonly gap: (hole: Hole) => void;
}

/** So many prints, up to twice, are remembered to know repeats by; a reconnect brings at most the last few dozen again. */
const remembered = 1_000;

/** One print of a frame or of the past, dated by the frame where it has no time of its own; undefined when it cannot be read. */
export function readPrint(row: unknown, symbol: string, frameTime: number, seenAt: number): Trade | undefined {
  if (!isFields(row)) return undefined;
  const price = numberOf(row['price']);
  const quantity = numberOf(row['vol']);
  const side = sideOf(row['side']);
  if (!(price > 0 && quantity > 0) || !Number.isFinite(price + quantity) || side === undefined) return undefined;
  const time = timeOf(row['ts']) ?? frameTime;
  return { symbol, time, price, quantity, side, seenAt };
}

/**
 * The exchange's own id, where it gives one. Numbers stay numbers: writing each out as text would cost a tenth of the frame. One
 * beyond 2^53 was rounded when the frame was read and is shared by its neighbours: it is none, or prints would be lost as repeats.
 */
function printId(row: unknown): string | number | undefined {
  const id = isFields(row) ? row['id'] : undefined;
  if (typeof id === 'number') return Number.isSafeInteger(id) ? id : undefined;
  return textOf(id);
}

/**
 *     {"channel":"market_btcusdt_trade_ticker","tick":{"data":[{"amount":"23311.6","ds":"2026-09-23 11:29:10","id":13652120,
 *      "price":"86650.65","side":"BUY","ts":1790134150000,"vol":"0.26903"}],"ts":1790134150000},"ts":1790134150000}
 *
 * Newest first. `ds` is local time of an unknown zone and is not read. Prints without an id that look alike may both be real (times
 * are often whole seconds), so only those of the first frame after a (re)subscription are compared with what was seen before it.
 */
export function tradeStream({ symbol, count, now, print, gap }: TradeStreamOptions): Listener {
  const isNew = newById();
  let recent: string[] = [];
  /** Prints without an id, seen before the break, that the first frame after it may bring again. */
  let mayRepeat: string[] | undefined = [];

  function isRepeat(trade: Trade, id: string | number | undefined): boolean {
    if (id !== undefined) return !isNew(id);
    const key = `${trade.time} ${trade.price} ${trade.quantity} ${trade.side}`;
    const at = mayRepeat?.indexOf(key) ?? -1;
    // Each remembered print explains one repeat, not all that look alike.
    if (at >= 0) mayRepeat?.splice(at, 1);
    else if (recent.push(key) > 2 * remembered) recent = recent.slice(-remembered);
    return at >= 0;
  }

  return {
    data(tick, ts) {
      const rows = tick['data'];
      if (!Array.isArray(rows)) {
        count('unreadable trades', tick);
        return;
      }
      const seenAt = now();
      const frameTime = timeOf(tick['ts']) ?? timeOf(ts) ?? seenAt;
      const fresh: Trade[] = [];
      let inOrder = true;
      for (let index = rows.length - 1; index >= 0; index--) {
        const row: unknown = rows[index];
        const trade = readPrint(row, symbol, frameTime, seenAt);
        if (trade === undefined) count('unreadable trade', row);
        else if (!isRepeat(trade, printId(row))) {
          inOrder &&= fresh.length === 0 || (fresh[fresh.length - 1] as Trade).time <= trade.time;
          fresh.push(trade);
        }
      }
      if (!inOrder) fresh.sort((a, b) => a.time - b.time);
      for (const trade of fresh) print(trade);
      mayRepeat = undefined;
    },
    hole(hole) {
      mayRepeat = [...recent];
      gap(hole);
    },
  };
}

/** True for an id that is not among the last thousand: two sets that take turns, since dropping the oldest one by one is dear. */
function newById(): (id: string | number) => boolean {
  let older = new Set<string | number>();
  let newer = new Set<string | number>();
  return (id) => {
    if (newer.has(id) || older.has(id)) return false;
    if (newer.size >= remembered) {
      older = newer;
      newer = new Set();
    }
    newer.add(id);
    return true;
  };
}
