import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'strategies/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/kit/one-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
