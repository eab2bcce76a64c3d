/**
 * The users' resting orders of one symbol, by price, then by time. Finding a price costs log of the number of prices; joining
 * and leaving a price that is there costs nothing that grows.
 */
import type { Side } from '../../domain/market.ts';
import { type Lots, minus, noLots, plus, priceNumber, type Ticks } from '../../domain/money.ts';
import { type Place, type PriceLevel, remaining, type SimOrder } from './order.ts';

/** The orders of a level, the oldest first; the one just given may leave meanwhile. */
export function* ordersOf(level: PriceLevel): Generator<SimOrder> {
  for (let place = level.oldest; place !== undefined; ) {
    const { order, newer } = place;
    yield order;
    place = newer;
  }
}

/** Prices in one block; a fuller one is split, so that no insertion moves more than this many. */
const blockSize = 512;

/** Neighbouring levels, the best one last, and their ranks by themselves, so that a search touches little memory. */
interface Block {
  readonly ranks: number[];
  readonly levels: PriceLevel[];
}

/** Reads a price as its whole steps. */
const inSteps = { pricePrecision: 0, quantityPrecision: 0 };

class BookSide {
  /** None of them empty, the best price last, so that it comes and goes without moving the others. */
  readonly #blocks: Block[] = [];
  readonly #sign: 1 | -1;

  constructor(side: Side) {
    this.#sign = side === 'BUY' ? 1 : -1;
  }

  add(order: SimOrder): void {
    const level = this.#levelOf(order.price);
    const place: Place = { order, level, older: level.newest, newer: undefined };
    if (level.newest === undefined) level.oldest = place;
    else level.newest.newer = place;
    level.newest = place;
    level.quantity = plus(level.quantity, remaining(order));
    order.place = place;
  }

  /** Takes a fill of a resting order off its level, and the order itself once it wants nothing more. */
  reduce(order: SimOrder, quantity: Lots): void {
    const { place } = order;
    if (place === undefined) return;
    place.level.quantity = minus(place.level.quantity, quantity);
    if (remaining(order) === 0n) this.#drop(place);
  }

  remove(order: SimOrder): void {
    const { place } = order;
    if (place === undefined) return;
    place.level.quantity = minus(place.level.quantity, remaining(order));
    this.#drop(place);
  }

  best(): PriceLevel | undefined {
    const levels = this.#blocks[this.#blocks.length - 1]?.levels;
    return levels?.[levels.length - 1];
  }

  /** The best first, without copying; the side must not change meanwhile. */
  *levels(): Generator<PriceLevel> {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const { levels } = this.#blocks[at] as Block;
      for (let index = levels.length - 1; index >= 0; index--) yield levels[index] as PriceLevel;
    }
  }

  #drop(place: Place): void {
    const { order, level, older, newer } = place;
    if (older === undefined) level.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) level.newest = older;
    else newer.older = older;
    order.place = undefined;
    if (level.oldest === undefined) this.#dropLevel(level);
  }

  #dropLevel({ rank }: PriceLevel): void {
    const at = this.#blockOf(rank);
    const { ranks, levels } = this.#blocks[at] as Block;
    const index = indexIn(ranks, rank);
    ranks.splice(index, 1);
    levels.splice(index, 1);
    if (ranks.length === 0) this.#blocks.splice(at, 1);
  }

  /** The level of a price, made when there is none. */
  #levelOf(price: Ticks): PriceLevel {
    const rank = priceNumber(price, inSteps) * this.#sign;
    const at = this.#blockOf(rank);
    const block = this.#blocks[at] ?? { ranks: [], levels: [] };
    const { ranks, levels } = block;
    const index = indexIn(ranks, rank);
    if (ranks[index] === rank) return levels[index] as PriceLevel;
    const level: PriceLevel = { price, rank, oldest: undefined, newest: undefined, quantity: noLots };
    if (ranks.length === 0) this.#blocks.push(block);
    ranks.splice(index, 0, rank);
    levels.splice(index, 0, level);
    if (ranks.length > blockSize) {
      const better = { ranks: ranks.splice(blockSize / 2), levels: levels.splice(blockSize / 2) };
      this.#blocks.splice(at + 1, 0, better);
    }
    return level;
  }

  /** Index of the block in which a rank stands or would stand: the first whose best is not worse, else the last. */
  #blockOf(rank: number): number {
    let low = 0;
    let high = Math.max(0, this.#blocks.length - 1);
    while (low < high) {
      const middle = (low + high) >> 1;
      const { ranks } = this.#blocks[middle] as Block;
      if ((ranks[ranks.length - 1] as number) < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where a rank stands in a block, or would stand. */
function indexIn(ranks: readonly number[], rank: number): number {
  let low = 0;
  let high = ranks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranks[middle] as number) < rank) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class OrderBook {
  readonly #bids = new BookSide('BUY');
  readonly #asks = new BookSide('SELL');

  side(side: Side): BookSide {
    return side === 'BUY' ? this.#bids : this.#asks;
  }

  /** The levels of a side, the best first, without copying. */
  levels(side: Side): Generator<PriceLevel> {
    return this.side(side).levels();
  }

  isEmpty(side: Side): boolean {
    return this.side(side).best() === undefined;
  }
}
