/** The newest trades of a symbol that were booked, and what each said then: how far its trades have been read. */
import type { VenueTrade } from '../domain/order.ts';

/** Trade ids read again at each look: a trade may become visible after a younger one. */
const overlap = 50;

export class Recent {
  /** Oldest first. */
  readonly #ids: string[];
  /** What each of their sides said when it was booked; undefined where an earlier run did. */
  readonly #said: Map<string, VenueTrade | undefined>;
  /** The rows that were booked last: a simulated venue lists the same objects again, and need not be read to be known. */
  readonly #rows: VenueTrade[] = [];

  constructor(ids: readonly string[] = []) {
    this.#ids = [...ids];
    this.#said = new Map(ids.map((id) => [id, undefined]));
  }

  /** Ids, oldest first. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** Of rows that were read again those that are not booked, and changed ones; oldest first. */
  news(rows: readonly VenueTrade[]): readonly VenueTrade[] {
    let same = 0;
    while (same < rows.length && rows[same] === this.#rows[same]) same++;
    return sorted(rows.slice(same).filter((trade) => !this.#isKnown(trade)));
  }

  /** A row that was booked and says the same as then. */
  #isKnown(trade: VenueTrade): boolean {
    const key = keyOf(trade);
    const then = this.#said.get(key);
    if (then !== undefined) return isSame(then, trade);
    if (!this.#said.has(key)) return false;
    this.#said.set(key, trade);
    return true;
  }

  /** Trades that were booked, oldest first, become known; the oldest known are forgotten. */
  add(trades: readonly VenueTrade[]): void {
    const newest = this.#ids.at(-1);
    for (const trade of trades) {
      const key = keyOf(trade);
      if (!this.#said.has(trade.tradeId)) {
        this.#ids.push(trade.tradeId);
        if (key !== trade.tradeId) this.#said.set(trade.tradeId, undefined);
      }
      this.#said.set(key, trade);
      this.#rows.push(trade);
    }
    if (newest !== undefined && compareIds(trades[0]?.tradeId ?? '', newest) < 0) this.#ids.sort(compareIds);
    while (this.#ids.length > overlap) this.#forget(this.#ids.shift() ?? '');
    while (this.#rows.length > overlap) this.#rows.shift();
  }

  #forget(id: string): void {
    this.#said.delete(id);
    // Sides of trades with ourselves are rare: mostly there is one key for each id.
    if (this.#said.size > this.#ids.length) for (const side of ['BUY', 'SELL']) this.#said.delete(`${id} ${side}`);
  }
}

/** Of a trade with ourselves each side can have a row of its own. */
export const keyOf = ({ tradeId, orderIds, side }: VenueTrade): string =>
  orderIds.length > 1 ? `${tradeId} ${side}` : tradeId;

/** Whether two rows of one trade say the same. */
export const isSame = (a: VenueTrade, b: VenueTrade): boolean =>
  a === b ||
  (a.side === b.side &&
    a.price === b.price &&
    a.quantity === b.quantity &&
    a.fee === b.fee &&
    a.feeAsset === b.feeAsset &&
    a.orderIds.join() === b.orderIds.join());

/** Ids are decimal digits of any length: the longer one is the younger one. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

export const sorted = (trades: readonly VenueTrade[]): readonly VenueTrade[] =>
  trades.length < 2 ? trades : trades.toSorted((a, b) => compareIds(a.tradeId, b.tradeId));

export const newestOf = (trades: readonly VenueTrade[]): string | undefined =>
  trades.reduce<string | undefined>(
    (newest, { tradeId }) => (newest === undefined || compareIds(tradeId, newest) > 0 ? tradeId : newest),
    undefined,
  );
