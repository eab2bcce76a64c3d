/** What the daemon and the thread of the alerts send each other. */
import { z } from 'zod';
import type { AlertsConfig } from '../config/alerts.ts';
import { alertLevels } from './routes.ts';
import type { AlertSecrets } from './secrets.ts';

/** What a configuration says about alerts, and the secrets of its channels. */
export interface AlertsGiven {
  readonly config: AlertsConfig;
  readonly secrets: AlertSecrets;
  /** Texts that no message may contain. */
  readonly redacted: readonly string[];
}

const level = z.enum(alertLevels);

const alarm = z.strictObject({
  id: z.int(),
  /** By the exchange's clock, UTC ms. */
  time: z.number(),
  level,
  text: z.string(),
});
/** An alarm that nobody has acknowledged. */
export type Alarm = z.output<typeof alarm>;

export const toThread = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('alert'),
    alert: z.strictObject({
      kind: z.string(),
      level,
      time: z.number(),
      text: z.string(),
      resumesAll: z.boolean().optional(),
      isOfStart: z.boolean().optional(),
    }),
  }),
  /** A start finished. */
  z.strictObject({ kind: z.literal('cameUp') }),
  /** All is well. */
  z.strictObject({ kind: z.literal('well') }),
  /** `alarm` undefined: all of them. */
  z.strictObject({ kind: z.literal('acknowledge'), request: z.int(), alarm: z.int().optional(), by: z.string() }),
  /** Other channels, routes and secrets. They were checked when they were read. */
  z.strictObject({ kind: z.literal('configure'), given: z.custom<AlertsGiven>((given) => typeof given === 'object') }),
  z.strictObject({ kind: z.literal('end') }),
]);
export type ToThread = z.output<typeof toThread>;

export const fromThread = z.discriminatedUnion('kind', [
  /** Those that are open, whenever they change. */
  z.strictObject({ kind: z.literal('alarms'), alarms: z.array(alarm) }),
  z.strictObject({ kind: z.literal('acknowledged'), request: z.int(), count: z.int() }),
  z.strictObject({ kind: z.literal('notice'), level, text: z.string() }),
]);
export type FromThread = z.output<typeof fromThread>;
