/**
 * Reads rows of separated text as columns of numbers, block by block. A number is exactly what `Number(text)` gives: the fast way is
 * taken only for at most 15 digits, where an integer below 2^53 is divided by an exact power of ten, which rounds once.
 */
import { Refusal } from '../../domain/refusal.ts';
import { type Batch, maxBatchRows, RowReader, SymbolCheck, type UnreadableLines } from './row-reader.ts';
import { isoMs } from './times.ts';

/** How a column is read: `epoch` and `moment` become UTC ms, `side` and `makerBuys` become 1 for a taker who buys and -1. */
export type Role = 'skip' | 'symbol' | 'number' | 'epoch' | 'moment' | 'side' | 'makerBuys';

export interface CsvColumn {
  readonly role: Role;
  /** The column of the batch that it fills. */
  readonly to: number;
}

export interface CsvLayout {
  readonly columns: readonly CsvColumn[];
  readonly separator: string;
  readonly decimalComma: boolean;
  /** Lines before the first row. */
  readonly skipLines: number;
  /** Of moments that name none. */
  readonly zone: string;
  /** Files that a configuration names: times in other units than ms, and more decimals than this, are refused. */
  readonly strict?: { readonly maxDecimals: readonly number[] };
}

const zero = 48;
const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;
const maxFastDigits = 15;
/** Digits of which any number fits into 31 bits: their arithmetic costs half that of larger ones. */
const maxSmallDigits = 9;
/** Digits of a time in ms since 2001-09-09. */
const msDigits = 13;
const minEpochMs = 1e12;
const powers = Float64Array.from({ length: maxFastDigits + 1 }, (_, power) => Number(`1e${power}`));

const [skip, number, epoch] = [0, 1, 2];
const codes: Readonly<Record<Role, number>> = { skip, symbol: skip, number, epoch, moment: 3, side: 4, makerBuys: 5 };
const expected: Readonly<Record<Role, string>> = {
  skip: '',
  symbol: '',
  number: 'a number',
  epoch: 'a time in s, ms, µs or ns since 1970',
  moment: 'a time such as 2024-08-08T23:54:00Z',
  side: 'buy or sell',
  makerBuys: 'true or false',
};

export class CsvReader extends RowReader {
  readonly #layout: CsvLayout;
  readonly #codes: Uint8Array;
  readonly #to: Uint8Array;
  readonly #separator: number;
  readonly #point: number;
  #linesToSkip: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  /** The line that the last block began. */
  #rest: Uint8Array = new Uint8Array(0);
  #sawMs = false;
  #fault = '';
  readonly #symbols: SymbolCheck;
  /** The column that names the symbol; -1 when none does. */
  readonly #symbolCell: number;
  #symbolFrom = 0;
  #symbolTo = 0;
  #symbol: Uint8Array = new Uint8Array(0);

  constructor(layout: CsvLayout, width: number, unreadable: UnreadableLines) {
    super(width, unreadable, layout.strict !== undefined);
    const { columns, separator, decimalComma, skipLines } = layout;
    this.#layout = layout;
    this.#codes = Uint8Array.from(columns, ({ role }) => codes[role]);
    this.#to = Uint8Array.from(columns, ({ to }) => to);
    this.#separator = separator.charCodeAt(0);
    this.#point = decimalComma ? 44 : 46;
    this.#linesToSkip = skipLines;
    this.#symbols = new SymbolCheck(unreadable.path);
    this.#symbolCell = columns.findIndex(({ role }) => role === 'symbol');
  }

