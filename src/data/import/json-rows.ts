/** Rows of JSON: arrays of values become separated text; objects, one a line, become batches; so do books. */
import { z } from 'zod';
import { counted } from '../check/finding.ts';
import { type Batch, type Look, mostBatchRows, type Reading, type UnreadableLines } from './batch.ts';
import { cellText, decimalsOf, epochFrom, numberFrom, type Role, textValue } from './csv-rows.ts';
import { linesIn } from './lines.ts';
import { epochMs, epochUnit } from './times.ts';

const lineFeed = 10;
const [open, close, comma, quote] = [91, 93, 44, 34];
const [space, carriageReturn, tab] = [32, 13, 9];

/** `[[1,"a"],[2,"b"]]`, in one line or many, as lines of comma-separated cells: freqtrade's files and Binance's answers. */
export async function* arraysAsLines(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let inside = false;
  let quoted = false;
  for await (const block of blocks) {
    const out = new Uint8Array(block.length);
    let length = 0;
    for (const byte of block) {
      if (byte === quote) quoted = !quoted;
      const blank = byte === space || byte === carriageReturn || byte === tab || byte === lineFeed;
      if (quoted || (inside && !blank && byte !== open && byte !== close)) out[length++] = byte;
      else if (byte === open) inside = true;
      else if (byte === close && inside) {
        inside = false;
        out[length++] = lineFeed;
      } else if (byte === comma && inside) out[length++] = byte;
    }
    yield out.subarray(0, length);
  }
}

export interface ObjectLayout {
  /** Key by key, what it holds and which column of the batch it fills. */
  readonly keys: readonly { readonly key: string; readonly role: Role; readonly to: number }[];
  readonly zone: string;
}

/** Reads one JSON object a line. */
export function readObjects(
  blocks: AsyncIterable<Uint8Array>,
  { keys, zone }: ObjectLayout,
  width: number,
  unreadable: UnreadableLines,
  look: Look = () => {},
): Reading {
  const buffer = new BatchBuffer(width, unreadable, look);
  return buffer.reading(blocks, (json) => {
    const row = z.record(z.string(), z.unknown()).safeParse(json);
    if (!row.success) return 'it is not a JSON object';
    const values = new Array<number>(width).fill(0);
    for (const { key, role, to } of keys) {
      const text = cellText(row.data[key]);
      const value = buffer.value(role, text, zone, to);
      if (Number.isNaN(value)) return `"${text.slice(0, 40)}" in ${key} is not what belongs there`;
      values[to] = value;
    }
    buffer.push(values);
    return undefined;
  });
}

const figure = z.union([z.number(), z.string()]);
const level = z.union([z.tuple([figure, figure], figure), z.looseObject({ price: figure, amount: figure })]);
const bookSchema = z.looseObject({
  /** Of our own making: why a line is none. */
  fault: z.string().optional(),
  t: figure.optional(),
  time: figure.optional(),
  time_ms: figure.optional(),
  ts: figure.optional(),
  timestamp: figure.optional(),
  E: figure.optional(),
  b: z.array(level).optional(),
  bids: z.array(level).optional(),
  a: z.array(level).optional(),
  asks: z.array(level).optional(),
});

/** A line of differences between books (`depthUpdate` of Binance, deltas of others): whole books have no levels of quantity 0. */
export function isDifference(json: unknown): boolean {
  const read = bookSchema.safeParse(json);
  if (!read.success) return false;
  const { b = [], bids = b, a = [], asks = a, e } = read.data;
  const isGone = (one: z.infer<typeof level>): boolean =>
    numberFrom(String(Array.isArray(one) ? one[1] : one.amount)) === 0;
  return e === 'depthUpdate' || [...bids, ...asks].some(isGone);
}

