/** Identifies versions of a strategy's code by a hash. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !/\.(test|d)\.[cm]?[jt]s$/.test(name);

/** Files that a code file imports by a relative path, data files too, as found in its text. */
function importsOf(file: string, text: string): readonly string[] {
  if (!isCode(file)) return [];
  return [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)]
    .map(([, path = '']) => resolve(dirname(file), path))
    .filter((path) => existsSync(path) && statSync(path).isFile());
}

/** A file and everything it imports by relative paths. */
export function withImports(first: string): readonly string[] {
  const files = [first];
  for (const file of files)
    for (const next of importsOf(file, readFileSync(file, 'utf8'))) if (!files.includes(next)) files.push(next);
  return files;
}

/** The files of a strategy: the folder of a shipped one, or a user's file with its imports. */
function filesOf(use: string, dir: string): readonly string[] {
  const own = isAbsolute(use) ? use : resolve(dir, use);
  if (isCode(use) && existsSync(own)) return withImports(own);
  const folder = fileURLToPath(new URL(`../../strategies/${use}/`, import.meta.url));
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(isCode)
    .sort()
    .map((name) => join(folder, name));
}

/** SHA-256 (hex) of a strategy's code. A changed comment is a new version too. `dir`: the directory of a relative path. */
export function codeHash(use: string, dir: string): string {
  const hash = createHash('sha256').update(use);
  for (const file of filesOf(use, dir)) hash.update('\0').update(readFileSync(file));
  return hash.digest('hex');
}
