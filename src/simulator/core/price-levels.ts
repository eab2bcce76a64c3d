/**
 * The prices of one side of a book that have orders, sorted. A price is known by its rank, a number that is higher for better, and each has
 * a slot: a small number under which others keep what belongs to it. Everything is in arrays of plain numbers, because an object
 * for each price would be copied and traced by the garbage collector, which then costs more than the search.
 */
import { none, reaching, Slots } from './slots.ts';

/** Prices in one block; a full one is split, so that no insertion moves more than this many. */
const blockSize = 64;

/** Neighbouring prices, the best one last. */
interface Block {
  readonly ranks: Float64Array;
  readonly slots: Int32Array;
  count: number;
}

const newBlock = (): Block => ({ ranks: new Float64Array(blockSize), slots: new Int32Array(blockSize), count: 0 });

export class PriceLevels {
  /** None of them empty but the first, the best prices last, so that they come and go without moving the others. */
  readonly #blocks: Block[] = [newBlock()];
  /** The best rank of each block by itself, so that a search touches little memory. */
  #bests = new Float64Array(16);
  readonly #slots = new Slots();
  /** By slot. */
  #ranks = new Float64Array(64);

  /** Slot of the best price, or `none`. */
  best(): number {
    const { slots, count } = this.#block(this.#blocks.length - 1);
    return count === 0 ? none : (slots[count - 1] as number);
  }

  /** Every slot, the best price first; no price may come or go meanwhile. */
  *all(): Generator<number> {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const { slots, count } = this.#block(at);
      for (let index = count - 1; index >= 0; index--) yield slots[index] as number;
    }
  }

  /** The slot of a price; a new one when the price is not there yet. */
  slotOf(rank: number): number {
    const at = this.#blockOf(rank);
    const block = this.#block(at);
    const index = indexIn(block, rank);
    if (index < block.count && block.ranks[index] === rank) return block.slots[index] as number;
    const slot = this.#slots.take();
    this.#ranks = reaching(slot, this.#ranks);
    this.#ranks[slot] = rank;
    this.#insert(at, index, rank, slot);
    return slot;
  }

  /** Takes a price out; its slot is free from now on. */
  drop(slot: number): void {
    const rank = this.#ranks[slot] as number;
    const at = this.#blockOf(rank);
    const block = this.#block(at);
    const { ranks, slots } = block;
    block.count--;
    for (let index = indexIn(block, rank); index < block.count; index++) {
      ranks[index] = ranks[index + 1] as number;
      slots[index] = slots[index + 1] as number;
    }
    this.#slots.free(slot);
    if (block.count > 0) this.#bests[at] = ranks[block.count - 1] as number;
    else if (this.#blocks.length > 1) {
      this.#blocks.splice(at, 1);
      this.#bests.copyWithin(at, at + 1);
    }
  }

  #block(at: number): Block {
    return this.#blocks[at] as Block;
  }

  #insert(at: number, index: number, rank: number, slot: number): void {
    const block = this.#block(at);
    const { ranks, slots } = block;
    for (let to = block.count; to > index; to--) {
      ranks[to] = ranks[to - 1] as number;
      slots[to] = slots[to - 1] as number;
    }
    ranks[index] = rank;
    slots[index] = slot;
    block.count++;
    if (block.count === blockSize) this.#split(at);
    else this.#bests[at] = ranks[block.count - 1] as number;
  }

  /** Moves the better half of a full block into one of its own. */
  #split(at: number): void {
    const worse = this.#block(at);
    const half = blockSize / 2;
    const better = newBlock();
    better.ranks.set(worse.ranks.subarray(half));
    better.slots.set(worse.slots.subarray(half));
    better.count = half;
    worse.count = half;
    this.#blocks.splice(at + 1, 0, better);
    this.#bests = reaching(this.#blocks.length, this.#bests);
    this.#bests.copyWithin(at + 2, at + 1);
    this.#bests[at] = worse.ranks[half - 1] as number;
    this.#bests[at + 1] = better.ranks[half - 1] as number;
  }

  /** Index of the block in which a rank stands or would stand: the first whose best is not worse, else the last. */
  #blockOf(rank: number): number {
    const bests = this.#bests;
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bests[middle] as number) < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where a rank stands in a block, or would stand. */
function indexIn({ ranks, count }: Block, rank: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranks[middle] as number) < rank) low = middle + 1;
    else high = middle;
  }
  return low;
}
