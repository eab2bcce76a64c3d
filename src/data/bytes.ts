/** Reading a data file, plain or gzipped, in one piece. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Refusal } from '../domain/refusal.ts';

/** The most that a gzipped file may unpack to, bytes; more is refused, since a wrong file could fill the memory. */
const mostBytes = 2 ** 31;

/** The bytes of a file, unpacked when they are gzip, whatever its name says. */
export function readBytes(path: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const what = code === 'ENOENT' ? 'is not there' : `cannot be read (${String(code ?? error)})`;
    throw new Refusal(`${path} ${what}: check the path in the configuration (\`data\`)`);
  }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: mostBytes });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new Refusal(`${path} is damaged or cut off (gzip: ${cause}): fetch the file again`);
  }
}
