/** Differences of books (Tardis `incremental_book_L2`) put together into whole books, which is what the catalogue stores. */
import type { UnreadableLines } from './batch.ts';
import { numberFrom } from './csv-rows.ts';
import { linesIn } from './lines.ts';

/** Levels of either side that a book keeps: those that orders can meet, and as many as Tardis' own snapshots have. */
export const keptLevels = 25;
/** Time between two books that are stored at the least, ms: each change would be a book of fifty rows. */
export const leastStepMs = 100;
/** Levels of one side that are followed; more are no book, and would fill the memory. */
const mostLevels = 100_000;

interface Level {
  readonly price: number;
  /** As the file spells them. */
  readonly text: readonly [price: string, amount: string];
}

/** One side, best first. */
class Side {
  readonly #sign: 1 | -1;
  levels: Level[] = [];

  /** 1: the highest first, as of bids. */
  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  set(price: number, amount: number, text: Level['text']): void {
    let [from, to] = [0, this.levels.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (((this.levels[middle] as Level).price - price) * this.#sign > 0) from = middle + 1;
      else to = middle;
    }
    const isThere = this.levels[from]?.price === price;
    if (amount === 0) this.levels.splice(from, isThere ? 1 : 0);
    else this.levels.splice(from, isThere ? 1 : 0, { price, text });
    if (this.levels.length > mostLevels) this.levels.pop();
  }

  get best(): readonly Level['text'][] {
    return this.levels.slice(0, keptLevels).map(({ text }) => text);
  }
}

const encoder = new TextEncoder();

/**
 * Lines of JSON, one for each line of the file so that lines stay numbered: a book where one is due, nothing else, or what is wrong.
 * Rows of one `local_timestamp` are one message; a book is due after a message, `leastStepMs` after the one before.
 */
export async function* differencesAsBooks(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<Uint8Array> {
  const builder = new Builder();
  for await (const { texts } of linesIn(blocks, unreadable))
    yield encoder.encode(texts.map((line) => `${builder.next(line)}\n`).join(''));
  const last = builder.book();
  if (last !== '') yield encoder.encode(`${last}\n`);
}

class Builder {
  #columns: Readonly<Record<'time' | 'seen' | 'snapshot' | 'side' | 'price' | 'amount' | 'width', number>> | undefined;
  #bids = new Side(1);
  #asks = new Side(-1);
  #message = '';
  #time = '';
  #isSnapshot = false;
  #begun = false;
  #storedAt = Number.NEGATIVE_INFINITY;

  next(line: string): string {
    const cells = line.trim().split(',');
    if (this.#columns === undefined) {
      const at = (name: string): number => cells.indexOf(name);
      const [time, seen, snapshot] = [at('timestamp'), at('local_timestamp'), at('is_snapshot')];
      this.#columns = {
        time,
        seen,
        snapshot,
        side: at('side'),
        price: at('price'),
        amount: at('amount'),
        width: cells.length,
      };
      return '';
    }
    if (line.trim() === '') return '';
    const { time, seen, snapshot, side, price, amount, width } = this.#columns;
    if (cells.length !== width) return fault(`${cells.length} columns, not ${width}`);
    const message = cells[seen] ?? cells[time] ?? '';
    const due = message === this.#message ? '' : this.book();
    this.#message = message;
    this.#time = cells[time] ?? '';
    return this.#take(cells[snapshot] === 'true', cells[side], [cells[price] ?? '', cells[amount] ?? '']) ?? due;
  }

  /** What is wrong with a row, as a line. */
  #take(isSnapshot: boolean, side: string | undefined, text: Level['text']): string | undefined {
    const [price, amount] = text.map(numberFrom) as [number, number];
    if (!(price > 0 && amount >= 0) || (side !== 'bid' && side !== 'ask'))
      return fault(`"${side ?? ''},${text.join(',')}" is not a level of depth`);
    // A snapshot after differences begins anew: the connection was lost between.
    if (isSnapshot && !this.#isSnapshot) [this.#bids, this.#asks] = [new Side(1), new Side(-1)];
    this.#isSnapshot = isSnapshot;
    this.#begun ||= isSnapshot;
    if (!this.#begun) return fault('a difference before the first snapshot: what it changes is not known');
    (side === 'bid' ? this.#bids : this.#asks).set(price, amount, text);
    return undefined;
  }

  /** The book as it stands, where one is due; nothing otherwise. */
  book(): string {
    const ms = Math.floor(Number(this.#time) / 1_000);
    if (!this.#begun || ms - this.#storedAt < leastStepMs) return '';
    const [b, a] = [this.#bids.best, this.#asks.best];
    if (b.length === 0 || a.length === 0) return '';
    this.#storedAt = ms;
    return JSON.stringify({ t: this.#time, b, a });
  }
}

const fault = (what: string): string => JSON.stringify({ fault: what });
