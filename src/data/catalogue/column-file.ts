/** A table as one file of raw columns, which is read straight into typed arrays. Derived from Parquet and worth nothing without. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import type { Table } from './parquet.ts';

/** Changed when the layout changes: files of another version are made anew. */
const magic = 'SLUICOL1';
const headerBytes = 64;

/** Written beside its place and then put there: a file that is there is whole. The columns must not change meanwhile. */
export async function writeColumnFile(path: string, { columns, rows }: Table, parquetSha256: string): Promise<void> {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, 0, 'latin1');
  header.writeUInt32LE(columns.length, 8);
  header.writeUInt32LE(rows, 12);
  header.write(parquetSha256, 16, 'hex');
  const unfinished = `${path}.${process.pid}`;
  const handle = await open(unfinished, 'w');
  try {
    await handle.appendFile(header);
    for (const column of columns) await handle.appendFile(new Uint8Array(column.buffer, column.byteOffset, rows * 8));
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
}

/**
 * Reads the columns into `into` from row `at` on. False when there is no such file, or it is of another version, another
 * Parquet file or another size: then it has to be made from the Parquet file.
 */
export function readColumnFile(
  path: string,
  { rows, sha256 }: { readonly rows: number; readonly sha256: string },
  into: readonly Float64Array[],
  at: number,
): boolean {
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const header = Buffer.alloc(headerBytes);
    readSync(handle, header, 0, headerBytes, 0);
    const isOurs =
      header.toString('latin1', 0, 8) === magic &&
      header.readUInt32LE(8) === into.length &&
      header.readUInt32LE(12) === rows &&
      header.toString('hex', 16, 48) === sha256 &&
      fstatSync(handle).size === headerBytes + into.length * rows * 8;
    if (!isOurs) return false;
    for (const [index, column] of into.entries()) {
      const bytes = new Uint8Array(column.buffer, column.byteOffset + at * 8, rows * 8);
      const start = headerBytes + index * rows * 8;
      for (let done = 0; done < bytes.length; ) {
        const read = readSync(handle, bytes, done, bytes.length - done, start + done);
        if (read === 0) return false;
        done += read;
      }
    }
    return true;
  } finally {
    closeSync(handle);
  }
}
