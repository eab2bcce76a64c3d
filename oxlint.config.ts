/** The linter: its rules, and who may import whom ("Folders" in ARCHITECTURE.md), folder by folder. Types count as imports. */

export interface Arrows {
  /** The folder's own files, where they are not everything below its name. */
  readonly files?: readonly string[];
  /** Folders, or single files of them, whose values and types it may import. */
  readonly ours: readonly string[];
  /** Folders of which it may import types only: nothing of them runs when it runs. */
  readonly types?: readonly string[];
  /** Folders that it may load while it runs, by `import()`. */
  readonly lazily?: readonly string[];
  /** Packages; `node:*` is every module of Node, `**` everything. */
  readonly packages: readonly string[];
}

const parts = ['domain', 'clock', 'strategy', 'portfolio', 'risk', 'budget', 'execution', 'journal', 'venue', 'fill'];
const venues = ['venue/exchange', 'venue/paper', 'venue/recorded'];
const everything = [
  ...parts,
  ...venues,
  ...['simulator', 'data', 'dashboard', 'config', 'research', 'report', 'trader', 'registry', 'process', 'trading'],
  ...['session', 'backtest', 'alerts', 'books', 'archive', 'comparison'],
];

/** An arrow that is not here is refused. A new one is a decision: add it here with the reason in the commit. */
export const arrows: Readonly<Record<string, Arrows>> = {
  domain: { ours: [], packages: ['decimal.js', 'node:crypto'] },
  // It measures how late the event loop turns, too.
  clock: { ours: [], packages: ['node:perf_hooks'] },
  strategy: { ours: ['domain'], packages: ['rxjs', 'croner', 'node:*'] },
  // A shipped strategy sees what a user's own sees: 'sluice'.
  strategies: { files: ['strategies/*/**'], ours: ['index', 'src/strategy/params.ts'], packages: ['rxjs', 'sluice'] },
  registry: {
    files: ['strategies/registry.ts'],
    ours: ['src/strategy/resolve-sluice.ts'],
    types: ['strategy'],
    lazily: ['strategies'],
    packages: [],
  },
  portfolio: { ours: ['domain', 'clock'], packages: [] },
  // Rules judge an order against the portfolio; neither ever sees a venue.
  risk: { ours: ['domain', 'clock', 'portfolio'], packages: [] },
  // The file that processes share is SQLite, for its lock between them.
  budget: { ours: ['domain', 'clock'], types: ['venue'], packages: ['better-sqlite3', 'node:*'] },
  fill: { ours: ['domain', 'clock'], packages: [] },
  journal: { ours: ['domain', 'clock'], packages: ['better-sqlite3', 'node:*'] },
  // Profit, tax layouts and proofs, from rows alone.
  books: { ours: ['domain', 'journal'], packages: ['better-sqlite3'] },
  // Moves old rows of a journal to Parquet, and reads them back.
  archive: { ours: ['domain', 'clock', 'journal', 'data'], packages: ['better-sqlite3', 'node:*'] },
  venue: { files: ['src/venue/*'], ours: ['domain', 'clock'], packages: ['rxjs'] },
  execution: { ours: ['domain', 'clock', 'budget', 'venue', 'journal', 'portfolio'], packages: ['rxjs', 'node:*'] },
  'venue/exchange': { ours: ['venue', 'domain', 'clock'], packages: ['rxjs', 'got', 'ws', 'zod', 'node:*'] },
  'venue/paper': { ours: ['venue', 'domain', 'clock', 'fill'], packages: ['rxjs', 'node:crypto'] },
  'venue/recorded': { ours: ['venue', 'domain', 'clock'], packages: ['rxjs'] },
  // The other side of the wire: a second reading of the specification, never the client's.
  simulator: { ours: ['domain', 'clock', 'fill'], packages: ['ws', 'zod', 'better-sqlite3', 'node:*'] },
  data: {
    ours: ['domain', 'clock'],
    packages: ['@duckdb/node-api', '@duckdb/node-bindings', 'better-sqlite3', 'xz-decompress', 'zod', 'node:*'],
  },
  research: { ours: ['domain', 'clock'], packages: [] },
  // One file that needs nothing else: what is drawn, never what is traded on.
  report: {
    files: ['src/report/*'],
    ours: ['domain', 'clock', 'research', 'src/dashboard/assets.ts'],
    packages: ['node:*'],
  },
  // Runs in the browser, put together as one script by report/page.ts.
  'report/page': {
    ours: ['src/dashboard/page/charts/kline-chart.ts', 'src/dashboard/page/charts/price-like.ts'],
    types: ['report'],
    packages: ['lightweight-charts'],
  },
  // Live results beside the saved backtest of the same strategy.
  comparison: {
    ours: ['domain', 'config', 'strategy', 'journal', 'research', 'report', 'backtest'],
    types: ['dashboard'],
    packages: ['node:*'],
  },
  config: { ours: ['domain'], packages: ['dotenv', 'yaml', 'zod', 'node:*'] },
  // Sends events to people, in a thread of its own: it sees no order and no exchange.
  alerts: { ours: ['domain', 'clock', 'config'], packages: ['got', 'nodemailer', 'better-sqlite3', 'zod', 'node:*'] },
  dashboard: {
    files: ['src/dashboard/*', 'src/dashboard/machine/**'],
    ours: ['domain', 'clock'],
    packages: ['fastify', '@fastify/websocket', 'ws', 'zod', 'node:*'],
  },
  // Runs in the browser: only types cross, and the libraries that dashboard/assets.ts serves.
  'dashboard/page': {
    ours: [],
    types: ['dashboard', 'domain'],
    packages: ['preact', 'htm', '@preact/signals', 'lightweight-charts'],
  },
  trader: { files: ['src/trader.ts'], ours: [], types: ['domain', 'portfolio'], packages: ['rxjs'] },
  // The process itself: its signals, and a thread that ends it when a strategy keeps it busy.
  process: { ours: ['domain', 'clock', 'src/strategy/fault.ts'], packages: ['node:*'] },
  // Assembles a trader from its components, the same way for every mode.
  trading: {
    ours: [...parts.filter((one) => one !== 'fill'), 'config', 'trader', 'registry', 'process'],
    packages: ['rxjs', 'node:*'],
  },
  // The daemon. It never imports a backtest: commands pass one in where it is needed.
  session: {
    ours: [
      ...parts,
      'alerts',
      'books',
      'config',
      'data',
      'venue/exchange',
      'venue/paper',
      'dashboard',
      'trader',
      'trading',
      'process',
    ],
    packages: ['**'],
  },
  backtest: {
    ours: [
      ...parts.filter((one) => one !== 'budget'),
      ...['config', 'data', 'research', 'venue/recorded', 'venue/paper', 'src/venue/exchange/rest/endpoints.ts'],
      ...['report', 'trader', 'trading', 'process'],
    ],
    packages: ['**'],
  },
  // Options, output, tables and questions of a program on a terminal.
  terminal: { ours: ['domain', 'config', 'process'], packages: ['commander', 'node:*'] },
  // How programs beside the daemon reach the exchange, under the limits that all of them share.
  client: { ours: ['domain', 'clock', 'config', 'budget', 'venue', 'venue/exchange'], packages: ['node:*'] },
  // Parse options, call, print. No trading logic.
  commands: { ours: [...everything, 'client', 'terminal'], packages: ['**'] },
  // A program of its own, with its own key. Nothing imports it, so a daemon cannot apply for a withdrawal.
  withdraw: {
    ours: ['client', 'terminal', 'process', 'budget', 'venue', 'venue/exchange', 'domain', 'clock', 'config'],
    packages: ['commander', 'better-sqlite3', 'node:*'],
  },
  // A process of its own beside the daemon, with a key of its own.
  watchdog: { ours: ['client', 'session', 'venue', 'journal', 'config', 'domain', 'clock'], packages: ['node:*'] },
  main: {
    files: ['src/main.ts'],
    ours: ['commands', 'process', 'session', 'terminal', 'watchdog'],
    packages: ['commander', 'node:*'],
  },
  index: {
    files: ['src/index.ts'],
    ours: ['domain', 'strategy'],
    types: ['research', 'backtest'],
    lazily: ['backtest'],
    packages: [],
  },
  testing: { files: ['src/testing.ts'], ours: ['domain', 'strategy'], packages: [] },
  'the root': { files: ['oxlint.config.ts', 'vitest.config.ts'], ours: [], packages: ['vitest'] },
  bin: { files: ['bin/**'], ours: [], packages: ['node:*'] },
  // The slow second implementation, which must not share a line with the first.
  'test/reference': { files: ['test/reference/**'], ours: [], packages: ['decimal.js', 'node:*'] },
  // Written from the specification alone, for any exchange and as any stranger would: not a line of ours.
  'test/conformance': { files: ['test/conformance/**'], ours: [], packages: ['ws', 'node:*'] },
  'test/third-party': { files: ['test/third-party/**'], ours: [], packages: ['ws', 'node:*'] },
  test: {
    files: ['test/*', 'test/{backtest,cli,indicators,kit,libraries,pages,session,simulator,tidy,torture,world}/**'],
    ours: [
      ...everything,
      'client',
      'commands',
      'terminal',
      'withdraw',
      'index',
      'strategies',
      'dashboard/page',
      'test/*',
      'oxlint.config.ts',
    ],
    packages: ['**'],
  },
  bench: {
    files: ['bench/**'],
    ours: [...everything, 'client', 'commands', 'terminal', 'index', 'strategies', 'test'],
    packages: ['**'],
  },
  scripts: { files: ['scripts/**'], ours: [...everything, 'client', 'commands', 'terminal', 'test'], packages: ['**'] },
};

