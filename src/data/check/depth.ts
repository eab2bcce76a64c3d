/** Checks of recorded books as they pass by, one row for each level. */
import { counted } from '../../domain/words.ts';
import { maxPrice, maxTurnover } from '../price-jumps.ts';
import { depthColumns } from '../tape.ts';
import { type Finding, lengthText, quantityEffect, tooMuch } from './finding.ts';
import { type Gap, gapFindings, minGap, minOldShare, oldBookMs, shortestGapMs, stuckBookMs } from './gaps.ts';
import { Jumps, outlierFinding } from './outliers.ts';
import { Tally } from './tally.ts';

const maxSilences = 100_000;

export class DepthChecks {
  books = 0;
  rows = 0;
  readonly #silences: Gap[] = [];
  readonly #disorder = new Tally();
  readonly #impossible = new Tally();
  readonly #crossed = new Tally();
  readonly #locked = new Tally();
  readonly #oneSided = new Tally();
  readonly #volumes = new Tally();
  readonly #jumps = new Jumps('middle');
  readonly #sameTime = new Tally();
  readonly #repeated = new Tally();
  readonly #old = new Tally();
  #oldMs = 0;
  /** The run of books that repeat the one before: where it began, how long it lasts, and of how many books. */
  #run = { time: Number.NaN, line: 0, ms: 0, books: 0 };
  #longestRun = this.#run;
  /** Books in runs that lasted too long. */
  #stuckBooks = 0;
  #first = Number.NaN;
  #time = Number.NaN;
  #book = Number.NaN;
  #line = 0;
  #now: number[] = [];
  #before: number[] = [];
  #beforeTime = Number.NaN;

