/** Unpacks files of several zstd frames, as `cat` and appending writers make them: Node's stream ends with the first. */
import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';

/** The content of all frames; throws at damage. Blocks of `packed` must not change after they came. */
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
