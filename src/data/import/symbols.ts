/** Files whose rows are of several symbols: a series holds one, and prices of two by turns would be taken for one market. */
import { Refusal } from '../../domain/refusal.ts';
import { type Duck, quoted } from '../catalogue/duckdb.ts';
import { shown } from '../shown.ts';
import type { Layout } from './layout.ts';
import { columnNamed, symbolOf } from './names.ts';
import type { DataFile } from './unpack.ts';

/** A longer line is none; what it holds is left to the reader of rows. */
const longestLine = 2 ** 20;
/** Different texts of a Parquet column that are looked at. */
const mostTexts = 100;

/** A `Refusal` when cells name more than one symbol. Empty ones name none. */
export function refuseSeveral(path: string, cells: readonly (string | undefined)[]): void {
  const names = [...new Set(cells.map((cell) => symbolOf(cell ?? '')))].filter((name) => name !== '');
  if (names.length > 1) throw several(path, names.slice(0, 2).join(' and '));
}

const several = (path: string, which: string): Refusal =>
  new Refusal(
    `${path}: its rows are of several symbols (${shown(which)}), and a series holds those of one: cut the file up by symbol, and import each part`,
  );

/** The file, which throws a `Refusal` while it is read where a row names another symbol than those before it. */
export function ofOneSymbol(file: DataFile, { symbols }: Layout): DataFile {
  return symbols === undefined ? file : { ...file, blocks: watched(file, symbols) };
}

async function* watched(
  { path, blocks }: DataFile,
  { at, separator, skipLines }: NonNullable<Layout['symbols']>,
): AsyncGenerator<Uint8Array> {
  const mark = separator.charCodeAt(0);
  let rest = Buffer.alloc(0);
  let [line, known] = [0, Buffer.alloc(0)];
  /** Most rows have the bytes of the row before. */
  const look = (bytes: Buffer): void => {
    const cell = ++line > skipLines ? cellOf(bytes, at, mark) : undefined;
    if (cell === undefined || cell.equals(known)) return;
    const [name, before] = [symbolOf(cell.toString()), symbolOf(known.toString())];
    if (name === '') return;
    if (before !== '' && name !== before) throw several(path, `${before}, and ${name} in line ${line}`);
    known = Buffer.from(cell);
  };
  for await (const block of blocks) {
    if (rest.length <= longestLine) {
      const bytes = Buffer.concat([rest, block]);
      let from = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        look(bytes.subarray(from, end));
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
    }
    yield block;
  }
  if (rest.length <= longestLine) look(rest);
}

/** The bytes of a cell; undefined where the line has none behind which another could come. */
function cellOf(line: Buffer, at: number, mark: number): Buffer | undefined {
  let [column, from, quoted] = [0, 0, false];
  for (let place = 0; place < line.length; place++) {
    if (line[place] === 0x22 && line[from] === 0x22) quoted = !quoted;
    if (line[place] !== mark || quoted) continue;
    if (column === at) return line.subarray(from, place);
    column++;
    from = place + 1;
  }
  return column === at && at > 0 ? line.subarray(from) : undefined;
}

/** A `Refusal` when a Parquet file has a column of symbols that names more than one. */
export async function refuseSeveralIn({ connection }: Duck, path: string): Promise<void> {
  const from = `FROM read_parquet(${quoted(path)})`;
  const described = (await connection.runAndReadAll(`DESCRIBE SELECT * ${from}`)).getRows();
  const names = described.map(([name]) => String(name));
  const name = names[columnNamed(names, 'symbol')];
  if (name === undefined) return;
  const column = `CAST("${name.replaceAll('"', '""')}" AS VARCHAR)`;
  const texts = await connection.runAndReadAll(`SELECT DISTINCT ${column} ${from} LIMIT ${mostTexts}`);
  refuseSeveral(
    path,
    texts.getRows().map(([text]) => (text === null ? undefined : String(text))),
  );
}
