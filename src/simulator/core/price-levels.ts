/**
 * The prices of one side of a book that have orders, sorted, and the first and last order at each. A price is known by its rank, a
 * number that is higher for better. Everything is in a few arrays of plain numbers, with what is read together side by side: in a large
 * book the time goes into memory that is not in the processor's cache, and objects would be strewn over ten times as much of it.
 */
import { none, reaching, Slots } from './slots.ts';

/** Prices in one block; a full one is split, so that no insertion moves more than this many. */
const blockSize = 32;
const half = blockSize / 2;

export class PriceLevels {
  /** Slots of the blocks, by price, the best one last; none of them empty. The best rank of each by itself, for the search. */
  #blocks = new Int32Array(64);
  #bests = new Float64Array(64);
  #blockCount = 0;
  readonly #slots = new Slots();
  /** By block: how many prices it has. */
  #counts = new Int32Array(64);
  /** Of each block so many places, the best price last: ranks, and pairs of the first and the last order at it. */
  #ranks = new Float64Array(2 * blockSize);
  #ends = new Int32Array(4 * blockSize);

  /** Place of the best price; undefined when there is none. A place holds until the next price comes or goes. */
  best(): number | undefined {
    return this.#blockCount === 0 ? undefined : this.#end(this.#blockCount - 1) - 1;
  }

  /** Every place, the best price first. */
  *all(): Generator<number> {
    for (let at = this.#blockCount - 1; at >= 0; at--) {
      const start = this.#start(at);
      for (let place = this.#end(at) - 1; place >= start; place--) yield place;
    }
  }

  oldest(place: number): number {
    return this.#ends[2 * place] as number;
  }

  newest(place: number): number {
    return this.#ends[2 * place + 1] as number;
  }

  setOldest(place: number, order: number): void {
    this.#ends[2 * place] = order;
  }

  setNewest(place: number, order: number): void {
    this.#ends[2 * place + 1] = order;
  }

  /** The place of a price; where it is new, it has no orders yet. */
  placeOf(rank: number): number {
    if (this.#blockCount === 0) this.#addBlock(0);
    const at = this.#blockOf(rank);
    const place = this.#placeIn(at, rank);
    return place < this.#end(at) && this.#ranks[place] === rank ? place : this.#insert(at, place, rank);
  }

  /** Takes a price out. */
  drop(rank: number): void {
    const at = this.#blockOf(rank);
    const place = this.#placeIn(at, rank);
    const end = this.#end(at);
    const left = end - this.#start(at) - 1;
    this.#move(place + 1, end, place);
    if (left === 0) this.#dropBlock(at);
    else this.#setCount(at, left);
  }

  #start(at: number): number {
    return (this.#blocks[at] as number) * blockSize;
  }

  /** The place behind the last price of a block. */
  #end(at: number): number {
    const block = this.#blocks[at] as number;
    return block * blockSize + (this.#counts[block] as number);
  }

  #setCount(at: number, count: number): void {
    this.#counts[this.#blocks[at] as number] = count;
    this.#bests[at] = this.#ranks[this.#start(at) + count - 1] as number;
  }

  #insert(at: number, place: number, rank: number): number {
    const end = this.#end(at);
    const count = end - this.#start(at);
    if (count === blockSize) {
      this.#split(at);
      return this.placeOf(rank);
    }
    this.#move(place, end, place + 1);
    this.#ranks[place] = rank;
    this.setOldest(place, none);
    this.setNewest(place, none);
    this.#setCount(at, count + 1);
    return place;
  }

  /** Moves the prices of a block from `from` to before `end` by one place, to begin at `to`. */
  #move(from: number, end: number, to: number): void {
    this.#ranks.copyWithin(to, from, end);
    this.#ends.copyWithin(2 * to, 2 * from, 2 * end);
  }

  /** Moves the better half of a full block into one of its own. */
  #split(at: number): void {
    this.#addBlock(at + 1);
    const middle = this.#start(at) + half;
    this.#move(middle, middle + half, this.#start(at + 1));
    this.#setCount(at, half);
    this.#setCount(at + 1, half);
  }

  #addBlock(at: number): void {
    const block = this.#slots.take();
    this.#counts = reaching(block, this.#counts);
    this.#ranks = reaching((block + 1) * blockSize, this.#ranks);
    this.#ends = reaching((block + 1) * 2 * blockSize, this.#ends);
    this.#counts[block] = 0;
    this.#blocks = reaching(this.#blockCount, this.#blocks);
    this.#bests = reaching(this.#blockCount, this.#bests);
    this.#blocks.copyWithin(at + 1, at, this.#blockCount);
    this.#bests.copyWithin(at + 1, at, this.#blockCount);
    this.#blocks[at] = block;
    this.#blockCount++;
  }

  #dropBlock(at: number): void {
    this.#slots.free(this.#blocks[at] as number);
    this.#blocks.copyWithin(at, at + 1, this.#blockCount);
    this.#bests.copyWithin(at, at + 1, this.#blockCount);
    this.#blockCount--;
  }

  /** Index of the block in which a rank stands or would stand: the first whose best is not worse, else the last. */
  #blockOf(rank: number): number {
    const at = firstFrom(this.#bests, 0, this.#blockCount, rank);
    return at < this.#blockCount ? at : at - 1;
  }

  /** Where a rank stands in a block, or would stand. */
  #placeIn(at: number, rank: number): number {
    return firstFrom(this.#ranks, this.#start(at), this.#end(at), rank);
  }
}

/** Index of the first number from `from` to before `end` that is not below `least`; `end` when there is none. */
function firstFrom(numbers: Float64Array, from: number, end: number, least: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
