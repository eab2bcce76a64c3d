/** The one data file inside a zip, as exchanges publish them. */
import { fstatSync, readSync } from 'node:fs';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';

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
      throw new Refusal(`${path} is a zip of more than 4 GiB: unpack it and import what is inside`);
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
    const why = locked ? 'has a password' : `is packed in a way that is not read here (method ${method})`;
    throw new Refusal(`${path}: ${escapeLine(name)} ${why}: unpack it and import the file`);
  }
  const local = Buffer.alloc(30);
  readSync(handle, local, 0, 30, header);
  const start = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  return { name, start, packedBytes, deflated: method === 8, sum: directory.readUInt32LE(at + 16) };
}
