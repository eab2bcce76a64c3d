/** Rows on their way from a file into the catalogue, a few ten thousand at a time. */
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../check/finding.ts';
import { longestLine, mostUnreadable, tooLong } from '../read-bytes.ts';

/** Rows of one batch at most; what a pass over a file holds of it. */
export const mostBatchRows = 65_536;

/** Rows as columns in the order of `columnsOf` (catalogue/kinds.ts); valid until the next batch is asked for. */
export interface Batch {
  readonly columns: readonly Float64Array[];
  readonly rows: number;
  /** The line of the file that each row stands in, from 1. */
  readonly lines: Uint32Array;
}

/** Faults of one kind that are named one by one; the rest is a number. */
const mostNamed = 3;

/** Lines that could not be read, counted; the first are named. */
export class UnreadableLines {
  count = 0;
  readonly first: { readonly line: number; readonly what: string }[] = [];
  readonly #path: string;
  readonly #isLeftOut: boolean;

  /** `isLeftOut`: the user asked to leave such lines out, however many they are. */
  constructor(path: string, isLeftOut = false) {
    this.#path = path;
    this.#isLeftOut = isLeftOut;
  }

  /** A `Refusal` at the last one that is counted: the rest of such a file is not read. */
  note(line: number, what: string): void {
    this.count++;
    if (this.first.length < mostNamed) this.first.push({ line, what: escapeLine(what) });
    if (this.#isLeftOut || this.count < mostUnreadable) return;
    const [first] = this.first;
    throw new Refusal(
      `${this.#path}: not imported: ${counted(this.count, 'line')} of its first ${counted(line, 'line')} cannot be read; stopped (first: line ${first?.line}: ${first?.what}). Check that it is the right file, correct it, or skip such lines (--repair unreadable)`,
    );
  }

  /** A `Refusal` where a line, as far as it is read, is too long. */
  refuseLong(line: number, length: number): void {
    if (length > longestLine) throw tooLong(this.#path, line);
  }
}

/** What there is to say of a file's rows once they have all been read. */
export interface Reading {
  readonly batches: AsyncGenerator<Batch>;
  readonly unreadable: UnreadableLines;
  /** The most decimals seen in each column. */
  readonly decimals: Uint8Array;
  /** Units of epoch times that were met, in the order they first came. */
  readonly units: Set<string>;
  /** False when the last line has no end, as in a file that was cut off. Known at the end. */
  ended: boolean;
  lines: number;
  /** What a layout says of text, and of Parquet is known only now. */
  readonly notes?: readonly string[];
  readonly isLocal?: boolean;
}

/** Looks at rows of JSON as they come. */
export type Look = (row: unknown, line: number) => void;
