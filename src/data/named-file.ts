/** Reads row files that a configuration names, plain or gzipped: exact columns, UTC ms, and no repairs unless configured. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { escapeLine } from '../domain/printable.ts';
import { causeOf, Refusal } from '../domain/refusal.ts';
import type { Kind } from './catalogue/kinds.ts';
import { GrowingTable } from './catalogue/rows.ts';
import { CsvReader, type Role } from './import/csv-reader.ts';
import { type Batch, type RowReader, UnreadableLines } from './import/row-reader.ts';

/** The most that a gzipped file may unpack to, bytes: a wrong file could fill the memory. */
const maxBytes = 2 ** 31;
const blockBytes = 2 ** 22;

const tooLarge = (path: string): Refusal =>
  new Refusal(
    `${path} is larger than ${Math.floor(maxBytes / 1e6)} MB unpacked. Import it (sluice data import ${path}) and write catalogue instead of the file name in the configuration`,
  );

export type Packing = 'gzip' | 'xz' | 'zstd' | 'zip';

const magics: readonly (readonly [Packing, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  // A frame to be skipped, with which pzstd begins.
  ['zstd', [0x50, 0x2a, 0x4d, 0x18]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
];

/** How a file is packed, by its first bytes; undefined where it is not. */
export const packingOf = (bytes: Uint8Array): Packing | undefined =>
  magics.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte))?.[0];

function isGzip(path: string, bytes: Uint8Array): boolean {
  const packing = packingOf(bytes);
  if (packing === undefined || packing === 'gzip') return packing === 'gzip';
  throw new Refusal(
    `${path} is packed with ${packing}: unpack it (plain files and gzip are read here), or import it as it is (sluice data import ${path}) and write catalogue instead of the file name in the configuration`,
  );
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function orRefuse<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_FS_FILE_TOO_LARGE') throw tooLarge(path);
    const known: Readonly<Record<string, string>> = {
      ENOENT: 'does not exist',
      EISDIR: 'is a folder, not a file',
      EACCES: 'is not readable by this user',
    };
    const what = known[String(code)] ?? `cannot be read (${String(code ?? error)})`;
    throw new Refusal(`${path} ${what}: check the path (in a configuration \`data\`, \`trades\` or \`depth\`)`);
  }
}

function unpacked(path: string, bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path);
    throw new Refusal(`${path} is damaged or cut off (gzip: ${causeOf(error)}): fetch the file again`);
  }
}

interface Source {
  /** Of the packed bytes, while they are read. */
  readonly hash: Hash;
  /** Unpacked bytes. */
  size: number;
}

/** The unpacked bytes of a file, block by block; each is valid until the next. */
function* blocksOf(path: string, source: Source): Generator<Uint8Array> {
  const handle = orRefuse(path, () => openSync(path, 'r'));
  try {
    source.size = orRefuse(path, () => fstatSync(handle)).size;
    const buffer = new Uint8Array(blockBytes);
    for (let isFirst = true; ; isFirst = false) {
      const count = orRefuse(path, () => readSync(handle, buffer, 0, buffer.length, null));
      const block = buffer.subarray(0, count);
      if (isFirst && isGzip(path, block)) break;
      if (count === 0) return;
      source.hash.update(block);
      yield block;
    }
  } finally {
    closeSync(handle);
  }
  const packed = orRefuse(path, () => readFileSync(path));
  source.hash.update(packed);
  const bytes = unpacked(path, packed);
  source.size = bytes.length;
  for (let from = 0; from < bytes.length; from += blockBytes) yield bytes.subarray(from, from + blockBytes);
}

export interface NamedFile {
  readonly path: string;
  readonly reader: RowReader;
  /** The first line; none in JSON. */
  readonly header?: string;
  /** What to do about lines that cannot be read. */
  readonly remedy?: string;
}

