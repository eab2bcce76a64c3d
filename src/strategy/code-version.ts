/** What tells one version of a strategy's code from another. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !/\.(test|d)\.[cm]?[jt]s$/.test(name);

/** Files that a file of code imports by a relative path, as far as its text says; tables and settings, too, which import nothing. */
function importsOf(file: string, text: string): readonly string[] {
  if (!isCode(file)) return [];
  return [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)]
    .map(([, path = '']) => resolve(dirname(file), path))
    .filter((path) => existsSync(path) && statSync(path).isFile());
}

/** A file and all that it imports by relative paths. */
function withImports(first: string): readonly string[] {
  const files = [first];
  for (const file of files)
    for (const next of importsOf(file, readFileSync(file, 'utf8'))) if (!files.includes(next)) files.push(next);
  return files;
}

/** The files of a strategy: a shipped one's folder, or a file of the user's with what it imports. */
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

/** SHA-256 of a strategy's code, hex: of its text, so that a changed comment is a new version as well. `dir`: what its path is relative to. */
export function codeHash(use: string, dir: string): string {
  const hash = createHash('sha256').update(use);
  for (const file of filesOf(use, dir)) hash.update('\0').update(readFileSync(file));
  return hash.digest('hex');
}
