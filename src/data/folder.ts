/** Folders for data, and the messages if they cannot be used. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Refusal } from '../domain/refusal.ts';

/** Makes a folder and those around it; a `Refusal` where that cannot be. One by one: all at once Node tries for ever in `/proc`. */
export function makeFolder(dir: string): void {
  const missing: string[] = [];
  let there = resolve(dir);
  for (; !existsSync(there); there = dirname(there)) missing.push(there);
  if (!statSync(there).isDirectory())
    throw new Refusal(`${there} is a file, not a folder: name another folder for the data (--data)`);
  for (const at of missing.toReversed())
    try {
      mkdirSync(at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process was faster.
      if (code === 'EEXIST') continue;
      throw new Refusal(
        `${at} cannot be made (${code}): give this user permission, or name another folder for the data (--data)`,
      );
    }
}

export const isFull = (code: string | undefined): boolean => code === 'ENOSPC' || code === 'EDQUOT';

/** Why a file or folder could not be written, and what helps; `other` is what else to name. */
export function unwritten(path: string, error: unknown, other = 'another folder'): string {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return isFull(code)
    ? `${path} cannot be written: the disk is full (${code}): make room there, or name ${other}`
    : `${path} cannot be written (${code}): give this user permission, or name ${other}`;
}
