import { statfsSync } from 'node:fs';

/** Bytes that a program without special rights may still write to the disk of a directory. */
export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
