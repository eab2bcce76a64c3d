import { statfsSync } from 'node:fs';

/** Of a disk, bytes. `free`: what a program without special rights may still write. */
export interface DiskSpace {
  readonly free: number;
  readonly size: number;
}

/** The disk of a directory. */
export function spaceOf(dir: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(dir);
  return { free: bavail * bsize, size: blocks * bsize };
}
