/** `sluice new strategy NAME`: a strategy and its test, in a folder that `sluice init` made. Nothing is overwritten. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registry } from '../../../strategies/registry.ts';
import { home } from '../../config/shipped.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { Output } from '../../terminal/output.ts';
import { copiedTest, firstStrategy, firstTest } from './first-strategy.ts';

interface NewOptions extends Output {
  /** A shipped strategy to copy. */
  readonly from?: string;
}

/** How a configuration names it: the lines of `strategies`. */
const entryOf = (name: string): string => `  - id: ${name}
    use: ./strategies/${name}.ts
    symbol: XBTUSD
    interval: 1min`;

export async function newStrategy(name: string, { from, json, out, say }: NewOptions): Promise<void> {
  refuse(name);
  const { page, test, entry } =
    from === undefined
      ? { page: firstStrategy(name), test: firstTest(name), entry: entryOf(name) }
      : await copyOf(from, name);
  const files = [
    { path: join('strategies', `${name}.ts`), text: page },
    { path: join('strategies', `${name}.test.ts`), text: test },
  ];
  for (const { path } of files)
    if (existsSync(path))
      throw new Refusal(`${path} exists already, and nothing is overwritten: choose another name, or remove it first`);
  mkdirSync('strategies', { recursive: true });
  for (const { path, text } of files) writeFileSync(path, text, { flag: 'wx' });
  if (page.includes("from 'rxjs'") && !existsSync(join('node_modules', 'rxjs')))
    say('note: it composes streams: run npm install rxjs here first');
  if (json) out(JSON.stringify({ version: 2, files: files.map(({ path }) => path), entry }));
  else {
    out(`${files.map(({ path }) => path).join(' and ')} written. Put it under strategies: of a configuration:`);
    for (const line of entry.split('\n')) out(line);
  }
}

function refuse(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    throw new Refusal(
      `${name}: the name of a strategy must be lower-case letters, digits and dashes, at most 32, such as my-strategy`,
    );
  if (!isModuleFolder())
    throw new Refusal(
      'this folder has no package.json with "type": "module": run it in a folder that sluice init made, or make one with sluice init NAME',
    );
}

/** Without it Node would not read the strategy as a module. */
function isModuleFolder(): boolean {
  try {
    return (JSON.parse(readFileSync('package.json', 'utf8')) as { type?: unknown }).type === 'module';
  } catch {
    return false;
  }
}

/** A shipped strategy under another name, with the lines of a configuration that its README shows. */
async function copyOf(
  from: string,
  name: string,
): Promise<{ readonly page: string; readonly test: string; readonly entry: string }> {
  const names = Object.keys(registry);
  const load = Object.hasOwn(registry, from) ? registry[from as keyof typeof registry] : undefined;
  if (load === undefined)
    throw new Refusal(`--from ${from}: unknown strategy${didYouMean(from, names)}; shipped are ${names.join(', ')}`);
  const folder = join(home(), 'strategies', from);
  const page = readFileSync(join(folder, 'index.ts'), 'utf8').replace(`name: '${from}'`, `name: '${name}'`);
  const shown = /^```yaml\nstrategies:\n(.*?)^```$/ms.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
  const entry = (shown ?? entryOf(name))
    .replace(/\bid: [\w-]+/, `id: ${name}`)
    .replace(/\buse: [\w-]+/, `use: ./strategies/${name}.ts`)
    .trimEnd();
  return { page, test: copiedTest(name, (await load()).default), entry };
}
