/** Repeats a read during which an import ended: it removes the files that it replaced, which would look like damage. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, manifestName, seriesKeys } from './manifest.ts';

/** Reads at most: imports of many small files end several times a second. */
const mostTurns = 20;

/** Reads again where that failed, or `isDamaged`, while the catalogue changed. */
export async function readAgain<T>(
  dir: string,
  read: () => Promise<T>,
  isDamaged: (result: T) => boolean = () => false,
): Promise<T> {
  for (let turn = 1; ; turn++) {
    const before = stateOf(dir);
    const isChanged = (): boolean => turn < mostTurns && stateOf(dir) !== before;
    try {
      const result = await read();
      if (!isDamaged(result) || !isChanged()) return result;
    } catch (error) {
      if (!isChanged()) throw error;
    }
  }
}

/** Changes whenever a manifest is written. */
const stateOf = (dir: string): string =>
  seriesKeys(dir)
    .map((key) => join(folderOf(dir, key), manifestName))
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return `${path} ${stat?.ino} ${stat?.mtimeMs}`;
    })
    .join('\n');
