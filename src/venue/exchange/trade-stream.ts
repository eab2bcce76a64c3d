/** Public prints from the socket, oldest first, without those that a reconnect brings again. */
import type { Trade } from '../../domain/market.ts';
import type { Count } from './counters.ts';
import { type Fields, isFields, numberOf, textOf, timeOf } from './json.ts';
import { sideOf } from './read-order.ts';
import type { Hole, Listener } from './socket.ts';

export interface TradeStreamOptions {
  readonly symbol: string;
  readonly count: Count;
  readonly now: () => number;
  readonly print: (trade: Trade) => void;
  readonly gap: (hole: Hole) => void;
}

/** So many prints are remembered to know repeats by; a reconnect brings at most the last few dozen again. */
const remembered = 1_000;

/**
 *     {"channel":"market_btcusdt_trade_ticker","tick":{"data":[{"amount":"23311.6","ds":"2026-09-23 11:29:10","id":13652120,
 *      "price":"86650.65","side":"BUY","ts":1790134150000,"vol":"0.26903"}],"ts":1790134150000},"ts":1790134150000}
 *
 * Newest first. `ds` is local time of an unknown zone and is not read. Prints without an id that look alike may both be real (times
 * are often whole seconds), so only those of the first frame after a (re)subscription are compared with what was seen before it.
 */
export function tradeStream({ symbol, count, now, print, gap }: TradeStreamOptions): Listener {
  const ids = new Set<string>();
  let recent: string[] = [];
  let firstFrame = true;

  function read(
    row: unknown,
    frameTime: number,
  ): { readonly trade: Trade; readonly id: string | undefined } | undefined {
    if (!isFields(row)) return undefined;
    const price = numberOf(row['price']);
    const quantity = numberOf(row['vol']);
    const side = sideOf(row['side']);
    if (!(price > 0 && quantity > 0) || !Number.isFinite(price + quantity) || side === undefined) return undefined;
    const time = timeOf(row['ts']) ?? frameTime;
    return { trade: { symbol, time, price, quantity, side, seenAt: now() }, id: textOf(row['id']) };
  }

  function isRepeat(id: string | undefined, key: string, before: string[]): boolean {
    if (id !== undefined) return ids.has(id);
    const at = firstFrame ? before.indexOf(key) : -1;
    // Each remembered print explains one repeat, not all that look alike.
    if (at >= 0) before.splice(at, 1);
    return at >= 0;
  }

  function remember(id: string | undefined, key: string): void {
    if (id === undefined) recent.push(key);
    else ids.add(id);
    if (recent.length > 2 * remembered) recent = recent.slice(-remembered);
    if (ids.size <= remembered) return;
    const [oldest] = ids;
    if (oldest !== undefined) ids.delete(oldest);
  }

  return {
    data(tick: Fields, ts) {
      const rows = tick['data'];
      if (!Array.isArray(rows)) {
        count('unreadable trades', tick);
        return;
      }
      const frameTime = timeOf(tick['ts']) ?? timeOf(ts) ?? now();
      const prints = [];
      for (let index = rows.length - 1; index >= 0; index--) {
        const one = read(rows[index], frameTime);
        if (one === undefined) count('unreadable trade', rows[index]);
        else prints.push(one);
      }
      if (prints.length > 1) prints.sort((a, b) => a.trade.time - b.trade.time);
      const before = firstFrame ? [...recent] : [];
      for (const { trade, id } of prints) {
        const key = id ?? `${trade.time} ${trade.price} ${trade.quantity} ${trade.side}`;
        if (isRepeat(id, key, before)) continue;
        remember(id, key);
        print(trade);
      }
      firstFrame = false;
    },
    hole(hole) {
      firstFrame = true;
      gap(hole);
    },
  };
}
