/** Files of several zstd frames, as `cat` and appending writers make them: Node's own unpacking ends with the first, and does not say so. */
import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';

const frameMagic = 0xfd2fb528;
/** Any of sixteen, for frames that hold something other than data. */
const skippedMagic = 0x184d2a50;

/** What the frames hold, one after the other; throws at damage. */
export async function* unzstd(packed: AsyncGenerator<Uint8Array>, chunkSize: number): AsyncGenerator<Uint8Array> {
  const left: Left = { block: new Uint8Array(0) };
  try {
    while (await hasMore(left, packed)) {
      // The error of either end comes out of the loop.
      const frame = Readable.from(frameOf(left, packed));
      yield* pipeline(frame, createZstdDecompress({ chunkSize }), () => {}) as AsyncIterable<Buffer>;
    }
  } finally {
    await packed.return(undefined);
  }
}

/** What was read and belongs to no frame before. */
interface Left {
  block: Uint8Array;
}

async function hasMore(left: Left, packed: AsyncGenerator<Uint8Array>): Promise<boolean> {
  while (left.block.length === 0) {
    const next = await packed.next();
    if (next.done === true) return false;
    left.block = next.value;
  }
  return true;
}

/** The bytes up to the end of the frame that begins here, as they come. */
async function* frameOf(left: Left, packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frame = new Frame();
  while (!frame.ended && (await hasMore(left, packed))) {
    const { block } = left;
    const end = frame.pass(block);
    left.block = block.subarray(end);
    yield block.subarray(0, end);
  }
}

/** Finds the end of a frame (RFC 8878, 3.1), going from the head of one block of it to that of the next. */
class Frame {
  ended = false;
  /** Bytes that matter to nobody here, and then those of the next head. */
  #skip = 0;
  #wanted = 4;
  #head: number[] = [];
  #next: (head: DataView) => void = (head) => this.#magic(head.getUint32(0, true));
  #checksumBytes = 0;
  #isLast = false;

  /** Takes bytes; how many of them are of this frame. */
  pass(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.ended) {
      const skipped = Math.min(this.#skip, bytes.length - at);
      at += skipped;
      this.#skip -= skipped;
      if (this.#skip > 0) break;
      if (this.#isLast) this.ended = true;
      else if (at < bytes.length) this.#read(bytes[at++] as number);
    }
    return at;
  }

  #read(byte: number): void {
    if (this.#head.push(byte) < this.#wanted) return;
    const head = new DataView(Uint8Array.from(this.#head).buffer);
    this.#head = [];
    this.#next(head);
    // A block, or a frame to be skipped, may hold nothing.
    if (this.#isLast && this.#skip === 0) this.ended = true;
  }

  #magic(magic: number): void {
    if (magic === frameMagic) this.#expect(1, (head) => this.#descriptor(head.getUint8(0)));
    else if ((magic & ~15) >>> 0 === skippedMagic)
      this.#expect(4, (head) => {
        this.#skip = head.getUint32(0, true);
        this.#isLast = true;
      });
    else throw new Error('what follows a frame is none');
  }

  #descriptor(bits: number): void {
    const isSingle = (bits & 32) !== 0;
    const windowBytes = isSingle ? 0 : 1;
    const dictionaryBytes = [0, 1, 2, 4][bits & 3] ?? 0;
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][bits >> 6] ?? 0;
    this.#checksumBytes = (bits & 4) !== 0 ? 4 : 0;
    this.#skip = windowBytes + dictionaryBytes + sizeBytes;
    this.#expect(3, (head) => this.#block(head.getUint8(0) | (head.getUint8(1) << 8) | (head.getUint8(2) << 16)));
  }

  #block(bits: number): void {
    const isRepeated = ((bits >> 1) & 3) === 1;
    this.#isLast = (bits & 1) === 1;
    this.#skip = (isRepeated ? 1 : bits >> 3) + (this.#isLast ? this.#checksumBytes : 0);
  }

  #expect(bytes: number, next: (head: DataView) => void): void {
    this.#wanted = bytes;
    this.#next = next;
  }
}
