/** Resolves `import … from 'sluice'` to this program, in shipped strategies and in users' files anywhere on the disk. */
import { registerHooks } from 'node:module';

const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const urlOf = (file: string): string => new URL(`../${file}${ending}`, import.meta.url).href;

/** The exports of package.json: the sources in the clone, `dist/` in the package. */
const entries: ReadonlyMap<string, string> = new Map([
  ['sluice', urlOf('index')],
  ['sluice/testing', urlOf('testing')],
  ['sluice/simulator', urlOf('simulator/entry')],
]);

let isRegistered = false;

/** Registers the resolution in this thread. So a user's file needs no node_modules, and the clone needs no build. */
export function resolveSluice(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = entries.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}
