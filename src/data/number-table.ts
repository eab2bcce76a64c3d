/**
 * A fast reader of comma-separated numbers. Every value is exactly what `Number(text)` gives: the fast way is taken only
 * for at most 15 digits with at most 22 decimals, where an integer below 2^53 is divided by an exact power of ten, which
 * rounds once and correctly; any other text goes through `Number`.
 */
import { Decimal } from '../domain/money.ts';
import { escapeLine } from '../domain/printable.ts';
import { Refusal } from '../domain/refusal.ts';
import { type ByteSource, mostRest, mostUnreadable, oneBlock } from './read-bytes.ts';

const comma = 44;
const dot = 46;
const zero = 48;
const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = [0xef, 0xbb, 0xbf];
const mostFastDigits = 15;
const powers = Float64Array.from({ length: mostFastDigits + 1 }, (_, power) => Number(`1e${power}`));
const decimalText = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

export interface NumberColumn {
  readonly name: string;
  /** More decimals than this are refused: nothing traded may be finer than its instrument. */
  readonly mostDecimals?: number;
}

export interface NumberTable {
  readonly columns: readonly Float64Array[];
  /** False when the last line has no end, as in a file that was cut off. */
  readonly ended: boolean;
}

/**
 * Reads a table whose first line is exactly the columns' names. Refuses with the line number at the first line that has
 * another number of columns or a value that is not a number or too fine; `remedy` says what to do about lines that cannot be read.
 */
export function readNumberTable(
  path: string,
  bytes: Uint8Array | ByteSource,
  columns: readonly NumberColumn[],
  remedy = 'correct the file',
): NumberTable {
  const names = columns.map(({ name }) => name).join(',');
  const reader = new NumberReader(path, bytes instanceof Uint8Array ? oneBlock(bytes) : bytes, columns.length);
  reader.header(names);
  const limits = columns.map(({ mostDecimals }) => mostDecimals ?? Number.POSITIVE_INFINITY);
  let out = columns.map(() => new Float64Array(reader.likelyLines()));
  let row = 0;
  try {
    for (; !reader.done; row++) {
      if (row === out[0]?.length) out = out.map(longer);
      for (let column = 0; column < out.length; column++)
        (out[column] as Float64Array)[row] = reader.next(limits[column] as number, column);
      reader.endLine();
    }
  } catch (error) {
    throw error instanceof Unreadable ? withCount(error, remedy, reader, columns.length, row) : error;
  }
  return { columns: out.map((column) => column.subarray(0, row)), ended: reader.hasEnd };
}

/** A line that is no row of numbers. */
class Unreadable extends Refusal {}

/** The first fault, with how many lines are like it. */
function withCount(first: Unreadable, remedy: string, reader: NumberReader, width: number, rows: number): Refusal {
  let [count, lines] = [1, rows + 1];
  reader.skipLine();
  for (; !reader.done && count <= mostUnreadable; lines++)
    try {
      for (let column = 0; column < width; column++) reader.next(Number.POSITIVE_INFINITY, column);
      reader.endLine();
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      count++;
      reader.skipLine();
    }
  const cannot = count === 1 ? 'line cannot be read' : 'lines cannot be read';
  const many = count > mostUnreadable ? `more than ${mostUnreadable} ${cannot}` : `${count} ${cannot}, of ${lines}`;
  return new Refusal(`${first.message} (${many}): ${remedy}`);
}

function longer(column: Float64Array): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(Math.ceil(column.length * 1.25) + 16);
  grown.set(column);
  return grown;
}

const isSeparator = (byte: number): boolean => byte === comma || byte === lineFeed || byte === carriageReturn;

class NumberReader {
  readonly #path: string;
  readonly #source: ByteSource;
  readonly #width: number;
  #bytes: Uint8Array;
  /** All bytes of the source are in `#bytes` or behind. */
  #isLast = false;
  #at = 0;
  #line = 1;

  constructor(path: string, source: ByteSource, width: number) {
    this.#path = path;
    this.#source = source;
    this.#width = width;
    this.#bytes = new Uint8Array();
    this.#readOn();
  }

