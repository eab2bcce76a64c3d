/** Rows on their way from a file into columns, a few ten thousand at a time. Readers of CSV, JSON and depth extend `RowReader`. */

import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { momentText } from '../check/finding.ts';
import { symbolOf } from './file-names.ts';
import { epochMs, epochUnit, isWholeMs } from './times.ts';

/** Rows of one batch at most: the memory that reading a file takes. */
export const maxBatchRows = 65_536;
/** Bytes of a line at most: only depth of thousands of levels has lines that long. */
export const longestLine = 2 ** 21;
/** At the thousandth unreadable line reading ends: the file is of another kind. */
const maxUnreadable = 1_000;
/** Unreadable lines that messages name; the rest is a number. */
const maxNamed = 3;

/** Rows as columns in the order of `columnsOf` (catalogue/kinds.ts); valid until the next batch. */
export interface Batch {
  readonly columns: readonly Float64Array[];
  readonly rows: number;
  /** The line of the file that each row stands in, from 1. */
  readonly lines: Uint32Array;
}

export const tooLong = (path: string, line: number): Refusal =>
  new Refusal(
    `${path}, line ${line} is longer than the limit of ${longestLine / 2 ** 20} MiB: write one row or one object a line`,
  );

/** Counts the lines that cannot be read; the first are named. */
export class UnreadableLines {
  count = 0;
  readonly first: { readonly line: number; readonly what: string }[] = [];
  readonly path: string;
  readonly #isDropped: boolean;

  /** `isDropped`: the user asked to drop such lines, however many there are. */
  constructor(path: string, isDropped = false) {
    this.path = path;
    this.#isDropped = isDropped;
  }

  note(line: number, what: string): void {
    this.count++;
    if (this.first.length < maxNamed) this.first.push({ line, what: escapeLine(what) });
    if (this.#isDropped || this.count < maxUnreadable) return;
    const [first] = this.first;
    throw new Refusal(
      `${this.path}: ${counted(this.count, 'line')} of its first ${counted(line, 'line')} cannot be read; import stopped (first: line ${first?.line}: ${first?.what}). Check that it is the right file, correct it, or import it without such lines (--repair unreadable)`,
    );
  }

  refuseLong(line: number, length: number): void {
    if (length > longestLine) throw tooLong(this.path, line);
  }
}

/** Takes the blocks of a file one after another and returns their rows. */
export abstract class RowReader {
  readonly unreadable: UnreadableLines;
  /** The most decimals of each column. */
  readonly decimals: Uint8Array;
  /** Units of the epoch times, in the order they first came. */
  readonly units = new Set<string>();
  /** False when the last line has no end, as in a file that was cut off. Known at the end. */
  ended = true;
  /** Lines read so far. */
  lines = 0;
  protected readonly columns: readonly Float64Array[];
  protected readonly lineOfRow = new Uint32Array(maxBatchRows);
  protected rows = 0;
  readonly #onlyMs: boolean;

  /** `onlyMs`: times in other units are refused. */
  constructor(width: number, unreadable: UnreadableLines, onlyMs = false) {
    this.unreadable = unreadable;
    this.#onlyMs = onlyMs;
    this.decimals = new Uint8Array(width);
    this.columns = Array.from({ length: width }, () => new Float64Array(maxBatchRows));
  }

  abstract read(block: Uint8Array): Iterable<Batch>;
  /** The rows that are left after the last block. */
  abstract end(): Iterable<Batch>;

  /** UTC ms of a time since 1970 in any unit; NaN for others. */
  protected epoch(value: number): number {
    if (this.#onlyMs && !Number.isNaN(value) && !isWholeMs(value)) this.#refuseUnit(value);
    const time = epochMs(value);
    // A cell that holds no time has no unit.
    if (!Number.isNaN(time)) this.units.add(epochUnit(value));
    return time;
  }

  #refuseUnit(time: number): never {
    const { path } = this.unreadable;
    const unit = epochUnit(time);
    const what = !(time >= 1e8) ? 'is before 1973' : unit === 'ms' ? 'has fractions of a ms' : `is in ${unit}`;
    const example = Date.UTC(2024, 0, 1);
    throw new Refusal(
      `${path}, line ${this.lines}: the time ${time} ${what}; files named in a configuration need UTC ms, such as ${example} for ${momentText(example)}. To use this file, import it (sluice data import ${path}) and write catalogue instead of the file name in the configuration`,
    );
  }

  protected batch(): Batch {
    const { columns, rows, lineOfRow: lines } = this;
    this.rows = 0;
    return { columns, rows, lines };
  }
}

/** A file that is being read; its counts are final after the last batch. */
export interface Reading extends Pick<RowReader, 'unreadable' | 'decimals' | 'units' | 'ended' | 'lines'> {
  readonly batches: AsyncGenerator<Batch>;
  /** Assumptions that are known only now, as of Parquet. */
  readonly notes?: readonly string[];
  readonly isLocal?: boolean;
}

export const readingOf = (blocks: AsyncIterable<Uint8Array>, reader: RowReader): Reading =>
  Object.assign(reader, { batches: batchesOf(blocks, reader) });

async function* batchesOf(blocks: AsyncIterable<Uint8Array>, reader: RowReader): AsyncGenerator<Batch> {
  for await (const block of blocks) yield* reader.read(block);
  yield* reader.end();
}

/** Checks that all rows have the same symbol: a series with two markets would mix their prices. */
export class SymbolCheck {
  readonly #path: string;
  #cell = '';
  #symbol = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws a `Refusal` at another symbol than before. Returns false for a cell that names none. */
  add(cell: string, line: number): boolean {
    if (cell === this.#cell) return cell !== '';
    const symbol = symbolOf(cell);
    if (!isSymbol(symbol)) return false;
    if (this.#symbol !== '' && symbol !== this.#symbol)
      throw severalSymbols(this.#path, `${this.#symbol}, and ${symbol} in line ${line}`);
    [this.#cell, this.#symbol] = [cell, symbol];
    return true;
  }
}

/** Empty cells name no symbol, nor do numbers: some files call the quantity `s`. */
const isSymbol = (name: string): boolean => /[A-Z]/.test(name);

/** Throws a `Refusal` when cells name more than one symbol. */
export function refuseSeveralSymbols(path: string, cells: readonly (string | undefined)[]): void {
  const names = [...new Set(cells.map((cell) => symbolOf(cell ?? '')))].filter(isSymbol);
  if (names.length > 1) throw severalSymbols(path, names.slice(0, 2).join(' and '));
}

const severalSymbols = (path: string, which: string): Refusal =>
  new Refusal(
    `${path}: its rows are of several symbols (${escapeLine(which)}), but a series has one: split the file by symbol and import each part`,
  );
