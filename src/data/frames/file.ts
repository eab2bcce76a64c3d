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
  /** A note is our own JSON: a hole, a closed kline, the beginning of a recording. */
  readonly kind: 'frame' | 'note';
  /** UTC ms by the exchange's clock as we know it. */
  readonly seenAt: number;
  /** UTC ms by the clock of this machine. */
  readonly machineAt: number;
  readonly bytes: Uint8Array;
}

/** A record as it is written. */
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

export interface Decoded {
  readonly records: readonly FrameRecord[];
  /** Bytes at the end that are no whole record: what a crash cut off, or damage. */
  readonly lostBytes: number;
}

/** Every whole record of a file's bytes, up to the first that is none; undefined when it is no file of frames. */
export function decoded(bytes: Buffer): Decoded | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic))
    return bytes.length < magic.length ? { records: [], lostBytes: bytes.length } : undefined;
  const records: FrameRecord[] = [];
  let at = magic.length;
  while (at + headBytes + clockBytes <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const body = bytes.subarray(at + headBytes, at + headBytes + length);
    if (length > longestBytes || body.length < length || crc32(body) !== bytes.readUInt32LE(at + 4)) break;
    records.push({
      kind: body[0] === 1 ? 'frame' : 'note',
      seenAt: body.readDoubleLE(1),
      machineAt: body.readDoubleLE(9),
      bytes: body.subarray(clockBytes),
    });
    at += headBytes + length;
  }
  return { records, lostBytes: bytes.length - at };
}
