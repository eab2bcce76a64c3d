/** fast-check as every property test takes it: the same cases each time. `FUZZ_SEED=7 npx vitest run test/backtest/reference.test.ts` draws others. */
import { fc, test } from '@fast-check/vitest';

fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 1) });

export { fc, test as property };
