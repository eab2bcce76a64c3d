/** Who may import whom: `architecture.md`, "Who may import whom", arrow by arrow. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Breach, breach, type Import, isTest, type Rule, root, type Source, sourceOf } from './source.ts';

interface Layer {
  /** Layers, or single files of them, whose values and types it may import. */
  readonly ours: readonly string[];
  /** Layers of which it may import types only: nothing of them runs when it runs. */
  readonly types?: readonly string[];
  /** Layers that it may load while it runs, by `import()`. */
  readonly lazily?: readonly string[];
  /** Packages; `node:*` is every module of Node. */
  readonly packages: readonly string[];
}

const everything = [
  ...[
    'domain',
    'clock',
    'strategy',
    'portfolio',
    'risk',
    'budget',
    'execution',
    'fill',
    'simulator',
    'data',
    'journal',
  ],
  ...[
    'dashboard',
    'config',
    'venue',
    'venue/exchange',
    'venue/paper',
    'venue/recorded',
    'research',
    'report',
    'trader',
    'registry',
  ],
];

/** An arrow that is not here is refused. A new one is a decision: add it here with the reason in the commit. */
export const arrows: Readonly<Record<string, Layer>> = {
  domain: { ours: [], packages: ['decimal.js', 'node:crypto'] },
  clock: { ours: [], packages: [] },
  strategy: { ours: ['domain'], packages: ['rxjs', 'node:*'] },
  // A shipped strategy sees what a user's own sees: 'sluice'.
  strategies: { ours: ['index', 'strategy/params.ts'], packages: ['rxjs'] },
  registry: { ours: ['strategy/resolve-sluice.ts'], types: ['strategy'], lazily: ['strategies'], packages: [] },
  portfolio: { ours: ['domain', 'clock'], packages: [] },
  // Rules judge an order against the portfolio; neither ever sees a venue.
  risk: { ours: ['domain', 'clock', 'portfolio'], packages: [] },
  // The file that processes share is SQLite, for its lock between them.
  budget: { ours: ['domain', 'clock'], types: ['venue'], packages: ['better-sqlite3', 'node:*'] },
  fill: { ours: ['domain', 'clock'], packages: [] },
  journal: { ours: ['domain', 'clock'], packages: ['better-sqlite3', 'node:*'] },
  venue: { ours: ['domain', 'clock'], packages: ['rxjs'] },
  execution: { ours: ['domain', 'clock', 'budget', 'venue', 'journal', 'portfolio'], packages: ['rxjs', 'node:*'] },
  'venue/exchange': { ours: ['venue', 'domain', 'clock'], packages: ['rxjs', 'got', 'ws', 'zod', 'node:*'] },
  'venue/paper': { ours: ['venue', 'domain', 'clock', 'fill'], packages: ['rxjs', 'node:crypto'] },
  'venue/recorded': { ours: ['venue', 'domain', 'clock'], packages: ['rxjs'] },
  // The other side of the wire: a second reading of the specification, never the client's.
  simulator: { ours: ['domain', 'clock', 'fill'], packages: ['ws', 'zod', 'better-sqlite3', 'node:*'] },
  // Klines that are kept and those that a strategy makes for itself have the same volumes, to the digit.
  data: {
    ours: ['domain', 'clock', 'strategy/volumes.ts'],
    packages: ['@duckdb/node-api', '@duckdb/node-bindings', 'better-sqlite3', 'xz-decompress', 'zod', 'node:*'],
  },
  research: { ours: ['domain', 'clock'], packages: [] },
  // One file that needs nothing else: what is drawn, never what is traded on.
  report: { ours: ['domain', 'clock', 'research', 'dashboard/assets.ts'], packages: ['node:*'] },
  // Runs in the browser, put together as one script by report/page.ts.
  'report/page': { ours: [], types: ['report'], packages: ['lightweight-charts'] },
  config: { ours: ['domain'], packages: ['dotenv', 'yaml', 'zod', 'node:*'] },
  dashboard: { ours: ['domain', 'clock'], packages: ['fastify', '@fastify/websocket', 'zod', 'node:*'] },
  // Runs in the browser: only types cross, and the libraries that dashboard/assets.ts serves.
  'dashboard/page': {
    ours: [],
    types: ['dashboard', 'domain'],
    packages: ['preact', 'preact/hooks', 'htm/preact', '@preact/signals', 'lightweight-charts', 'uplot'],
  },
  trader: { ours: [], types: ['domain', 'portfolio'], packages: ['rxjs'] },
  // The process itself: its signals, and a thread that ends it when a strategy keeps it busy.
  process: { ours: ['domain', 'clock', 'strategy/fault.ts'], packages: ['node:*'] },
  // Assembles a trader from its components, the same way for every mode.
  trading: {
    ours: [
      ...['domain', 'clock', 'strategy', 'config', 'portfolio', 'risk', 'budget', 'execution', 'journal', 'venue'],
      'trader',
      'registry',
      'process',
    ],
    packages: ['rxjs', 'node:*'],
  },
  // The daemon. It never imports a backtest: commands pass one in where it is needed.
  session: {
    ours: [
      ...[
        'domain',
        'clock',
        'strategy',
        'config',
        'portfolio',
        'risk',
        'budget',
        'execution',
        'journal',
        'venue',
        'fill',
        'data',
      ],
      ...['venue/exchange', 'venue/paper', 'dashboard', 'trader', 'trading', 'process'],
    ],
    packages: ['*'],
  },
  backtest: {
    ours: [
      ...['domain', 'clock', 'strategy', 'config', 'portfolio', 'risk', 'execution', 'journal', 'venue', 'fill'],
      ...[
        'data',
        'research',
        'venue/recorded',
        'venue/paper',
        'venue/exchange/rest/endpoints.ts',
        'report',
        'trader',
        'trading',
        'process',
      ],
    ],
    packages: ['*'],
  },
  // Parse options, call, print. No trading logic.
  commands: { ours: [...everything, 'process', 'trading', 'session', 'backtest'], packages: ['*'] },
  // A program of its own, with its own key; nothing imports it (reach.ts proves it).
  withdraw: {
    ours: ['commands', 'process', 'venue', 'venue/exchange', 'domain', 'clock', 'config'],
    packages: ['commander', 'better-sqlite3', 'node:*'],
  },
  // A process of its own beside the daemon, with a key of its own.
  watchdog: {
    ours: ['commands', 'session', 'venue', 'journal', 'config', 'domain', 'clock'],
    packages: ['node:*'],
  },
  main: {
    ours: ['commands', 'process', 'session', 'watchdog', 'domain/refusal.ts'],
    packages: ['commander', 'node:*'],
  },
  index: { ours: ['domain', 'strategy', 'backtest'], types: ['research'], packages: [] },
  testing: { ours: ['domain', 'strategy'], packages: [] },
  bin: { ours: [], packages: ['node:*'] },
  // The slow second implementation, which must not share a line with the first.
  'test/reference': { ours: [], packages: ['decimal.js', 'node:*'] },
  // Written from the specification alone, for any exchange and as any stranger would: not a line of ours.
  'test/conformance': { ours: [], packages: ['ws', 'node:*'] },
  'test/third-party': { ours: [], packages: ['ws', 'node:*'] },
  test: {
    ours: [
      ...everything,
      ...['process', 'trading', 'session', 'backtest', 'commands', 'withdraw', 'index', 'strategies', 'dashboard/page'],
      ...['test/reference', 'test/conformance', 'test/third-party'],
    ],
    packages: ['*'],
  },
  bench: {
    ours: [...everything, 'trading', 'session', 'backtest', 'commands', 'index', 'strategies', 'test'],
    packages: ['*'],
  },
  scripts: { ours: [...everything, 'trading', 'session', 'backtest', 'commands', 'test'], packages: ['*'] },
};