const testPackages = ['vitest', '@fast-check/vitest', 'rxjs', 'ws', 'got', 'yaml', 'pino', 'node:*'];

const filesOf = (layer: string): readonly string[] => arrows[layer]?.files ?? [`src/${layer}/**`];
/** Selects the files of folders, and single files. */
const files = (names: readonly string[]): object[] =>
  names.map((one) => ({ file: one.endsWith('.ts') ? { path: `**/${one}` } : { categories: one } }));
/** Selects packages. Our own name is one, too: `sluice`. */
const modules = (names: readonly string[]): object[] => [{ module: { source: names, origin: ['external', 'core'] } }];
/** Layers that are written from the specification alone. */
const apart = ['test/reference', 'test/conformance', 'test/third-party'];
const madeForTests = { file: { categories: 'made for tests' } };

/** The last policy that fits decides; what none fits is refused. */
function policiesOf(layer: string, { ours, types = [], lazily = [], packages }: Arrows): object[] {
  const from = { file: { categories: layer } };
  const fromTests = { file: { categories: { allOf: [layer, 'made for tests'] } } };
  return [
    { from, allow: { to: [...files([layer, ...ours]), ...modules(packages)] } },
    ...(types.length > 0 ? [{ from, allow: { to: files(types), dependency: { kind: 'type' } } }] : []),
    ...(lazily.length > 0 ? [{ from, allow: { to: files(lazily), dependency: { nodeKind: 'dynamic-import' } } }] : []),
    { from, disallow: { to: madeForTests } },
    { from: fromTests, allow: { to: [...files([layer, ...ours, ...types]), ...modules(testPackages)] } },
    // A script may be the long form of a test. What is written apart shares nothing with us, not even the kit.
    ...(ours.includes('test') ? [{ from, allow: { to: files(['test']) } }] : []),
    ...(apart.includes(layer) ? [] : [{ from: fromTests, allow: { to: files(['test/kit', 'test/world']) } }]),
  ];
}