export interface ReadFile {
  /** False when the last line has no end, as in a file that was cut off. */
  readonly ended: boolean;
  /** Of the file as it was read, hex. */
  readonly sha256: string;
}

/**
 * Reads a file and gives its rows to `take`, with how many there may be in all. Throws a `Refusal` for the first line that cannot be
 * read, with the number of such lines.
 */
export function readNamedFile(
  { path, reader, header, remedy = 'correct the file or fetch it again' }: NamedFile,
  take: (batch: Batch, likelyRows: number) => void,
): ReadFile {
  const source: Source = { hash: createHash('sha256'), size: 0 };
  let [rows, likelyRows] = [0, -1];
  const takeAll = (batches: Iterable<Batch>): void => {
    for (const batch of batches) {
      rows += batch.rows;
      take(batch, likelyRows);
    }
  };
  for (const block of blocksOf(path, source)) {
    if (likelyRows < 0) {
      const start = block.subarray(0, 2 ** 16);
      checkHeader(path, start, header);
      const lines = start.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
      likelyRows = Math.ceil((1.05 * source.size * lines) / start.length);
    }
    takeAll(reader.read(block));
  }
  if (likelyRows < 0) checkHeader(path, new Uint8Array(), header);
  takeAll(reader.end());
  const { unreadable, ended, lines } = reader;
  const [first] = unreadable.first;
  if (first !== undefined) {
    const cut = !ended && first.line === lines ? ' (the last line: the file may be cut off)' : '';
    const all = lines - (header === undefined ? 0 : 1);
    const count = `${unreadable.count} ${unreadable.count === 1 ? 'line' : 'lines'} cannot be read, of ${all}`;
    throw new Refusal(`${path}, line ${first.line}: ${first.what}${cut} (${count}): ${remedy}`);
  }
  if (rows === 0) throw new Refusal(`${path} has no rows: fetch the file again`);
  return { ended, sha256: source.hash.digest('hex') };
}

function checkHeader(path: string, start: Uint8Array, header: string | undefined): void {
  if (header === undefined) return;
  // The decoder drops the byte order mark with which spreadsheets begin a file.
  const [first = ''] = new TextDecoder().decode(start).split('\n', 1);
  if (start.length === 0) throw new Refusal(`${path} is empty: fetch the file again, or check the path`);
  if (first.trim() !== header)
    throw new Refusal(
      `${path}, line 1: the columns are "${escapeLine(first.trim().slice(0, 80))}", not "${header}": use these names in this order, with times in UTC ms; sluice data import FILE reads other layouts, and sluice data export writes this one`,
    );
}

/** The columns of a file of CSV: their names, and more decimals than `maxDecimals` are refused. */
export interface NamedColumn {
  readonly name: string;
  readonly role: Role;
  readonly maxDecimals?: number;
}

export function namedCsv(path: string, columns: readonly NamedColumn[], remedy?: string): NamedFile {
  const layout = {
    columns: columns.map(({ role }, to) => ({ role, to })),
    ...{ separator: ',', decimalComma: false, skipLines: 1, zone: 'UTC' },
    strict: { maxDecimals: columns.map(({ maxDecimals }) => maxDecimals ?? Number.POSITIVE_INFINITY) },
  };
  const header = columns.map(({ name }) => name).join(',');
  const reader = new CsvReader(layout, columns.length, new UnreadableLines(path));
  return { path, reader, header, ...(remedy !== undefined && { remedy }) };
}

/** Reads all rows of a file; `check` sees each batch. */
export function readNamedTable(
  file: NamedFile,
  kind: Kind,
  check: (batch: Batch) => void = () => {},
): ReadFile & { readonly columns: readonly Float64Array[] } {
  const table = new GrowingTable(kind, 0);
  const read = readNamedFile(file, (batch, likelyRows) => {
    table.append(batch.columns, 0, batch.rows, likelyRows);
    check(batch);
  });
  return { ...read, columns: table.columns.map((column) => column.subarray(0, table.rows)) };
}
