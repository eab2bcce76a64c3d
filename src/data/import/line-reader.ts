/** Reads files whose rows are lines of text: JSON objects, and depth of every layout. */
import { jsonOf } from '../../domain/json.ts';
import { cellText, decimalsOf, epochFrom, numberFrom, type Role, textValue } from './csv-reader.ts';
import { type Batch, maxBatchRows, RowReader, SymbolCheck, type UnreadableLines } from './row-reader.ts';

/** Levels of one book at most: a book is never cut in two between batches. */
export const maxLevels = 20_000;

/** Subclasses add the rows of a line with `push`, or of several lines once they are complete. */
export abstract class LineReader extends RowReader {
  readonly #decoder = new TextDecoder();
  #rest = '';

  /** Takes a line; returns why it cannot be read, if it cannot. */
  protected abstract take(line: string): string | undefined;
  /** Adds the rows of lines that waited for more. */
  protected complete(): void {}

  *read(block: Uint8Array): Generator<Batch> {
    const lines = (this.#rest + this.#decoder.decode(block, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      this.unreadable.refuseLong(this.lines + 1, line.length);
      this.#take(line);
      if (this.rows > maxBatchRows - maxLevels) yield this.batch();
    }
    this.unreadable.refuseLong(this.lines + 1, this.#rest.length);
  }

  *end(): Generator<Batch> {
    this.ended = this.#rest === '';
    if (!this.ended) this.#take(this.#rest);
    this.complete();
    if (this.rows > 0) yield this.batch();
  }

  #take(line: string): void {
    this.lines++;
    const text = line.trim();
    const fault = text === '' ? undefined : this.take(text);
    if (fault !== undefined) this.unreadable.note(this.lines, fault);
  }

  protected value(role: Role, text: string, zone: string, to: number): number {
    if (role === 'skip' || role === 'symbol') return 0;
    if (role === 'number') {
      this.decimals[to] = Math.max(this.decimals[to] ?? 0, decimalsOf(text));
      return numberFrom(text);
    }
    return role === 'epoch' ? this.epoch(epochFrom(text)) : textValue(role, text, zone);
  }

  protected push(values: readonly number[], line = this.lines): void {
    for (const [column, value] of values.entries()) (this.columns[column] as Float64Array)[this.rows] = value;
    this.lineOfRow[this.rows] = line;
    this.rows++;
  }
}

export const notJson = 'it is not JSON (the file may be cut off)';

export interface ObjectLayout {
  /** What each key holds, and the column of the batch that it fills. */
  readonly keys: readonly { readonly key: string; readonly role: Role; readonly to: number }[];
  readonly zone: string;
  /** The key that names the symbol. */
  readonly symbolKey?: string | undefined;
}

/** One JSON object a line. */
export class ObjectReader extends LineReader {
  readonly #layout: ObjectLayout;
  readonly #width: number;
  readonly #symbols: SymbolCheck;

  constructor(layout: ObjectLayout, width: number, unreadable: UnreadableLines) {
    super(width, unreadable);
    this.#layout = layout;
    this.#width = width;
    this.#symbols = new SymbolCheck(unreadable.path);
  }

  protected take(line: string): string | undefined {
    const json = jsonOf(line);
    if (json === undefined) return notJson;
    if (typeof json !== 'object' || json === null) return 'it is not a JSON object';
    const { keys, zone, symbolKey } = this.#layout;
    checkSymbol(this.#symbols, json, symbolKey, this.lines);
    const values = new Array<number>(this.#width).fill(0);
    for (const { key, role, to } of keys) {
      const text = cellText(Reflect.get(json, key));
      const value = this.value(role, text, zone, to);
      if (Number.isNaN(value)) return `"${text.slice(0, 40)}" in ${key} has the wrong type`;
      values[to] = value;
    }
    this.push(values);
    return undefined;
  }
}

export function checkSymbol(symbols: SymbolCheck, json: object, key: string | undefined, line: number): void {
  const cell: unknown = key === undefined ? undefined : Reflect.get(json, key);
  if (typeof cell === 'string') symbols.add(cell, line);
}