export default {
  plugins: ['typescript', 'import', 'promise'],
  jsPlugins: ['eslint-plugin-boundaries'],
  categories: { correctness: 'error' },
  settings: {
    'boundaries/files': [
      ...Object.keys(arrows).map((layer) => ({ category: layer, pattern: filesOf(layer) })),
      { category: 'test/kit', pattern: 'test/kit/**' },
      { category: 'test/world', pattern: 'test/world/**' },
      {
        category: 'made for tests',
        pattern: ['**/*.test.ts', '**/{,*-}{builder,builders}.ts', ...['test', ...apart].flatMap(filesOf)],
      },
    ],
    'boundaries/dependency-nodes': ['import', 'dynamic-import', 'export', 'require'],
    'boundaries/additional-dependency-nodes': [{ selector: 'TSImportType > Literal', kind: 'type', name: 'import()' }],
    'import/resolver': { node: { extensions: ['.ts', '.js'] } },
  },
  rules: {
    'boundaries/no-unknown-files': 'error',
    // An import that is put together at run time escapes all of these rules.
    'import/no-dynamic-require': ['error', { esmodule: true }],
    // What is loaded lazily is no circle.
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/ban-ts-comment': ['error', { 'ts-expect-error': true }],
    'typescript/consistent-type-assertions': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
  },
  overrides: [
    ...Object.entries(arrows).map(([layer, its]) => ({
      files: filesOf(layer),
      rules: {
        'boundaries/dependencies': [
          'error',
          { default: 'disallow', checkAllOrigins: true, checkUnknownLocals: true, policies: policiesOf(layer, its) },
        ],
      },
    })),
    // They import what they are told at run time: a user's own strategy, and the sources or what was built from them.
    { files: ['src/strategy/load.ts', 'bin/launch.js'], rules: { 'import/no-dynamic-require': 'off' } },
  ],
  ignorePatterns: ['dist', 'node_modules', 'var'],
};