/** Reads whole books, one JSON object a line, best first, as one row for each level: time, number of the book, side, price, quantity. */
export function readBooks(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
  look: Look = () => {},
): Reading {
  const buffer = new BatchBuffer(5, unreadable, look);
  let book = 0;
  return buffer.reading(blocks, (json) => {
    const read = bookSchema.safeParse(json);
    if (!read.success) return `it is not a depth snapshot: ${read.error.issues[0]?.message ?? ''}`;
    const { fault, t, time, time_ms, ts, timestamp, E, b, bids = b ?? [], a, asks = a ?? [] } = read.data;
    if (fault !== undefined) return fault;
    const at = buffer.value('epoch', String(t ?? time ?? time_ms ?? ts ?? timestamp ?? E ?? ''), 'UTC', 0);
    if (Number.isNaN(at)) return 'the book has no time (t, time, ts or timestamp)';
    const levels = [...bids.map((one) => [1, one] as const), ...asks.map((one) => [-1, one] as const)];
    if (levels.length === 0) return 'the book is empty';
    if (levels.length > mostLevels) return tooManyLevels(counted(levels.length, 'level'));
    const rows: number[][] = [];
    for (const [side, one] of levels) {
      const [price, quantity] = Array.isArray(one) ? one : [one.price, one.amount];
      const row = [
        at,
        book,
        side,
        buffer.value('number', String(price), '', 3),
        buffer.value('number', String(quantity), '', 4),
      ];
      if (row.some((value) => Number.isNaN(value))) return `a level is not a pair of numbers: ${JSON.stringify(one)}`;
      if (row[4] === 0)
        return `the level at ${price} has the quantity 0, as in differences of books: these are no books`;
      rows.push(row);
    }
    // A book is never cut in two between batches.
    buffer.pushTogether(rows);
    book++;
    return undefined;
  });
}

/** Of one book: it has to fit into a batch. One cut off would be without its other side. */
export const mostLevels = 20_000;
export const tooManyLevels = (has: string): string =>
  `the book has ${has}, and ${counted(mostLevels, 'level')} at most are read: keep the best of each side`;

/** Collects rows into batches, and lines of text into JSON. */
class BatchBuffer {
  readonly #columns: readonly Float64Array[];
  readonly #lines = new Uint32Array(mostBatchRows);
  readonly #decimals: Uint8Array;
  readonly #units = new Set<string>();
  readonly #unreadable: UnreadableLines;
  readonly #look: Look;
  #rows = 0;
  #line = 0;

  constructor(width: number, unreadable: UnreadableLines, look: Look) {
    this.#unreadable = unreadable;
    this.#look = look;
    this.#columns = Array.from({ length: width }, () => new Float64Array(mostBatchRows));
    this.#decimals = new Uint8Array(width);
  }

  value(role: Role, text: string, zone: string, to: number): number {
    if (role === 'skip') return 0;
    if (role === 'number' || role === 'epoch') {
      if (role === 'number') {
        this.#decimals[to] = Math.max(this.#decimals[to] ?? 0, decimalsOf(text));
        return numberFrom(text);
      }
      const value = epochFrom(text);
      const time = epochMs(value);
      if (!Number.isNaN(time)) this.#units.add(epochUnit(value));
      return time;
    }
    return textValue(role, text, zone);
  }

  push(values: readonly number[]): void {
    for (const [column, value] of values.entries()) (this.#columns[column] as Float64Array)[this.#rows] = value;
    this.#lines[this.#rows] = this.#line;
    this.#rows++;
  }

  pushTogether(rows: readonly (readonly number[])[]): void {
    for (const row of rows) this.push(row);
  }

  reading(blocks: AsyncIterable<Uint8Array>, take: (json: unknown) => string | undefined): Reading {
    const result: Omit<Reading, 'batches'> = {
      unreadable: this.#unreadable,
      decimals: this.#decimals,
      units: this.#units,
      ended: true,
      lines: 0,
    };
    return Object.assign(result, { batches: this.#batches(blocks, take, result) });
  }

  async *#batches(
    blocks: AsyncIterable<Uint8Array>,
    take: (json: unknown) => string | undefined,
    result: Omit<Reading, 'batches'>,
  ): AsyncGenerator<Batch> {
    for await (const { texts, ended } of linesIn(blocks, this.#unreadable)) {
      result.ended = ended;
      for (const text of texts) {
        this.#line++;
        if (text.trim() !== '') this.#take(text, take);
        if (this.#rows > mostBatchRows - mostLevels) yield this.#batch();
      }
      result.lines = this.#line;
    }
    if (this.#rows > 0) yield this.#batch();
  }

  #take(text: string, take: (json: unknown) => string | undefined): void {
    const json = parsed(text);
    this.#look(json, this.#line);
    const fault = json === undefined ? 'it is not JSON (a file that was cut off ends like that)' : take(json);
    if (fault !== undefined) this.#unreadable.note(this.#line, fault);
  }

  #batch(): Batch {
    const rows = this.#rows;
    this.#rows = 0;
    return { columns: this.#columns, rows, lines: this.#lines };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
