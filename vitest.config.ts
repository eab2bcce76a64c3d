import { defineConfig } from 'vitest/config';

export default defineConfig({
  // `import … from 'sluice'` means the sources, as for tsc.
  ssr: { resolve: { conditions: ['sluice-source', 'module', 'node', 'development|production'] } },
  test: {
    include: ['src/**/*.test.ts', 'strategies/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/kit/one-folder.ts',
    // They end what hangs, and are far above what a busy machine takes; no test sets a shorter one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // On two cores: a third of the time tests of whole programs wait for one another's sockets and files.
    maxWorkers: 3,
  },
});
