/** Whether the strategies of a page have the types that they need. */
import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the compiler says of files in a folder, by the settings of this repository and its `sluice`; empty where they are right. Call it once. */
export function typeErrors(dir: string, include: readonly string[] = ['*.ts']): string {
  const paths = { sluice: [join(root, 'src', 'index.ts')], 'sluice/testing': [join(root, 'src', 'testing.ts')] };
  const settings = { extends: join(root, 'tsconfig.json'), compilerOptions: { paths }, include };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(settings));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return spawnSync(process.execPath, [compiler, '-p', dir], { encoding: 'utf8' }).stdout;
}
