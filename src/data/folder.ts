/** Folders for data. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Refusal } from '../domain/refusal.ts';

/** Makes a folder and those around it; a `Refusal` where that cannot be. One by one: all at once Node tries for ever in `/proc`. */
export function makeFolder(dir: string): void {
  const missing: string[] = [];
  let there = resolve(dir);
  for (; !existsSync(there); there = dirname(there)) missing.push(there);
  if (!statSync(there).isDirectory())
    throw new Refusal(`${there} is a file, not a folder: name another place for the data (--data)`);
  for (const at of missing.toReversed())
    try {
      mkdirSync(at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process was faster.
      if (code === 'EEXIST') continue;
      throw new Refusal(
        `${at} cannot be made (${code}): give this user the rights to, or name another place for the data (--data)`,
      );
    }
}
