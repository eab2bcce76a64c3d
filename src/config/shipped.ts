/** Files that come with the program. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds `backtests/` and `config/`: the clone, or the installed package. */
export function home(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return dir;
}

/** What offline data are traded as, unless a configuration names a file of its own. */
export const shippedInstruments = (): string => join(home(), 'config', 'instruments.yaml');

/** The version of the program. */
export const version = (): string =>
  (JSON.parse(readFileSync(join(home(), 'package.json'), 'utf8')) as { version: string }).version;
