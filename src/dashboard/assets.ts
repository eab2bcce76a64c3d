/** The page's files, read once at start: no request reads from the disk. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../domain/module-url.ts';
import { Refusal } from '../domain/refusal.ts';

export interface Asset {
  readonly type: string;
  readonly body: string;
}
export interface Assets {
  /** By path, such as `/page/main.ts`. */
  readonly files: ReadonlyMap<string, Asset>;
  /** Module names to paths. */
  readonly imports: Readonly<Record<string, string>>;
  /** The path of the first module of a daemon's page. */
  readonly entry: string;
  /** Of the page of all daemons of a machine. */
  readonly machineEntry: string;
  /** CSP sources of style elements that a library makes by itself. */
  readonly styleHashes: readonly string[];
}

/** What the thread answers: the files, or what is not installed, because the class of a refusal is lost between threads. */
export type LoadedAssets = { readonly assets: Assets } | { readonly refused: string };

interface Library {
  readonly name: string;
  readonly file: string;
  /** The library whose own dependency it is, where ours does not name it. */
  readonly of?: string;
}

/** Every module that the page may import by name. */
const libraries: readonly Library[] = [
  { name: 'preact', file: 'preact/dist/preact.mjs' },
  { name: 'preact/hooks', file: 'preact/hooks/dist/hooks.mjs' },
  { name: 'htm', file: 'htm/dist/htm.mjs' },
  { name: 'htm/preact', file: 'htm/preact/index.mjs' },
  { name: '@preact/signals', file: '@preact/signals/dist/signals.mjs' },
  { name: '@preact/signals-core', file: '@preact/signals-core/dist/signals-core.mjs', of: '@preact/signals' },
  { name: 'lightweight-charts', file: 'lightweight-charts/dist/lightweight-charts.standalone.production.mjs' },
];

/** In the order in which they apply. */
export const styleSheets: readonly string[] = [
  '/page/theme.css',
  '/page/panels.css',
  '/page/workspace.css',
  '/page/layout.css',
  '/page/narrow.css',
  '/page/machine/machine.css',
];

const javascript = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';

/** The path of a package's file. `exports` maps hide these files from `require.resolve`, so this searches the parent folders. */
export function installed(file: string, from: string): string {
  const folders = createRequire(from).resolve.paths(file) ?? [];
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
  if (found === undefined) throw new Refusal(`the dashboard needs ${file}, which is not installed: run npm ci`, 1);
  return found;
}

const locate = ({ file, of }: Library): string => {
  const own = import.meta.url;
  return installed(file, of === undefined ? own : createRequire(own).resolve(of));
};

/** A source map of a library would be one more request that nothing answers. */
const withoutSourceMap = (source: string): string => source.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n');

/**
 * Types taken out by Node itself, so that the page needs no build step. Node warns once that the function is experimental;
 * that is about us, not about the user's terminal, so this one warning is kept from it (we run on a pinned Node).
 */
export function stripped(source: string): string {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' });
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** How a strict CSP names a script or style that it allows. */
export const cspHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** lightweight-charts styles its attribution logo with a style element of its own, which a strict CSP allows by its hash. */
export function logoStyle(source: string): string[] {
  const style = /="(a#tv-attr-logo\{[^"]*)"/.exec(source)?.[1];
  return style === undefined ? [] : [cspHash(style)];
}

function pageModules(folder: string): [string, Asset][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(ts|js)$/.test(name) && !/\.(d|test)\.ts$/.test(name))
    .map((name) => {
      const source = readFileSync(join(folder, name), 'utf8');
      return [`/page/${name}`, { type: javascript, body: name.endsWith('.ts') ? stripped(source) : source }];
    });
}

/** Reads everything that the page is made of; throws a `Refusal` when the installation is incomplete. */
export function loadAssets(): Assets {
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'page');
  const sources = libraries.map((library) => ({
    ...library,
    path: `/lib/${library.name}.js`,
    source: withoutSourceMap(readFileSync(locate(library), 'utf8')),
  }));
  const files = new Map<string, Asset>(pageModules(folder));
  for (const { path, source } of sources) files.set(path, { type: javascript, body: source });
  for (const path of styleSheets)
    files.set(path, { type: css, body: readFileSync(join(folder, path.slice('/page/'.length)), 'utf8') });
  const moduleAt = (path: string): string => `${path}${files.has(`${path}.ts`) ? '.ts' : '.js'}`;
  return {
    files,
    imports: Object.fromEntries(sources.map(({ name, path }) => [name, path])),
    entry: moduleAt('/page/main'),
    machineEntry: moduleAt('/page/machine/main'),
    styleHashes: sources.flatMap(({ source }) => logoStyle(source)),
  };
}

/** The same for a program that runs for days: in a thread of its own, whose memory is freed when it ends. */
export async function loadAssetsInThread(): Promise<Assets> {
  const loaded = await new Promise<LoadedAssets>((resolve, reject) => {
    const thread = new Worker(moduleUrl('./assets-thread', import.meta.url));
    thread.once('message', resolve).once('error', reject);
  });
  if ('refused' in loaded) throw new Refusal(loaded.refused, 1);
  return loaded.assets;
}