  add(columns: readonly Float64Array[], rows: number, lines?: Uint32Array): void {
    const { time: times, book: books, side: sides, price: prices, quantity: quantities } = depthColumns(columns);
    for (let row = 0; row < rows; row++) {
      if (books[row] !== this.#book)
        this.#nextBook(times[row] as number, books[row] as number, lines === undefined ? 0 : (lines[row] as number));
      this.#now.push(sides[row] as number, prices[row] as number, quantities[row] as number);
    }
    this.rows += rows;
  }

  #nextBook(time: number, book: number, line: number): void {
    this.#endBook();
    if (time < this.#time) this.#disorder.add(line, time);
    else if (time === this.#time) this.#sameTime.add(line, time);
    else if (time - this.#time >= shortestGapMs.depth && this.#silences.length < maxSilences)
      this.#silences.push([this.#time, time]);
    if (time - this.#time > oldBookMs) {
      this.#old.add(0, this.#time);
      this.#oldMs += time - this.#time - oldBookMs;
    }
    if (Number.isNaN(this.#first)) this.#first = time;
    this.#time = time;
    this.#book = book;
    this.#line = line;
  }

  #endBook(): void {
    if (this.#now.length === 0) return;
    this.books++;
    const fault = bookFault(this.#now);
    if (fault === 'crossed') this.#crossed.add(this.#line, this.#time);
    else if (fault === 'locked') this.#locked.add(this.#line, this.#time);
    else if (fault !== undefined) this.#impossible.add(this.#line, this.#time, fault);
    this.#noteSides();
    if (this.#now.length === this.#before.length && this.#now.every((value, at) => value === this.#before[at]))
      this.#noteRepeated();
    else this.#endRun();
    this.#before = this.#now;
    this.#beforeTime = this.#time;
    this.#now = [];
  }

  #noteSides(): void {
    const levels = this.#now;
    const firstOf = (side: number): number => levels.findIndex((one, at) => at % 3 === 0 && one === side);
    const [bids, asks] = [firstOf(1), firstOf(-1)];
    if (bids < 0 || asks < 0) this.#oneSided.add(this.#line, this.#time, `no ${bids < 0 ? 'bids' : 'asks'}`);
    else {
      const price = ((levels[bids + 1] as number) + (levels[asks + 1] as number)) / 2;
      this.#jumps.add({ line: this.#line, time: this.#time, price });
    }
    const large = levels.findIndex((price, at) => at % 3 === 1 && price * (levels[at + 1] as number) >= maxTurnover);
    if (large >= 0) this.#volumes.add(this.#line, this.#time, `quantity ${levels[large + 1]}`);
  }

  #noteRepeated(): void {
    this.#repeated.add(this.#line, this.#time);
    if (this.#run.books === 0) this.#run = { time: this.#time, line: this.#line, ms: 0, books: 0 };
    const step = this.#time - this.#beforeTime;
    // Within a long silence the book may have changed and come back.
    if (step > 0 && step <= stuckBookMs / 10) this.#run.ms += step;
    this.#run.books++;
  }

  #endRun(): void {
    const { ms, books } = this.#run;
    if (books === 0) return;
    if (ms >= stuckBookMs) this.#stuckBooks += books;
    if (ms > this.#longestRun.ms) this.#longestRun = this.#run;
    this.#run = { time: Number.NaN, line: 0, ms: 0, books: 0 };
  }

  get gaps(): readonly Gap[] {
    const min = minGap('depth', this.#time - this.#first, this.books);
    return this.#silences.filter(([from, to]) => to - from >= min);
  }

  findings(): readonly Finding[] {
    this.#endBook();
    this.#endRun();
    return [
      ...this.#faults(),
      ...this.#jumps.scaleFinding(false),
      ...gapFindings(this.gaps, 'inside them, orders fill by trades alone'),
      ...this.#oldFinding(),
      ...this.#stuckFinding(),
      ...this.#warnings(),
    ];
  }

  *#faults(): Generator<Finding> {
    const drop = 'correct the file, or drop these rows (--repair impossible)';
    const books = ({ count }: Tally): string => counted(count, 'book');
    yield* this.#impossible.fault(
      'impossible',
      `${books(this.#impossible)} with impossible levels`,
      'orders would fill at prices that did not exist',
      drop,
    );
    yield* this.#crossed.fault(
      'crossed',
      `${books(this.#crossed)} with a bid above the ask`,
      'an order could buy there below the price at which it sells',
      drop,
    );
    yield* this.#disorder.fault(
      'disorder',
      `${books(this.#disorder)} earlier than the one before`,
      'a run would see the future',
      'correct the file, or sort it (--repair sort)',
    );
    const oneSided = this.#oneSided.warning(
      'one-sided',
      `${books(this.#oneSided)} without bids or without asks`,
      'orders on one side do not fill there',
    );
    for (const one of oneSided) yield { ...one, refused: one.count === this.books };
  }

  /** The share of the time outside gaps at which the last book was old. */
  #oldFinding(): readonly Finding[] {
    const inGaps = this.gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    const count = this.#old.count - this.gaps.length;
    const share = (this.#oldMs - inGaps + this.gaps.length * oldBookMs) / (this.#time - this.#first - inGaps);
    if (count === 0 || share < minOldShare) return [];
    const what = `${(share * 100).toFixed(1)} % of the time without a book of the last ${oldBookMs / 1_000} s (${counted(count, 'hole')})`;
    const effect = 'older books are not used: orders fill by trades alone there';
    return [{ check: 'old-books', count, refused: false, what, effect, places: this.#old.places }];
  }

  #stuckFinding(): readonly Finding[] {
    const [count, { time, line, ms }] = [this.#stuckBooks, this.#longestRun];
    if (count === 0) return [];
    const what = `${counted(count, 'book')} unchanged for ${lengthText(stuckBookMs)} or more, longest ${lengthText(ms)}`;
    const effect = 'the feed was stuck: orders would fill at outdated prices';
    return [{ check: 'stuck', count, refused: false, what, effect, places: [{ ...(line > 0 && { line }), time }] }];
  }

  *#warnings(): Generator<Finding> {
    const [volumes, locked, sameTime, repeated] = [this.#volumes, this.#locked, this.#sameTime, this.#repeated];
    yield* outlierFinding('middle', this.#jumps.outliers);
    yield* volumes.warning('volumes', `${counted(volumes.count, 'book')} with a level ${tooMuch}`, quantityEffect);
    yield* locked.warning(
      'locked',
      `${counted(locked.count, 'book')} with bid and ask at one price`,
      'the source rounded prices: spreads are wrong',
    );
    yield* sameTime.warning(
      'same-time',
      `${counted(sameTime.count, 'book')} of the same time as the one before`,
      'kept in the order of the file',
    );
    yield* repeated.warning(
      'repeated-books',
      counted(repeated.count, 'book that repeats the one before', 'books that repeat the one before'),
      'no effect',
      'drop those of the same time (--repair duplicates; add --replace if they are stored)',
    );
  }
}

/** The fault of a book of levels (side, price, quantity), bids first, best first. */
export function bookFault(levels: readonly number[]): string | undefined {
  let [bid, ask, last, side] = [0, Number.POSITIVE_INFINITY, 0, 0];
  for (let at = 0; at < levels.length; at += 3) {
    const [on, price, quantity] = [levels[at] as number, levels[at + 1] as number, levels[at + 2] as number];
    if (!(price > 0 && price < maxPrice && quantity > 0)) return `price ${price}, quantity ${quantity}`;
    if (on > 0 && side < 0) return 'asks before bids';
    if (on !== side) {
      if (on > 0) bid = price;
      else ask = price;
    } else if (on > 0 ? price >= last : price <= last) return 'levels are not sorted best first';
    side = on;
    last = price;
  }
  if (bid > ask) return 'crossed';
  return bid === ask ? 'locked' : undefined;
}
