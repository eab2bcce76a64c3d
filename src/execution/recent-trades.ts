/** The newest booked trades of a symbol, with their contents: how far its trades have been read. */
import type { VenueTrade } from '../domain/order.ts';

/** Trade ids read again by each sweep: a trade may become visible after a younger one. */
const overlap = 50;

export class RecentTrades {
  /** Oldest first. */
  readonly #ids: string[];
  /** Each side's content when it was booked; undefined if an earlier run booked it. */
  readonly #booked: Map<string, VenueTrade | undefined>;
  /** The rows booked last: a simulated venue lists the same objects again, which saves comparing their fields. */
  readonly #rows: VenueTrade[] = [];

  constructor(ids: readonly string[] = []) {
    this.#ids = [...ids];
    this.#booked = new Map(ids.map((id) => [id, undefined]));
  }

  /** Ids, oldest first. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The rows that are not booked or have changed, oldest first. */
  news(rows: readonly VenueTrade[]): readonly VenueTrade[] {
    let same = 0;
    while (same < rows.length && rows[same] === this.#rows[same]) same++;
    return sorted(rows.slice(same).filter((trade) => !this.#isKnown(trade)));
  }

  /** True for a booked row with the same content. */
  #isKnown(trade: VenueTrade): boolean {
    const key = keyOf(trade);
    const then = this.#booked.get(key);
    if (then !== undefined) return isSame(then, trade);
    if (!this.#booked.has(key)) return false;
    this.#booked.set(key, trade);
    return true;
  }

  /** Adds booked trades, oldest first; drops the oldest ones. */
  add(trades: readonly VenueTrade[]): void {
    const newest = this.#ids.at(-1);
    for (const trade of trades) {
      const key = keyOf(trade);
      if (!this.#booked.has(trade.tradeId)) {
        this.#ids.push(trade.tradeId);
        if (key !== trade.tradeId) this.#booked.set(trade.tradeId, undefined);
      }
      this.#booked.set(key, trade);
      this.#rows.push(trade);
    }
    if (newest !== undefined && compareIds(trades[0]?.tradeId ?? '', newest) < 0) this.#ids.sort(compareIds);
    while (this.#ids.length > overlap) this.#forget(this.#ids.shift() ?? '');
    while (this.#rows.length > overlap) this.#rows.shift();
  }

  #forget(id: string): void {
    this.#booked.delete(id);
    // Self-trades, whose sides have keys of their own, are rare.
    if (this.#booked.size > this.#ids.length) for (const side of ['BUY', 'SELL']) this.#booked.delete(`${id} ${side}`);
  }
}

/** Each side of a self-trade can have a row of its own. */
export const keyOf = ({ tradeId, orderIds, side }: VenueTrade): string =>
  orderIds.length > 1 ? `${tradeId} ${side}` : tradeId;

/** Whether two rows of one trade have the same content. */
export const isSame = (a: VenueTrade, b: VenueTrade): boolean =>
  a === b ||
  (a.side === b.side &&
    a.price === b.price &&
    a.quantity === b.quantity &&
    a.fee === b.fee &&
    a.feeAsset === b.feeAsset &&
    a.orderIds.join() === b.orderIds.join());

/** Ids are decimal digits of any length: a longer one is younger. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

export const sorted = (trades: readonly VenueTrade[]): readonly VenueTrade[] =>
  trades.length < 2 ? trades : trades.toSorted((a, b) => compareIds(a.tradeId, b.tradeId));

export const newestOf = (trades: readonly VenueTrade[]): string | undefined =>
  trades.reduce<string | undefined>(
    (newest, { tradeId }) => (newest === undefined || compareIds(tradeId, newest) > 0 ? tradeId : newest),
    undefined,
  );
