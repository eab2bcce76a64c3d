/** Reading a data file, plain or gzipped, in one piece. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const what = code === 'ENOENT' ? 'is not there' : `cannot be read (${String(code ?? error)})`;
    throw new Refusal(`${path} ${what}: check the path in the configuration (\`data\`)`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { bytes, sha256 };
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: mostBytes }), sha256 };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Refusal(`${path} is damaged or cut off (gzip: ${cause}): fetch the file again`);
  }
}
