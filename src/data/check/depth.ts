/** Checks of recorded books as they pass by, one row for each level. */
import { mostPrice, mostTurnover } from '../price-jumps.ts';
import { type CheckName, counted, type Finding, lengthText, quantityEffect, tooMuch } from './finding.ts';
import { Jumps, outlierFinding } from './outliers.ts';
import {
  type Gap,
  gapFindings,
  leastGap,
  leastOldShare,
  oldBookMs,
  shortestGapMs,
  stuckBookMs,
} from './quiet-periods.ts';
import { Tally } from './tally.ts';

const mostSilences = 100_000;

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
  /** The books up to now that repeat the one before, from the first on, and how long they do; the longest of such; and how many were so for too long. */
  #alike = { time: Number.NaN, line: 0, ms: 0, books: 0 };
  #longest = this.#alike;
  #stuckBooks = 0;
  #first = Number.NaN;
  #time = Number.NaN;
  #book = Number.NaN;
  #line = 0;
  #now: number[] = [];
  #before: number[] = [];
  #beforeTime = Number.NaN;

  add([times, books, sides, prices, quantities]: readonly Float64Array[], rows: number, lines?: Uint32Array): void {
    if (
      times === undefined ||
      books === undefined ||
      sides === undefined ||
      prices === undefined ||
      quantities === undefined
    )
      return;
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
    else if (time - this.#time >= shortestGapMs.depth && this.#silences.length < mostSilences)
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
    else this.#endAlike();
    this.#before = this.#now;
    this.#beforeTime = this.#time;
    this.#now = [];
  }

  #noteSides(): void {
    const levels = this.#now;
    const [bids, asks] = [1, -1].map((side) => levels.findIndex((one, at) => at % 3 === 0 && one === side)) as [
      number,
      number,
    ];
    const without = bids < 0 ? 'bids' : asks < 0 ? 'asks' : undefined;
    if (without === undefined) {
      const price = ((levels[bids + 1] as number) + (levels[asks + 1] as number)) / 2;
      this.#jumps.add({ line: this.#line, time: this.#time, price });
    } else this.#oneSided.add(this.#line, this.#time, `no ${without}`);
    const large = levels.findIndex((price, at) => at % 3 === 1 && price * (levels[at + 1] as number) >= mostTurnover);
    if (large >= 0) this.#volumes.add(this.#line, this.#time, `quantity ${levels[large + 1]}`);
  }

  #noteRepeated(): void {
    this.#repeated.add(this.#line, this.#time);
    if (this.#alike.books === 0) this.#alike = { time: this.#time, line: this.#line, ms: 0, books: 0 };
    const step = this.#time - this.#beforeTime;
    // In a long silence nobody knows whether it was the same.
    if (step > 0 && step <= stuckBookMs / 10) this.#alike.ms += step;
    this.#alike.books++;
  }

  #endAlike(): void {
    const { ms, books } = this.#alike;
    if (books === 0) return;
    if (ms >= stuckBookMs) this.#stuckBooks += books;
    if (ms > this.#longest.ms) this.#longest = this.#alike;
    this.#alike = { time: Number.NaN, line: 0, ms: 0, books: 0 };
  }

  get gaps(): readonly Gap[] {
    const least = leastGap('depth', this.#time - this.#first, this.books);
    return this.#silences.filter(([from, to]) => to - from >= least);
  }

  findings(): readonly Finding[] {
    this.#endBook();
    this.#endAlike();
    return [
      ...this.#faults(),
      ...this.#jumps.scaleFinding(false),
      ...gapFindings(this.gaps, 'orders are judged by trades alone inside them'),
      ...this.#oldFinding(),
      ...this.#stuckFinding(),
      ...this.#remarks(),
    ];
  }

  #faults(): readonly Finding[] {
    const fault = (check: CheckName, tally: Tally, what: string, effect: string, repair: string): Finding[] =>
      found(check, tally, true, what, effect, `correct the file, or ${repair}`);
    return [
      ...fault(
        'impossible',
        this.#impossible,
        'that cannot be',
        'orders would fill at prices that nobody offered',
        drop,
      ),
      ...fault(
        'crossed',
        this.#crossed,
        'with a bid above the ask',
        'whoever fills there buys below what it sells at',
        drop,
      ),
      ...fault(
        'disorder',
        this.#disorder,
        'earlier than the one before',
        'a run would see the future',
        'sort it (--repair sort)',
      ),
      ...found(
        'one-sided',
        this.#oneSided,
        this.#oneSided.count === this.books,
        'without bids or without asks',
        noSide,
      ),
    ];
  }

  /** Of the time outside gaps, which are told by themselves. */
  #oldFinding(): readonly Finding[] {
    const inGaps = this.gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    const count = this.#old.count - this.gaps.length;
    const share = (this.#oldMs - inGaps + this.gaps.length * oldBookMs) / (this.#time - this.#first - inGaps);
    if (count === 0 || share < leastOldShare) return [];
    const what = `${(share * 100).toFixed(1)} % of the time without a book of the last ${oldBookMs / 1_000} s (${counted(count, 'hole')})`;
    const effect = 'such books are not believed: orders are judged by trades alone there';
    return [{ check: 'old-books', count, refused: false, what, effect, places: this.#old.places }];
  }

  #stuckFinding(): readonly Finding[] {
    const [count, { time, line, ms }] = [this.#stuckBooks, this.#longest];
    if (count === 0) return [];
    const what = `${counted(count, 'book')} that stay the same for ${lengthText(stuckBookMs)} and more, longest ${lengthText(ms)}`;
    const effect = 'a feed that stood still: orders would fill at prices of before';
    return [{ check: 'stuck', count, refused: false, what, effect, places: [{ ...(line > 0 && { line }), time }] }];
  }

  #remarks(): readonly Finding[] {
    const remark = (check: CheckName, tally: Tally, what: string, effect: string, advice?: string): Finding[] =>
      found(check, tally, false, what, effect, advice);
    const rounded = 'prices rounded by the source: spreads are not what they were';
    const once = 'drop those of the same time (--repair duplicates, with --replace where they are stored)';
    return [
      ...outlierFinding('middle', this.#jumps.outliers),
      ...remark('volumes', this.#volumes, `with a level ${tooMuch}`, quantityEffect),
      ...remark('locked', this.#locked, 'with bid and ask at one price', rounded),
      ...remark(
        'same-time',
        this.#sameTime,
        'of the same time as the one before',
        'they are kept in the order of the file',
      ),
      ...remark(
        'repeated-books',
        this.#repeated,
        `that repeat${this.#repeated.count === 1 ? 's' : ''} the one before`,
        'they say nothing new',
        once,
      ),
    ];
  }
}

const noSide = 'there, orders on one side find nobody to trade with';
const drop = 'drop them (--repair impossible)';

function found(
  check: CheckName,
  { count, places }: Tally,
  refused: boolean,
  what: string,
  effect: string,
  advice?: string,
): Finding[] {
  if (count === 0) return [];
  const said = `${counted(count, 'book')} ${what}`;
  return [{ check, count, refused, what: said, effect, ...(advice !== undefined && { advice }), places }];
}

/** What is wrong with a book of levels (side, price, quantity), bids first, best first; undefined when nothing is. */
export function bookFault(levels: readonly number[]): string | undefined {
  let [bid, ask, last, side] = [0, Number.POSITIVE_INFINITY, 0, 0];
  for (let at = 0; at < levels.length; at += 3) {
    const [on, price, quantity] = [levels[at] as number, levels[at + 1] as number, levels[at + 2] as number];
    if (!(price > 0 && price < mostPrice && quantity > 0)) return `price ${price}, quantity ${quantity}`;
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
