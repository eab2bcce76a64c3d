import { createHash } from 'node:crypto';
import type { TradingConfig } from './schema.ts';

/** SHA-256 of a configuration as it holds, hex. */
export const configHash = (config: TradingConfig): string =>
  createHash('sha256')
    .update(JSON.stringify(config, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
    .digest('hex');
