/** `npm run build`: the sources as JavaScript with types in `dist/`, for the package (Node runs no TypeScript under node_modules). */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const pages = [join('src', 'dashboard', 'page'), join('src', 'report', 'page')];

// What was removed from src must not live on in the package.
rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
// The pages are no part of that program: their files are read as they are and their types stripped when they are served or written.
for (const page of pages) {
  for (const file of readdirSync(join(root, page), { recursive: true, encoding: 'utf8' })) {
    if (/(?<!\.(test|d))\.ts$|\.css$/.test(file)) cpSync(join(root, page, file), join(root, 'dist', page, file));
  }
}