  /** Whether the last line ends, once all are read. */
  get hasEnd(): boolean {
    return this.#bytes.at(-1) === lineFeed;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  header(names: string): void {
    // The mark with which spreadsheets begin a file of UTF-8 is not of the text.
    if (byteOrderMark.every((byte, at) => this.#bytes[at] === byte)) this.#at = byteOrderMark.length;
    const first = this.#lineText().trim();
    if (first !== names) {
      throw this.#refusal(
        `the columns are "${first.slice(0, 80)}", not "${names}": put them in this order under these names, times in UTC ms; sluice data import FILE reads other layouts, and sluice data export writes this one`,
      );
    }
    this.endLine(this.#at + this.#lineText().length);
  }

  /** How many lines are left if they are about as long as the next one. */
  likelyLines(): number {
    return Math.ceil((1.1 * (this.#source.size - this.#at)) / (this.#lineText().length + 1)) + 1;
  }

  /** The next value of this line, which is in this column. */
  next(mostDecimals: number, column: number): number {
    const bytes = this.#bytes;
    const end = bytes.length;
    const from = this.#at;
    let at = from;
    let mantissa = 0;
    for (; at < end; at++) {
      const digit = (bytes[at] as number) - zero;
      if (digit < 0 || digit > 9) break;
      mantissa = mantissa * 10 + digit;
    }
    let digits = at - from;
    let decimals = 0;
    if (at < end && bytes[at] === dot) {
      const point = ++at;
      for (; at < end; at++) {
        const digit = (bytes[at] as number) - zero;
        if (digit < 0 || digit > 9) break;
        mantissa = mantissa * 10 + digit;
      }
      decimals = at - point;
      digits += decimals;
    }
    const fast = digits > 0 && digits <= mostFastDigits && decimals <= mostDecimals;
    if (!fast || at >= end || !isSeparator(bytes[at] as number)) return this.#slowly(from, mostDecimals, column);
    this.#endValue(at, column);
    return mantissa / (powers[decimals] as number);
  }

  /** Steps over the end of a line, or to a given place. */
  endLine(at = this.#at): void {
    this.#at = at;
    if (this.#bytes[this.#at] === carriageReturn) this.#at++;
    if (!this.done && this.#bytes[this.#at] !== lineFeed) throw this.#wrongWidth();
    this.#at++;
    this.#line++;
    if (this.#bytes.length - this.#at < mostRest && !this.#isLast) this.#readOn();
  }

  /** Goes on behind the line that it stands in. */
  skipLine(): void {
    let end = this.#bytes.indexOf(lineFeed, this.#at);
    while (end < 0 && !this.#isLast) {
      this.#at = this.#bytes.length;
      this.#readOn();
      end = this.#bytes.indexOf(lineFeed, this.#at);
    }
    this.#at = end < 0 ? this.#bytes.length : end + 1;
    this.#line++;
    if (this.#bytes.length - this.#at < mostRest && !this.#isLast) this.#readOn();
  }

  /** The next blocks behind what is left of this one, which holds no whole line perhaps. */
  #readOn(): void {
    while (this.#bytes.length - this.#at < mostRest) {
      const next = this.#source.read(this.#bytes.subarray(this.#at));
      this.#isLast = next === undefined;
      if (next === undefined) return;
      this.#bytes = next;
      this.#at = 0;
    }
  }

  #endValue(at: number, column: number): void {
    this.#at = at;
    const more = this.#bytes[at] === comma;
    if (more !== column < this.#width - 1) throw this.#wrongWidth();
    if (more) this.#at++;
  }

  #slowly(from: number, mostDecimals: number, column: number): number {
    let to = from;
    const end = Math.min(this.#bytes.length, from + mostRest);
    while (to < end && !isSeparator(this.#bytes[to] as number)) to++;
    if (to - from === mostRest || (to === this.#bytes.length && !this.#isLast)) throw this.#tooLong();
    this.#endValue(to, column);
    const text = new TextDecoder().decode(this.#bytes.subarray(from, to));
    if (!decimalText.test(text))
      throw this.#unreadable(`"${text.slice(0, 40)}" in column ${column + 1} is not a number`);
    if (mostDecimals < Number.POSITIVE_INFINITY && new Decimal(text).decimalPlaces() > mostDecimals) {
      throw this.#refusal(
        `${text} in column ${column + 1} has more than ${mostDecimals} decimals: set the instrument's pricePrecision to what the data have`,
      );
    }
    return Number(text);
  }

  /** The line from here on, as far as a line goes. */
  #lineText(): string {
    const most = this.#bytes.subarray(this.#at, this.#at + mostRest);
    const end = most.indexOf(lineFeed);
    return new TextDecoder().decode(end < 0 ? most : most.subarray(0, end));
  }

  #tooLong(): Unreadable {
    return this.#unreadable(`longer than ${mostRest} bytes: this is not a table of numbers`);
  }

  #wrongWidth(): Unreadable {
    const start = this.#at === 0 ? 0 : this.#bytes.lastIndexOf(lineFeed, this.#at - 1) + 1;
    this.#at = start;
    const line = this.#lineText();
    if (line.length === mostRest) return this.#tooLong();
    const text = line.trim();
    const cut = this.#bytes.indexOf(lineFeed, start) < 0 ? ' (the last line: the file may be cut off)' : '';
    const columns = text === '' ? 0 : text.split(',').length;
    const comma =
      columns > this.#width && /^[\d,\s]*$/.test(text)
        ? ' (commas as decimals? sluice data import FILE reads such files where ; stands between columns)'
        : '';
    return this.#unreadable(`${columns} columns, not ${this.#width}${cut}${comma}: "${text.slice(0, 80)}"`);
  }

  #refusal(what: string): Refusal {
    return new Refusal(this.#inLine(what));
  }

  #unreadable(what: string): Unreadable {
    return new Unreadable(this.#inLine(what));
  }

  #inLine(what: string): string {
    return `${this.#path}, line ${this.#line}: ${escapeLine(what)}`;
  }
}
