import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'strategies/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/kit/one-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // On two cores: a third of the time tests of whole programs wait for one another's sockets and files.
    maxWorkers: 3,
  },
});
