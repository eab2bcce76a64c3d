/** Reading a data file, plain or gzipped: in one piece, or block by block where it may be large. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Refusal } from '../domain/refusal.ts';

/** The most that a gzipped file may unpack to, bytes; more is refused, since a wrong file could fill the memory. */
const mostBytes = 2 ** 31;

export interface FileBytes {
  /** Unpacked when they are gzip, whatever the file's name says. */
  readonly bytes: Uint8Array;
  /** Of the file as it lies there, hex: of the very bytes that were read, should the file change meanwhile. */
  readonly sha256: string;
}

/** Reads a file once; a `Refusal` when that cannot be done or its gzip is damaged. */
export function readBytes(path: string): FileBytes {
  const bytes = orRefuse(path, () => readFileSync(path));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { bytes: isGzip(path, bytes) ? unpacked(path, bytes) : bytes, sha256 };
}

/** Lines that cannot be read after which nothing more of a file is read: it is of another kind altogether. */
export const mostUnreadable = 1_000;
/** Bytes of a line at most: books of thousands of levels are that long, and rows are not. */
export const longestLine = 2 ** 21;

export const tooLong = (path: string, line: number): Refusal =>
  new Refusal(
    `${path}, line ${line} is longer than ${longestLine / 2 ** 20} MiB, which no row and no book is: write one row, or one object, a line`,
  );

export const lineFeed = 10;
/** Bytes that become text at once. */
const textBytes = 2 ** 20;

export interface Lines {
  /** One after the other; a `Refusal` at one that is too long. */
  readonly lines: Generator<string>;
  /** False when the last line has no end, as in a file that was cut off. */
  readonly ended: boolean;
}

/** The lines of a file of text. */
export function linesOf(path: string): Lines {
  const { bytes } = readBytes(path);
  return { lines: linesIn(path, bytes), ended: bytes.at(-1) === lineFeed };
}

function* linesIn(path: string, bytes: Uint8Array): Generator<string> {
  const decoder = new TextDecoder();
  let line = 0;
  for (let from = 0; from < bytes.length; ) {
    const isRest = from + textBytes >= bytes.length;
    const last = isRest ? bytes.length : bytes.lastIndexOf(lineFeed, from + textBytes - 1) + 1;
    const end = last > from ? last : endOfLine(bytes, from + textBytes);
    if (end - from > longestLine) throw tooLong(path, line + 1);
    const texts = decoder.decode(bytes.subarray(from, end)).split('\n');
    if (bytes[end - 1] === lineFeed) texts.pop();
    yield* texts;
    line += texts.length;
    from = end;
  }
}

const endOfLine = (bytes: Uint8Array, from: number): number => {
  const at = bytes.indexOf(lineFeed, from);
  return at < 0 ? bytes.length : at + 1;
};

const tooLarge = (path: string): Refusal =>
  new Refusal(
    `${path} has more than ${Math.floor(mostBytes / 1e6)} MB unpacked. Import it (sluice data import ${path}) and write catalogue instead of the file name in the configuration`,
  );

export type Packing = 'gzip' | 'xz' | 'zstd' | 'zip';

const magics: readonly (readonly [Packing, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  // Of a frame to be skipped, with which pzstd begins.
  ['zstd', [0x50, 0x2a, 0x4d, 0x18]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
];

/** How a file is packed, by its first bytes; undefined where it is not. */
export const packingOf = (bytes: Uint8Array): Packing | undefined =>
  magics.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte))?.[0];

/** A `Refusal` where it is packed in another way than by gzip. */
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
      ENOENT: 'is not there',
      EISDIR: 'is a folder, not a file',
      EACCES: 'may not be read by this user',
    };
    const what = known[String(code)] ?? `cannot be read (${String(code ?? error)})`;
    throw new Refusal(`${path} ${what}: check the path (in a configuration \`data\`, \`trades\` or \`depth\`)`);
  }
}

function unpacked(path: string, bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path);
    const cause = error instanceof Error ? error.message : String(error);
    throw new Refusal(`${path} is damaged or cut off (gzip: ${cause}): fetch the file again`);
  }
}

/** Bytes that come in blocks. */
export interface ByteSource {
  /** How many there are, unpacked. */
  readonly size: number;
  /** The next ones, behind `rest`, which was not used of those before and has at most `mostRest`; undefined when there are no more. Of what came before only the last block is kept. */
  read(rest: Uint8Array): Uint8Array | undefined;
}

export const mostRest = 65_536;
const blockBytes = 4 * 1024 * 1024;

/** Bytes that are in memory, as one block. */
export function oneBlock(bytes: Uint8Array): ByteSource {
  let isRead = false;
  return {
    size: bytes.length,
    read() {
      if (isRead) return undefined;
      isRead = true;
      return bytes;
    },
  };
}

/** Reads a file once, with `use`: plain files a block at a time, so that memory does not grow with them. Refuses as `readBytes` does. */
export function withBlocks<T>(
  path: string,
  use: (source: ByteSource) => T,
): { readonly value: T; readonly sha256: string } {
  const handle = orRefuse(path, () => openSync(path, 'r'));
  try {
    const hash = createHash('sha256');
    // Two by turns: at the end the reader goes on with the block that it has.
    let [buffer, other] = [new Uint8Array(mostRest + blockBytes), new Uint8Array(mostRest + blockBytes)];
    const fill = (from: number): number => {
      const count = orRefuse(path, () => readSync(handle, buffer, from, buffer.length - from, null));
      hash.update(buffer.subarray(from, from + count));
      return count;
    };
    let first = fill(0);
    if (isGzip(path, buffer.subarray(0, first))) {
      const { bytes, sha256 } = readBytes(path);
      return { value: use(oneBlock(bytes)), sha256 };
    }
    const value = use({
      size: orRefuse(path, () => fstatSync(handle)).size,
      read(rest) {
        if (first > 0) {
          const block = buffer.subarray(0, first);
          first = 0;
          return block;
        }
        [buffer, other] = [other, buffer];
        buffer.set(rest, 0);
        const count = fill(rest.length);
        return count === 0 ? undefined : buffer.subarray(0, rest.length + count);
      },
    });
    return { value, sha256: hash.digest('hex') };
  } finally {
    closeSync(handle);
  }
}
