/** Frames of the exchange's sockets as gzip that compresses nothing: setting up a compressor takes longer than all else about a frame. */
import { crc32 } from 'node:zlib';
import { type Json, json } from '../../src/simulator/http/json.ts';

/** RFC 1952: deflate, no name, no time. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** RFC 1951: one last block, stored; then its length, and the same inverted. */
const lastStored = 1;
const blockHeadBytes = 5;
/** Checksum and length. */
const tailBytes = 8;

/** A frame with what it says, which is less than 64 kB: stored blocks are no longer. */
export function stored(frame: Json): Buffer {
  const text = Buffer.from(json(frame));
  const { length } = text;
  const bytes = Buffer.allocUnsafe(head.length + blockHeadBytes + length + tailBytes);
  head.copy(bytes);
  let at = bytes.writeUInt8(lastStored, head.length);
  at = bytes.writeUInt16LE(length, at);
  at = bytes.writeUInt16LE(0xffff - length, at);
  at += text.copy(bytes, at);
  at = bytes.writeUInt32LE(crc32(text), at);
  bytes.writeUInt32LE(length, at);
  return bytes;
}