const testPackages = ['vitest', '@fast-check/vitest', 'rxjs', 'ws', 'got', 'yaml', 'pino', 'node:*'];

/** The layer a file belongs to. */
export function layerOf(path: string): string {
  const [top = '', folder = '', deeper] = path.split('/');
  if (top === 'strategies') return folder === 'registry.ts' ? 'registry' : 'strategies';
  if (top === 'test') return Object.hasOwn(arrows, `test/${folder}`) ? `test/${folder}` : 'test';
  if (top !== 'src') return top;
  if (deeper === undefined) return folder.replace(/\.ts$/, '');
  const inner = path.split('/').length > 3 ? `${folder}/${deeper}` : folder;
  return Object.hasOwn(arrows, inner) || folder === 'venue' ? inner : folder;
}

const layerAt = (name: string): Layer => arrows[name] ?? { ours: [], packages: [] };

const isListed = (packages: readonly string[], name: string): boolean =>
  packages.includes('*') || packages.includes(name) || (packages.includes('node:*') && name.startsWith('node:'));

function packageFault(path: string, layer: string, { from }: Import): string | undefined {
  const { packages } = layerAt(layer);
  if (isListed(packages, from) || (isTest(path) && isListed(testPackages, from))) return undefined;
  return `${layer} may not import the package ${from}: use what it may (test/tidy/arrows.ts lists it), or move the code to the layer that owns it`;
}

