/** The `alerts` of a configuration: channels, and which events go to which of them. Secrets are in the environment. */
import { z } from 'zod';
import { count, positiveMs, url } from './fields.ts';

/** Kinds of event that a route may name, as `live --json` has them. */
const eventKinds = [
  'fill',
  'denied',
  'rejected',
  'unknown',
  'resolved',
  'kill',
  'pause',
  'resume',
  'halt',
  'state',
  'notice',
  'summary',
] as const;

const name = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be lower case letters, digits and dashes, at most 32');
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as "22:00"');
const zone = z
  .string()
  .default('UTC')
  .refine((text) => isZone(text), 'must be a time zone such as UTC or Europe/Berlin');

function isZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Values are filled in as the inside of a string, or as a number. */
function isTemplate(text: string): boolean {
  const filled = text.replaceAll(/\{\{(text|level|time)\}\}/g, '1');
  try {
    JSON.parse(filled);
    return !filled.includes('{{');
  } catch {
    return false;
  }
}

const mail = z.string().regex(/^[^\s@<>,]+@[^\s@<>,]+$/, 'must be an e-mail address');
const web = url(['https:', 'http:']);

const channel = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('telegram'),
      /** The chat that receives them. */
      chat: z.string().regex(/^-?\d+$|^@\w+$/, 'must be the number of a chat, in quotes, or @name'),
      /** Another server of the Bot API. */
      server: web.default('https://api.telegram.org'),
      /** Chats whose commands are obeyed; left out, none. */
      commandsFrom: z
        .array(z.string().regex(/^-?\d+$/, 'must be the number of a chat, in quotes'))
        .min(1)
        .optional(),
    }),
    z.strictObject({ type: z.literal('slack') }),
    z.strictObject({ type: z.literal('discord') }),
    z.strictObject({ type: z.literal('ntfy') }),
    z.strictObject({
      type: z.literal('webhook'),
      /** The JSON to send; {{text}}, {{level}} and {{time}} are replaced. Left out: an object of these three. */
      template: z
        .string()
        .refine(isTemplate, 'must be JSON in which only {{text}}, {{level}} and {{time}} are replaced')
        .optional(),
    }),
    z.strictObject({ type: z.literal('email'), from: mail, to: z.array(mail).min(1) }),
  ],
  { error: 'type must be telegram, slack, discord, ntfy, webhook or email' },
);
export type ChannelConfig = z.output<typeof channel>;

/** Below that, an alarm is a flood. */
const minRepeatMs = 60_000;

const route = z.strictObject({
  /** This level and those above it. */
  minLevel: z.enum(['info', 'warn', 'error']),
  kinds: z.array(z.enum(eventKinds)).min(1).optional(),
  to: z.array(name).min(1),
  /** Collects alerts, and sends them as one message so often. */
  digestMs: positiveMs.optional(),
  /** Sends it again, and also to these channels, until somebody acknowledges it. */
  escalate: z
    .strictObject({
      repeatMs: positiveMs.refine((ms) => ms >= minRepeatMs, `must be ${minRepeatMs} (a minute) or more`),
      to: z.array(name).min(1),
    })
    .optional(),
});
export type RouteConfig = z.output<typeof route>;

export const alerts = z
  .strictObject({
    /** Of the daemon, at the front of each message; left out, the last part of its state directory. */
    name: z.string().trim().min(1).max(32).optional(),
    channels: z.record(name, channel, {
      error: ({ code }) =>
        code === 'invalid_key' ? 'the name of a channel must be lower case letters, digits and dashes' : undefined,
    }),
    routes: z.array(route).min(1),
    /** Alerts below `minLevel` wait until it is over. */
    quietHours: z
      .strictObject({ from: timeOfDay, to: timeOfDay, zone, minLevel: z.enum(['warn', 'error']).default('error') })
      .refine(({ from, to }) => from !== to, 'begin when they end: give another time')
      .optional(),
    /** Messages of one channel in an hour, on average; what is above it becomes one message. */
    maxPerHour: count.default(60),
    /** Each day at this time, an event of the kind `summary`. */
    summary: z.strictObject({ at: timeOfDay, zone }).optional(),
    /** Asks for an address so often while all is well, so that somebody notices silence. */
    ping: z.strictObject({ everyMs: positiveMs.default(60_000) }).optional(),
  })
  .superRefine(({ channels, routes }, context) => {
    const answering = Object.values(channels).filter((one) => one.type === 'telegram' && one.commandsFrom);
    if (answering.length > 1)
      context.addIssue({ code: 'custom', path: ['channels'], message: 'may have commandsFrom in one of them only' });
    for (const [index, { to, escalate }] of routes.entries())
      for (const [place, names] of [
        ['to', to],
        ['escalate', escalate?.to ?? []],
      ] as const)
        for (const one of names)
          if (!Object.hasOwn(channels, one))
            context.addIssue({
              code: 'custom',
              path: ['routes', index, place],
              message: `names ${one}, which is none of the channels: ${Object.keys(channels).join(', ') || 'there are none'}`,
            });
  });
export type AlertsConfig = z.output<typeof alerts>;
