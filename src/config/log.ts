/** The `log` of a configuration: how lines look, and when the file is rotated. */
import { z } from 'zod';

export const log = z
  .strictObject({
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
