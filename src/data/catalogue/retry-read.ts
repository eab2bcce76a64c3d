/** Reading while an import ends: it takes away the files that it replaced, and who still reads these would be told of damage. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, manifestName, seriesKeys } from './manifest.ts';

/** Imports that may end while one thing is read; one of many small files ends several times a second. */
const mostTurns = 20;

/** Reads, and once more where that failed, or `isHurt`, while the catalogue changed: from what is stored now. */
export async function readAgain<T>(
  dir: string,
  read: () => Promise<T>,
  isHurt: (result: T) => boolean = () => false,
): Promise<T> {
  for (let turn = 1; ; turn++) {
    const before = stateOf(dir);
    const isChanged = (): boolean => turn < mostTurns && stateOf(dir) !== before;
    try {
      const result = await read();
      if (!isHurt(result) || !isChanged()) return result;
    } catch (error) {
      if (!isChanged()) throw error;
    }
  }
}

/** Which manifests there are: each is another file once it was written anew. */
const stateOf = (dir: string): string =>
  seriesKeys(dir)
    .map((key) => join(folderOf(dir, key), manifestName))
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return `${path} ${stat?.ino} ${stat?.mtimeMs}`;
    })
    .join('\n');
