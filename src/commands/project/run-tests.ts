/** `sluice test` and `sluice run`: a user's files by the Node that Sluice runs on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { Refusal } from '../../domain/refusal.ts';

/** Gives `import … from 'sluice'` to these files as to strategies: without a build, and wherever they are. */
const resolving = `data:text/javascript,import { resolveSluice } from ${JSON.stringify(
  new URL(`../../strategy/resolve-sluice${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url),
)}; resolveSluice();`;

/** The arguments of Node that run tests. */
export const testArguments = (files: readonly string[]): readonly string[] => scriptArguments('--test', ...files);
const scriptArguments = (...more: readonly string[]): readonly string[] => ['--import', resolving, ...more];

/** The exit code of Node with these arguments; null where a signal ended it. */
async function ended(args: readonly string[]): Promise<number | null> {
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')) as [number | null];
  return code;
}

/** Throws a `Refusal` with exit code 1 where a test fails; the runner has printed why. */
export async function test(files: readonly string[]): Promise<void> {
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new Refusal(`test file ${missing} does not exist`);
  const folder = files.find((file) => statSync(file).isDirectory());
  if (folder !== undefined)
    throw new Refusal(`${folder} is a folder: name test files, or none for all of them below this folder`);
  if ((await ended(testArguments(files))) !== 0) throw new Refusal('a test failed', 1);
}

/** Ends this process with the exit code of the script. */
export async function runScript(file: string, args: readonly string[]): Promise<void> {
  if (!existsSync(file) || statSync(file).isDirectory()) throw new Refusal(`${file} is not a file: name a script`);
  process.exitCode = (await ended(scriptArguments(file, ...args))) ?? 1;
}