function fileFault(path: string, layer: string, { path: target = '', typeOnly, node }: Import): string | undefined {
  const { ours, types = [], lazily = [] } = layerAt(layer);
  // A script may be the long form of a test.
  const isLongForm = layerOf(target) === 'test' && ours.includes('test');
  if (!isTest(path) && isTest(target) && !isLongForm) return `${target} is made for tests: no other code may import it`;
  const to = layerOf(target);
  if (isTest(path) && /^(test\/(kit|world)\/|src\/testing\.ts$)/.test(target) && layer !== 'test/reference')
    return undefined;
  if (to === layer || ours.includes(to) || ours.includes(target.replace(/^src\//, ''))) return undefined;
  if (lazily.includes(to))
    return node.type === 'ImportExpression'
      ? undefined
      : `${layer} may import ${to} only when it needs it: write import()`;
  if (types.includes(to))
    return typeOnly || isTest(path)
      ? undefined
      : `${layer} may import only types of ${to}: write \`import type\`, or pass the value in`;
  return `${layer} may not import ${to} (${target}): pass what it needs in, or move the type to domain/`;
}

function checkArrows(source: Source): Breach[] {
  const layer = layerOf(source.path);
  if (!Object.hasOwn(arrows, layer))
    return [`${source.path}:1 ${layer} has no arrows yet: list what it may import in test/tidy/arrows.ts`];
  return source.imports.flatMap((one) => {
    const fault = one.path === undefined ? packageFault(source.path, layer, one) : fileFault(source.path, layer, one);
    return fault === undefined ? [] : [breach(source, one.node.start, fault)];
  });
}

export const arrowRule: Rule = {
  name: 'imports follow the arrows',
  check: checkArrows,
  planted: [
    ['src/risk/rules.ts', "import type { Feed } from '../venue/venue.ts';"],
    ['src/portfolio/plan.ts', "import { exchange } from '../venue/exchange/exchange.ts';"],
    ['src/simulator/core/exchange.ts', "import { sign } from '../../venue/exchange/sign.ts';"],
    ['src/venue/exchange/market/feed.ts', "export { entry } from '../../paper/entry.ts';"],
    ['src/venue/paper/order-entry.ts', "const load = () => import('../recorded/recorded.ts');"],
    ['src/strategy/host.ts', "type Journal = import('../journal/journal.ts').Journal;"],
    ['src/trader.ts', "import { remaining } from './portfolio/portfolio.ts';"],
    ['src/main.ts', "import { lots } from './domain/money.ts';"],
    ['src/fill/rules.ts', "import got from 'got';"],
    ['src/dashboard/page/main.ts', "import { readFileSync } from 'node:fs';"],
    ['src/dashboard/page/main.ts', "import { view } from '../view-builder.ts';"],
    ['src/dashboard/dashboard.ts', "import { view } from './view-builder.ts';"],
    ['strategies/mine/index.ts', "import { journal } from '../../src/journal/journal.ts';"],
    ['strategies/mine/index.ts', "import { lots } from '../../src/domain/money.ts';"],
    ['strategies/mine/index.ts', "import { startSimulator } from 'sluice/simulator';"],
    ['src/portfolio/plan.ts', "import type { Strategy } from 'sluice';"],
    ['strategies/registry.ts', "import mine from './mine/index.ts';"],
    ['test/reference/fills.ts', "import { lots } from '../../src/domain/money.ts';"],
    ['test/conformance/http.ts', "import type { Clock } from '../../src/clock/clock.ts';"],
    ['test/third-party/client.ts', "import { send } from '../conformance/http.ts';"],
    ['src/surprise/thing.ts', 'export const one = 1;'],
  ],
  fine: [
    ['strategies/mine/index.ts', "import { defineStrategy, sma } from 'sluice';"],
    ['strategies/registry.ts', "export const mine = () => import('./mine/index.ts');"],
    ['src/trader.ts', "import type { WorkingOrder } from './portfolio/portfolio.ts';\nimport { merge } from 'rxjs';"],
    [
      'src/main.ts',
      "import { Refusal } from './domain/refusal.ts';\nimport type { Show } from './commands/show/show.ts';",
    ],
    ['src/session/live.ts', "import { exchange } from '../venue/exchange/exchange.ts';"],
    ['src/fill/golden.test.ts', "import { test } from 'vitest';\nimport { engine } from './builders.ts';"],
  ],
};

/** Every circle of imports, types included: what stands in one can be neither read nor tested alone. What is loaded when it is called stands in none. */
export function circles(sources: readonly Source[]): Breach[] {
  const targets = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ node }) => node.type !== 'ImportExpression').flatMap((one) => one.path ?? []),
    ]),
  );
  const done = new Set<string>();
  const found: Breach[] = [];
  const trail: string[] = [];
  const visit = (path: string): void => {
    const begun = trail.indexOf(path);
    if (begun >= 0) {
      const circle = [...trail.slice(begun), path].join(' -> ');
      found.push(`${path}:1 imports itself (${circle}): move what both need into a file of its own`);
    }
    if (begun >= 0 || done.has(path)) return;
    trail.push(path);
    for (const target of targets.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of targets.keys()) visit(path);
  return found;
}

/** Two files that import each other, for the proof that `circles` can fail. */
export const plantedCircle: readonly Source[] = [
  sourceOf('src/fill/a.ts', "import { b } from './b.ts';\nexport const a = b;"),
  sourceOf('src/fill/b.ts', "import type { A } from './c.ts';\nexport const b = 1;"),
  sourceOf('src/fill/c.ts', "export { a } from './a.ts';\nexport type A = 1;"),
];

export const endingRule: Rule = {
  name: 'relative imports name the file with its ending',
  check: (source) =>
    source.imports
      // What is in bin/ runs under any Node and is JavaScript.
      .filter(
        ({ path }) => path !== undefined && !(/^bin\/.*\.js$|\.(ts|json)$/.test(path) && existsSync(join(root, path))),
      )
      .map((one) => breach(source, one.node.start, `'${one.from}' is no file: write its name with .ts`)),
  planted: [
    ['src/fill/rules.ts', "import { feeOn } from './fees';"],
    ['src/fill/rules.ts', "import { feeOn } from './fees.js';"],
  ],
  fine: [['src/fill/rules.ts', "import { feeOn } from '../domain/money.ts';\nimport got from 'got';"]],
};
