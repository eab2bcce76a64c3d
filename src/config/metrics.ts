/** The `metrics` of a configuration: where a daemon answers /health, /ready and /metrics. */
import { z } from 'zod';

export const metrics = z.strictObject({
  port: z.int().min(0).max(65_535).default(9_464),
  /** The address to listen on. On one that is not of this machine, `/metrics` needs a token. */
  host: z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address, such as 127.0.0.1' }).default('127.0.0.1'),
  /** Names by which others call it, beside IP addresses and localhost: a page of a foreign site cannot have one of them. */
  names: z
    .array(
      z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a host name in lower case, without a port'),
    )
    .default([]),
});
export type MetricsConfig = z.output<typeof metrics>;
