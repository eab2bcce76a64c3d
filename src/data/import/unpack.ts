/** A data file as blocks of bytes, unpacked by what its first bytes say and not by its name. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { crc32, createGunzip, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { escapeLine } from '../../domain/printable.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { type Packing as Packed, packingOf } from '../named-file.ts';
import { longestLine } from './row-reader.ts';

/** Bytes read at a time; also about the memory that reading a file takes. */
const blockBytes = 2 ** 20;
/** The beginning by which the layout is detected. */
const headBytes = 2 ** 16;

const lineFeed = 10;

export type Packing = 'plain' | Packed;

export interface DataFile {
  readonly path: string;
  readonly packing: Packing;
  /** The name of the file inside a zip, else of the file itself, without its folder. */
  readonly name: string;
  /** The first 64 KiB at least, with the end of the first line where that is not too long, or all there is. */
  readonly head: Uint8Array;
  /** All bytes, `head` included; once. Throws a `Refusal` when the packing is damaged or cut off. */
  readonly blocks: AsyncGenerator<Uint8Array>;
  /** SHA-256 of the packed file, hex; final at the end of `blocks`. */
  readonly sha256: () => string;
  /** Bytes of the packed file that were read. */
  readonly bytes: () => number;
}

interface Progress {
  readonly hash: Hash;
  bytes: number;
}

/** Opens a file and reads its beginning. A `Refusal` when it is not there or cannot be read. */
export async function openData(path: string): Promise<DataFile> {
  const handle = opened(path);
  const first = Buffer.alloc(8);
  let packing: Packing;
  let entry: Entry | undefined;
  try {
    readSync(handle, first, 0, first.length, 0);
    packing = packingOf(first) ?? 'plain';
    entry = packing === 'zip' ? entryOf(path, handle) : undefined;
  } catch (error) {
    closeSync(handle);
    throw refusalOf(path, error);
  }
  const progress: Progress = { hash: createHash('sha256'), bytes: 0 };
  const packed = readBlocks(handle, progress);
  const unpacked = packing === 'plain' ? packed : unpack(path, packing, packed, entry);
  const { head, blocks } = await withHead(unpacked);
  return {
    path,
    packing,
    name: (entry?.name ?? path).replace(/^.*[/\\]/, ''),
    head,
    blocks,
    sha256: () => progress.hash.copy().digest('hex'),
    bytes: () => progress.bytes,
  };
}

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw refusalOf(path, error);
  }
}

function refusalOf(path: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return new Refusal(`${path} does not exist: check the path`);
  if (code === 'EISDIR') return new Refusal(`${path} is a folder: name the files in it (${path}/*)`);
  if (code === 'EACCES' || code === 'EPERM')
    return new Refusal(`${path} is not readable by this user: change its permissions, or copy it`);
  if (code === 'ESPIPE') return new Refusal(`${path} is a pipe, which Sluice does not read: write it to a file first`);
  return new Refusal(`${path} cannot be read (${String(code ?? error)})`);
}

/** The blocks of a file, counted and hashed; the system reads the next one while the last is used. */
async function* readBlocks(handle: number, progress: Progress): AsyncGenerator<Uint8Array> {
  const blocks = createReadStream('', { fd: handle, start: 0, highWaterMark: blockBytes });
  for await (const block of blocks as AsyncIterable<Buffer>) {
    progress.bytes += block.length;
    progress.hash.update(block);
    yield block;
  }
}

async function* unpack(
  path: string,
  packing: Packing,
  packed: AsyncGenerator<Uint8Array>,
  entry: Entry | undefined,
): AsyncGenerator<Uint8Array> {
  const source = (): Readable => Readable.from(packed);
  try {
    if (packing === 'xz') yield* unpackXz(source());
    else if (entry !== undefined) yield* unzip(entry, packed);
    else if (packing === 'zstd') yield* unzstd(packed, blockBytes);
    // The error of either end comes out of the loop.
    else yield* pipeline(source(), createGunzip({ chunkSize: blockBytes }), () => {}) as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const cause = causeOf(error);
    throw new Refusal(`${path} is damaged or cut off (${packing}: ${cause}): fetch the file again`);
  }
}

async function* unpackXz(packed: Readable): AsyncGenerator<Uint8Array> {
  const { default: xz } = await import('xz-decompress');
  const web = Readable.toWeb(packed) as ConstructorParameters<typeof xz.XzReadableStream>[0];
  yield* new xz.XzReadableStream(web) as WebStream<Uint8Array>;
}

async function* unzip(
  { start, packedBytes, deflated, sum }: Entry,
  packed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const inside = Readable.from(slice(packed, start, start + packedBytes));
  const blocks = deflated ? pipeline(inside, createInflateRaw({ chunkSize: blockBytes }), () => {}) : inside;
  let found = 0;
  for await (const block of blocks as AsyncIterable<Buffer>) {
    found = crc32(block, found);
    yield block;
  }
  if (found !== sum) throw new Error('its checksum does not match');
}

