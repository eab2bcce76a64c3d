/** `npm run build`: the sources as JavaScript with types in `dist/`, for the package (Node runs no TypeScript under node_modules). */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const page = join('src', 'ops', 'page');

// What was removed from src must not live on in the package.
rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
// The page is no part of that program: the daemon reads its files as they are and strips their types itself (src/ops/assets.ts).
for (const file of readdirSync(join(root, page))) {
  if (/(?<!\.(test|d))\.ts$|\.css$/.test(file))
    cpSync(join(root, page, file), join(root, 'dist', page, basename(file)));
}