  *read(block: Uint8Array): Generator<Batch> {
    const last = block.lastIndexOf(lineFeed);
    if (last >= 0) {
      // Only the line that two blocks share is copied.
      const first = this.#rest.length === 0 ? 0 : block.indexOf(lineFeed) + 1;
      this.unreadable.refuseLong(this.lines + 1, this.#rest.length + first);
      if (first > 0) yield* this.#rowsOf(joined(this.#rest, block.subarray(0, first)));
      yield* this.#rowsOf(block.subarray(first, last + 1));
      this.#rest = Uint8Array.from(block.subarray(last + 1));
    } else this.#rest = joined(this.#rest, block);
    this.unreadable.refuseLong(this.lines + 1, this.#rest.length);
  }

  *end(): Generator<Batch> {
    this.ended = this.#rest.length === 0;
    if (!this.ended) yield* this.#rowsOf(joined(this.#rest, Uint8Array.of(lineFeed)));
    if (this.rows > 0) yield this.batch();
  }

  *#rowsOf(bytes: Uint8Array): Generator<Batch> {
    // Always a plain Uint8Array: a Buffer now and then makes every access to a byte slower.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = 0;
    while (this.#at < bytes.length) {
      this.#fill();
      if (this.rows === maxBatchRows) yield this.batch();
    }
  }

  #fill(): void {
    const bytes = this.#bytes;
    const end = bytes.length;
    while (this.#at < end && this.rows < maxBatchRows) {
      this.lines++;
      const byte = bytes[this.#at] as number;
      if (this.#linesToSkip > 0 || byte === lineFeed || byte === carriageReturn) {
        if (this.#linesToSkip > 0) this.#linesToSkip--;
        else if (this.#layout.strict !== undefined) this.unreadable.note(this.lines, 'the line is empty');
        this.#at = bytes.indexOf(lineFeed, this.#at) + 1;
      } else if (this.#row()) {
        if (this.#symbolCell >= 0) this.#checkSymbol();
        this.lineOfRow[this.rows] = this.lines;
        this.rows++;
      } else {
        this.unreadable.note(this.lines, this.#fault);
        this.#at = bytes.indexOf(lineFeed, this.#at) + 1;
      }
    }
  }

  /** Reads one row; false when it cannot be read, and then `#at` lies within it. The bytes end with a line's end. */
  #row(): boolean {
    const bytes = this.#bytes;
    const separator = this.#separator;
    const codes = this.#codes;
    const to = this.#to;
    const columns = this.columns;
    const max = this.decimals;
    const point = this.#point;
    const last = codes.length - 1;
    const row = this.rows;
    let at = this.#at;
    for (let cell = 0; cell <= last; cell++) {
      const code = codes[cell] as number;
      const ms = code === epoch && bytes[at + msDigits] === separator ? this.#milliseconds(at) : -1;
      if (ms >= minEpochMs) {
        (columns[to[cell] as number] as Float64Array)[row] = ms;
        at += msDigits;
      } else if (code === skip && bytes[at] !== quote) {
        const from = at;
        while (bytes[at] !== separator && (bytes[at] as number) !== lineFeed) at++;
        if (cell === this.#symbolCell) this.#noteSymbol(from, at);
      } else {
        const from = at;
        // With more than nine digits the mantissa overflows; such numbers are read again below.
        let mantissa = 0;
        let digit = (bytes[at] as number) - zero;
        while (digit >>> 0 <= 9) {
          mantissa = (Math.imul(mantissa, 10) + digit) | 0;
          digit = (bytes[++at] as number) - zero;
        }
        let digits = at - from;
        let decimals = 0;
        if (bytes[at] === point) {
          const first = ++at;
          digit = (bytes[at] as number) - zero;
          while (digit >>> 0 <= 9) {
            mantissa = (Math.imul(mantissa, 10) + digit) | 0;
            digit = (bytes[++at] as number) - zero;
          }
          decimals = at - first;
          digits += decimals;
        }
        const stop = bytes[at] as number;
        const whole = stop === separator || stop === lineFeed || stop === carriageReturn;
        let value = (digits <= maxSmallDigits ? mantissa : this.#mantissa(from, at)) / (powers[decimals] as number);
        if (!whole || digits === 0 || digits > maxFastDigits || code > epoch) {
          at = this.#endOfCell(from);
          value = this.#slowly(cell, from, at);
        } else if (code === epoch) value = this.epoch(value);
        else if (decimals > (max[to[cell] as number] as number)) {
          // Zeros at the end do not count: Binance pads every price to eight decimals.
          let end = at;
          while (decimals > (max[to[cell] as number] as number) && bytes[end - 1] === zero) {
            end--;
            decimals--;
          }
          this.#noteDecimals(cell, from, at, decimals);
        }
        // A cell that is skipped may hold anything.
        if (Number.isNaN(value) && code !== skip) return this.#notExpected(cell, from, at);
        if (code !== skip) (columns[to[cell] as number] as Float64Array)[row] = value;
      }
      if (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at++;
      if ((bytes[at] === separator) !== cell < last) return this.#wrongWidth(at);
      at++;
    }
    this.#at = at;
    return true;
  }

  /** The digits between, as one number, exact for fifteen of them. */
  #mantissa(from: number, to: number): number {
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = (this.#bytes[at] as number) - zero;
      if (digit >>> 0 <= 9) value = value * 10 + digit;
    }
    return value;
  }

  /** Times of thirteen digits, which nearly all are, four digits at a time; -1 when a character is no digit. */
  #milliseconds(from: number): number {
    const view = this.#view;
    const first = view.getInt32(from, true);
    const second = view.getInt32(from + 4, true);
    const third = view.getInt32(from + 8, true);
    const last = (this.#bytes[from + 12] as number) - zero;
    if ((notDigits(first) | notDigits(second) | notDigits(third)) !== 0 || last >>> 0 > 9) return -1;
    if (!this.#sawMs) this.units.add('ms');
    this.#sawMs = true;
    return ofFour(first) * 1e9 + (ofFour(second) * 100_000 + ofFour(third) * 10 + last);
  }

  #noteDecimals(cell: number, from: number, to: number, decimals: number): void {
    const column = this.#to[cell] as number;
    const max = this.#layout.strict?.maxDecimals[column] ?? Number.POSITIVE_INFINITY;
    if (decimals > max)
      throw new Refusal(
        `${this.unreadable.path}, line ${this.lines}: ${this.#text(from, to)} in column ${cell + 1} has more than ${max} decimals: set the instrument's pricePrecision to match the data`,
      );
    if (decimals > (this.decimals[column] as number)) this.decimals[column] = decimals;
  }

  #noteSymbol(from: number, to: number): void {
    this.#symbolFrom = from;
    this.#symbolTo = to;
  }

  /** Nearly all rows have the very bytes of the row before, and then nothing is copied. */
  #checkSymbol(): void {
    const [from, to, known] = [this.#symbolFrom, this.#symbolTo, this.#symbol];
    let index = to - from === known.length ? 0 : -1;
    while (index >= 0 && index < known.length) index = known[index] === this.#bytes[from + index] ? index + 1 : -1;
    if (index < 0 && this.#symbols.add(this.#text(from, to), this.lines)) this.#symbol = this.#bytes.slice(from, to);
  }

  #endOfCell(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    // A doubled quote inside ends a text in quotes and begins it again.
    while (bytes[at] === quote) {
      at++;
      while (bytes[at] !== quote && bytes[at] !== lineFeed) at++;
      if (bytes[at] === quote) at++;
    }
    while (bytes[at] !== this.#separator && bytes[at] !== lineFeed) at++;
    return at > from && bytes[at - 1] === carriageReturn ? at - 1 : at;
  }

  #text(from: number, to: number): string {
    return new TextDecoder()
      .decode(this.#bytes.subarray(from, to))
      .trim()
      .replace(/^"(.*)"$/, '$1');
  }

  #slowly(cell: number, from: number, to: number): number {
    const { role } = this.#layout.columns[cell] as CsvColumn;
    if (role === 'symbol') this.#noteSymbol(from, to);
    if (role === 'skip' || role === 'symbol') return 0;
    const text = this.#text(from, to);
    if (role === 'epoch') return this.epoch(epochFrom(text));
    if (role !== 'number') return textValue(role, text, this.#layout.zone);
    const plain = this.#layout.decimalComma ? text.replace(',', '.') : text;
    const value = numberFrom(plain);
    if (!Number.isNaN(value)) this.#noteDecimals(cell, from, to, decimalsOf(plain));
    return value;
  }

  #notExpected(cell: number, from: number, to: number): false {
    this.#at = from;
    const { role } = this.#layout.columns[cell] as CsvColumn;
    this.#fault = `"${this.#text(from, to).slice(0, 40)}" in column ${cell + 1} is not ${expected[role]}`;
    return false;
  }

  #wrongWidth(at: number): false {
    this.#at = at;
    const bytes = this.#bytes;
    const from = at === 0 ? 0 : bytes.lastIndexOf(lineFeed, at - 1) + 1;
    const text = this.#text(from, bytes.indexOf(lineFeed, at));
    const width = text.split(String.fromCharCode(this.#separator)).length;
    const hint =
      width > this.#codes.length && /^[\d,\s]*$/.test(text)
        ? ' (decimal commas? export it with semicolons between columns, or with decimal points)'
        : '';
    this.#fault = `${width} columns, not ${this.#codes.length}${hint}: "${text.slice(0, 60)}"`;
    return false;
  }
}

/** Zero where four bytes of text are four digits. */
const notDigits = (four: number): number => ((four + 0x46_46_46_46) | (four - 0x30_30_30_30)) & 0x80_80_80_80;

/** The number that four digits are, the first of them in the lowest byte. */
function ofFour(four: number): number {
  const digits = four & 0x0f_0f_0f_0f;
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00_ff_00_ff;
  return (Math.imul(pairs, 100) + (pairs >>> 16)) & 0xff_ff;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const decimalText = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** NaN for what is no decimal number. */
export const numberFrom = (text: string): number => (decimalText.test(text) ? Number(text) : Number.NaN);

const nanoseconds = /^\d{18,}$/;

/** A time since 1970, of ns the whole ms: a double cannot tell finer ones apart. NaN for what is no decimal number. */
export const epochFrom = (text: string): number =>
  numberFrom(nanoseconds.test(text) ? `${text.slice(0, -6)}000000` : text);

/** Decimal places of a number, without zeros at its end; at most 255. */
export function decimalsOf(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const written = mantissa.split('.')[1]?.replace(/0+$/, '').length ?? 0;
  return Math.min(255, Math.max(0, written - Number(exponent)));
}

/** Words for the side of the taker, in lower case. */
export const takerSides: Readonly<Record<string, number>> = { buy: 1, b: 1, bid: 1, sell: -1, s: -1, a: -1, ask: -1 };
/** When the maker buys, the taker sells. */
export const byMaker: Readonly<Record<string, number>> = { true: -1, '1': -1, t: -1, false: 1, '0': 1, f: 1 };

/** The value of a text cell in a batch; NaN when it is not one of the role. */
export function textValue(role: 'moment' | 'side' | 'makerBuys', text: string, zone: string): number {
  if (role === 'moment') return isoMs(text, zone);
  return (role === 'side' ? takerSides : byMaker)[text.toLowerCase()] ?? Number.NaN;
}

/** A value of JSON as a cell; empty for null. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
