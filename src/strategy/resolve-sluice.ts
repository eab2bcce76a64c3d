/** Resolves `import … from 'sluice'` to this program, in shipped strategies and in users' files anywhere on the disk. */
import { registerHooks } from 'node:module';

const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const ours = new URL('../', import.meta.url).href;
const urlOf = (file: string): string => `${ours}${file}${ending}`;

/** The exports of package.json: the sources in the clone, `dist/` in the package. */
const entries: ReadonlyMap<string, string> = new Map([
  ['sluice', urlOf('index')],
  ['sluice/testing', urlOf('testing')],
  ['sluice/simulator', urlOf('simulator/entry')],
]);

/** Numbers the loads of a file: Node keeps a module for each address and cannot forget one. */
const loadKey = 'sluice-load';
let loads = 0;

/** The address at which a file is loaded anew, with all files that it imports by relative paths. */
export const anew = (url: string): string => `${url}?${loadKey}=${++loads}`;

/** What numbers the load of a module, which those that it imports share. */
const loadOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : new RegExp(`\\?${loadKey}=\\d+$`).exec(url)?.[0];

/** Packages and this program itself stay as they are. */
const isLocal = (specifier: string, url: string): boolean =>
  /^\.{1,2}\//.test(specifier) && url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(ours);

let isRegistered = false;

/** Registers the resolution in this thread. So a user's file needs no node_modules, and the clone needs no build. */
export function resolveSluice(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = entries.get(specifier);
      if (url !== undefined) return { url, shortCircuit: true };
      const found = next(specifier, context);
      const load = context.conditions.includes('import') ? loadOf(context.parentURL) : undefined;
      return load === undefined || !isLocal(specifier, found.url) ? found : { ...found, url: `${found.url}${load}` };
    },
  });
}
