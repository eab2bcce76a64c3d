/**
 * Frames of a market feed as they came, one after the other in a file that a crash can only cut at its end. A record is its length and
 * the checksum of what follows; then what it is, our clock, the machine's clock, and the bytes. What the exchange's clock said
 * stands in the frames themselves.
 */
import { crc32 } from 'node:zlib';

/** At the beginning of each file; changed when the layout changes. */
export const magic = Buffer.from('SLUICEF1');
const headBytes = 8;
const clockBytes = 17;
/** A record that claims to be longer is damage: the socket closes at frames of a megabyte. */
const longestBytes = 2 ** 21;

export interface FrameRecord {
  /** A note is our own JSON: a hole, a closed kline, the beginning of a recording. Of a lost record only its place is known. */
  readonly kind: 'frame' | 'note' | 'lost';
  /** UTC ms by the exchange's clock as we know it. */
  readonly seenAt: number;
  /** UTC ms by the clock of this machine. */
  readonly machineAt: number;
  readonly bytes: Uint8Array;
}

export function encoded({ kind, seenAt, machineAt, bytes }: FrameRecord): Buffer {
  const out = Buffer.allocUnsafe(headBytes + clockBytes + bytes.length);
  out.writeUInt32LE(clockBytes + bytes.length, 0);
  out.writeUInt8(kind === 'frame' ? 1 : 2, headBytes);
  out.writeDoubleLE(seenAt, headBytes + 1);
  out.writeDoubleLE(machineAt, headBytes + 9);
  out.set(bytes, headBytes + clockBytes);
  out.writeUInt32LE(crc32(out.subarray(headBytes)), 4);
  return out;
}

interface Decoded {
  readonly records: readonly FrameRecord[];
  /** Bytes between records that are none: damage. */
  readonly damagedBytes: number;
  /** Bytes at the end that are no whole record: what a crash cut off, or damage. */
  readonly lostBytes: number;
}

/** Every whole record of a file's bytes, and one that is `lost` where damage lies between them; undefined when it is no file of frames. */
export function decoded(bytes: Buffer): Decoded | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic))
    return bytes.length < magic.length ? { records: [], damagedBytes: 0, lostBytes: bytes.length } : undefined;
  const records: FrameRecord[] = [];
  let damagedBytes = 0;
  let at = magic.length;
  while (at < bytes.length) {
    const body = bodyAt(bytes, at);
    if (body === undefined) {
      const next = nextRecord(bytes, at + 1);
      if (next < 0) break;
      damagedBytes += next - at;
      const { seenAt = 0, machineAt = 0 } = records.at(-1) ?? {};
      records.push({ kind: 'lost', seenAt, machineAt, bytes: bytes.subarray(at, next) });
      at = next;
      continue;
    }
    records.push({
      kind: body[0] === 1 ? 'frame' : 'note',
      seenAt: body.readDoubleLE(1),
      machineAt: body.readDoubleLE(9),
      bytes: body.subarray(clockBytes),
    });
    at += headBytes + body.length;
  }
  return { records, damagedBytes, lostBytes: bytes.length - at };
}

/** What the checksum of a record is of; undefined where none begins. */
function bodyAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + headBytes + clockBytes > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length < clockBytes || length > longestBytes || at + headBytes + length > bytes.length) return undefined;
  const body = bytes.subarray(at + headBytes, at + headBytes + length);
  // Before the checksum, which costs more: hardly any place passes.
  if (body[0] !== 1 && body[0] !== 2) return undefined;
  return crc32(body) === bytes.readUInt32LE(at + 4) ? body : undefined;
}

/** The first place at which a whole record begins; -1 when there is none. */
function nextRecord(bytes: Buffer, from: number): number {
  for (let at = from; at + headBytes + clockBytes <= bytes.length; at++) if (bodyAt(bytes, at) !== undefined) return at;
  return -1;
}