/** The bytes `from` up to, not including, `to`; reads on to the end, so that the hash is of the whole file. */
async function* slice(blocks: AsyncIterable<Uint8Array>, from: number, to: number): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const block of blocks) {
    const [first, end] = [Math.max(0, from - at), Math.min(block.length, to - at)];
    at += block.length;
    if (first < end) yield block.subarray(first, end);
  }
}

async function withHead(
  blocks: AsyncGenerator<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly blocks: AsyncGenerator<Uint8Array> }> {
  const read: Uint8Array[] = [];
  let hasLine = false;
  for (let length = 0; length < headBytes || (!hasLine && length < longestLine); ) {
    const next = await blocks.next();
    if (next.done === true) break;
    length += next.value.length;
    hasLine ||= next.value.includes(lineFeed);
    read.push(next.value);
  }
  const head = Buffer.concat(read);
  return {
    head,
    blocks: (async function* () {
      yield head;
      yield* blocks;
    })(),
  };
}

export interface Entry {
  readonly name: string;
  /** Where its packed bytes begin in the zip. */
  readonly start: number;
  readonly packedBytes: number;
  readonly deflated: boolean;
  /** CRC-32 of the content. */
  readonly sum: number;
}

/** The end record and the longest comment after it. */
const tailBytes = 22 + 65_535;
const endMark = 0x06054b50;
const entryMark = 0x02014b50;
/** A field whose value stands in the 64-bit records. */
const in64BitRecord = 0xffffffff;

/** Finds the one file of a zip. Throws a `Refusal` when there are several or none, or its packing is not read. */
export function entryOf(path: string, handle: number): Entry {
  const directory = directoryOf(path, handle);
  const entries: Entry[] = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === entryMark; ) {
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
    const name = directory.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
    if (!name.endsWith('/') && !name.startsWith('__MACOSX/')) entries.push(entryAt(path, handle, directory, at, name));
    at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  const [only, second] = entries;
  if (only === undefined) throw new Refusal(`${path} holds no file: fetch it again`);
  if (second !== undefined) {
    const names = entries.slice(0, 5).map(({ name }) => escapeLine(name));
    throw new Refusal(`${path} holds ${entries.length} files (${names.join(', ')}, …): unpack it and import them`);
  }
  return only;
}

function directoryOf(path: string, handle: number): Buffer {
  const { size } = fstatSync(handle);
  const tail = Buffer.alloc(Math.min(size, tailBytes));
  readSync(handle, tail, 0, tail.length, size - tail.length);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endMark) continue;
    const [bytes, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
    if (start === in64BitRecord)
      throw new Refusal(`${path} is a zip of more than 4 GiB: unpack it and import the files inside`);
    const directory = Buffer.alloc(bytes);
    readSync(handle, directory, 0, bytes, start);
    return directory;
  }
  throw new Refusal(`${path} is damaged or cut off (zip: its end is missing): fetch the file again`);
}

function entryAt(path: string, handle: number, directory: Buffer, at: number, name: string): Entry {
  const method = directory.readUInt16LE(at + 10);
  const packedBytes = directory.readUInt32LE(at + 20);
  const header = directory.readUInt32LE(at + 42);
  const locked = (directory.readUInt16LE(at + 8) & 1) === 1;
  if (locked || (method !== 0 && method !== 8) || packedBytes === in64BitRecord) {
    const why = locked ? 'has a password' : `is compressed with method ${method}, which Sluice does not read`;
    throw new Refusal(`${path}: ${escapeLine(name)} ${why}: unpack it and import the file`);
  }
  const local = Buffer.alloc(30);
  readSync(handle, local, 0, 30, header);
  const start = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  return { name, start, packedBytes, deflated: method === 8, sum: directory.readUInt32LE(at + 16) };
}

/** The content of all zstd frames, of which `cat` and appending writers make several: Node's stream ends with the first. Throws at damage. Blocks of `packed` must not change after they came. */
export async function* unzstd(packed: AsyncIterator<Uint8Array>, chunkSize: number): AsyncGenerator<Uint8Array> {
  /** Blocks that the unpacker of a frame has not used: they may belong to the next frame. */
  let unused: Uint8Array[] = [];
  const next = async (): Promise<boolean> => {
    const { value, done } = await packed.next();
    if (done !== true) unused.push(value);
    return done !== true;
  };
  try {
    while (unused.length > 0 || (await next())) {
      const unpacker = createZstdDecompress({ chunkSize });
      let usedBytes = 0;
      const blocks = async function* (): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < unused.length || (await next()); at++) {
          for (let [first] = unused; first !== undefined && usedBytes + first.length <= unpacker.bytesWritten; at--) {
            usedBytes += first.length;
            unused.shift();
            [first] = unused;
          }
          yield unused[at] as Uint8Array;
        }
      };
      // The error of either end comes out of the loop.
      yield* pipeline(Readable.from(blocks()), unpacker, () => {}) as AsyncIterable<Buffer>;
      const rest = Buffer.concat(unused).subarray(unpacker.bytesWritten - usedBytes);
      unused = rest.length === 0 ? [] : [rest];
    }
  } finally {
    await packed.return?.(undefined);
  }
}
