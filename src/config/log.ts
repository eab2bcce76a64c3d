/** The `log` of a configuration: which lines are written, how they look, and when the file is rotated. */
import { z } from 'zod';

export const log = z
  .strictObject({
    /** `--log-level` overrides it. */
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    format: z.enum(['json', 'pretty']).default('json'),
    /** Largest file, MB. */
    maxMb: z.int().min(1).max(10_000).default(20),
    /** Rotated files that are kept. */
    maxFiles: z.int().min(1).max(1_000).default(20),
    /** Rotated files that are older are deleted. */
    maxDays: z.int().min(1).max(3_650).default(30),
  })
  .prefault({});
export type LogConfig = z.output<typeof log>;
