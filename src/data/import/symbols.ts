/** Files whose rows are of several symbols: a series holds one, and prices of two by turns would be taken for one market. */

import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Duck, identifier, parquetFrom } from '../catalogue/duckdb.ts';
import type { Look } from './batch.ts';
import { symbolColumn, symbolOf } from './file-names.ts';
import type { Layout, Told } from './layout.ts';
import type { DataFile } from './unpack.ts';

/** A longer line is none; what it holds is left to the reader of rows. */
const longestLine = 2 ** 20;
/** Different texts of a Parquet column that are looked at. */
const mostTexts = 100;

/** Empty cells name none, and numbers: some call the quantity `s`. */
const isSymbol = (name: string): boolean => /[A-Z]/.test(name);

/** A `Refusal` when cells name more than one symbol. */
export function refuseSeveral(path: string, cells: readonly (string | undefined)[]): void {
  const names = [...new Set(cells.map((cell) => symbolOf(cell ?? '')))].filter(isSymbol);
  if (names.length > 1) throw several(path, names.slice(0, 2).join(' and '));
}

const several = (path: string, which: string): Refusal =>
  new Refusal(
    `${path}: its rows are of several symbols (${escapeLine(which)}), and a series holds those of one: cut the file up by symbol, and import each part`,
  );

/** Throws a `Refusal` at a row that names another symbol than those before it. */
export function lookAt(path: string, { symbolKey }: Layout): Look {
  const take = oneSymbol(path);
  return (row, line) => {
    if (symbolKey === undefined || typeof row !== 'object' || row === null) return;
    const cell: unknown = Reflect.get(row, symbolKey);
    if (typeof cell === 'string') take(cell, line);
  };
}

/** Takes what names the symbols of rows; whether it names one. A `Refusal` where that is another one than before. */
function oneSymbol(path: string): (cell: string, line: number) => boolean {
  let known = '';
  let before = '';
  return (cell, line) => {
    if (cell === known) return cell !== '';
    const name = symbolOf(cell);
    if (!isSymbol(name)) return false;
    if (before !== '' && name !== before) throw several(path, `${before}, and ${name} in line ${line}`);
    [known, before] = [cell, name];
    return true;
  };
}

/** The file, which throws a `Refusal` while it is read where a row names another symbol than those before it. */
export function ofOneSymbol(file: DataFile, { symbols }: Layout): DataFile {
  return symbols === undefined ? file : { ...file, blocks: watched(file, symbols) };
}

async function* watched(
  { path, blocks }: DataFile,
  symbols: NonNullable<Layout['symbols']>,
): AsyncGenerator<Uint8Array> {
  const watch = new Watch(path, symbols);
  let rest = Buffer.alloc(0);
  for await (const block of blocks) {
    if (rest.length <= longestLine) {
      const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
      let from = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        watch.look(bytes, from, end);
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
    }
    yield block;
  }
  if (rest.length <= longestLine) watch.look(rest, 0, rest.length);
}

/** Looks at the cells of a column, line by line: nothing is copied where a row has the bytes of the row before, as nearly all have. */
class Watch {
  readonly #one: ReturnType<typeof oneSymbol>;
  readonly #symbols: NonNullable<Layout['symbols']>;
  readonly #mark: number;
  #line = 0;
  #known: Uint8Array = new Uint8Array(0);

  constructor(path: string, symbols: NonNullable<Layout['symbols']>) {
    this.#one = oneSymbol(path);
    this.#symbols = symbols;
    this.#mark = symbols.separator.charCodeAt(0);
  }

  look(bytes: Uint8Array, from: number, end: number): void {
    const { at, width, skipLines } = this.#symbols;
    if (++this.#line <= skipLines) return;
    let [column, start, place, quoted] = [0, from, from, false];
    for (; place < end; place++) {
      if (bytes[place] === 0x22 && bytes[start] === 0x22) quoted = !quoted;
      if (bytes[place] !== this.#mark || quoted) continue;
      if (column === at) break;
      column++;
      start = place + 1;
    }
    // A line that is cut off within this cell names another symbol, and is no row.
    const isWhole = column === at && (at < width - 1 ? place < end : at > 0);
    if (isWhole && !this.#isKnown(bytes, start, place) && this.#isRow(bytes.subarray(from, end)))
      this.#take(bytes.slice(start, place));
  }

  /** Of files put together the header comes again: that it is no row is for the reader to say. */
  #isRow(line: Uint8Array): boolean {
    const cells = new TextDecoder().decode(line).split(this.#symbols.separator);
    return cells.some((cell) => /^\s*"?[-+]?\d/.test(cell));
  }

  #isKnown(bytes: Uint8Array, start: number, end: number): boolean {
    const known = this.#known;
    if (end - start !== known.length) return false;
    for (let index = 0; index < known.length; index++) if (bytes[start + index] !== known[index]) return false;
    return true;
  }

  #take(cell: Uint8Array): void {
    if (this.#one(new TextDecoder().decode(cell), this.#line)) this.#known = cell;
  }
}

/** A `Refusal` when a Parquet file of these columns has one of symbols that names more than one. */
export async function refuseSeveralIn(
  { connection }: Duck,
  path: string,
  names: readonly string[],
  { columns }: Told,
): Promise<void> {
  const name = names[symbolColumn(names, columns)];
  if (name === undefined) return;
  const column = `CAST(${identifier(name)} AS VARCHAR)`;
  const texts = await connection.runAndReadAll(
    `SELECT DISTINCT ${column} FROM ${parquetFrom(path)} LIMIT ${mostTexts}`,
  );
  refuseSeveral(
    path,
    texts.getRows().map(([text]) => (text === null ? undefined : String(text))),
  );
}
