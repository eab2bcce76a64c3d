import { configDefaults, defineConfig } from 'vitest/config';

/** Whole-program tests and campaigns that take more than 5 s, of behaviour that a faster test covers in the small: `npm run test:long`. */
const long = [
  'src/commands/journal/{backup,compact}.test.ts',
  'src/data/import/endless.test.ts',
  'test/backtest/{check,check-several,determinism,grid-slow,larger-klines,mixtures}.test.ts',
  'test/cli/{catalogue,data-fetch,doctor,hang-up,record,stuck}.test.ts',
  'test/pages/{bad-day-tutorial,conformance-docs}.test.ts',
  'test/security/canary.test.ts',
  'test/session/{crash,disk,quirks,instrument-updates,outage,quarantined-trades,record-daemon}.test.ts',
  'test/session/{several-markets,silent-trades-channel,speed,time}.test.ts',
  'test/simulator/{conformance-orders,conformance-shapes,third-party}.test.ts',
  'test/torture/*.test.ts',
  'test/world/simulation.test.ts',
];

export default defineConfig({
  // `import … from 'sluice'` means the sources, as for tsc.
  ssr: { resolve: { conditions: ['sluice-source', 'module', 'node', 'development|production'] } },
  test: {
    globalSetup: 'test/kit/one-folder.ts',
    // They end what hangs, and are far above what a busy machine takes; no test sets a shorter one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // On two cores: a third of the time tests of whole programs wait for one another's sockets and files.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'short',
          include: ['{src,strategies,test}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...long],
        },
      },
      { extends: true, test: { name: 'long', include: long } },
    ],
  },
});
