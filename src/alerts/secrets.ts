/** The one secret of each channel: an address with its token, or a bot's token. And the address of the ping. */

import type { AlertsConfig, ChannelConfig } from '../config/alerts.ts';
import { isLoopback } from '../config/schema.ts';
import { readVariables } from '../config/secrets.ts';
import { Refusal } from '../domain/refusal.ts';

/** `phone` → `SLUICE_ALERT_PHONE`. */
const secretName = (channel: string): string => `SLUICE_ALERT_${channel.toUpperCase().replaceAll('-', '_')}`;

const web = ['https:', 'http:'];
interface SecretFormat {
  readonly text: string;
  /** Of an address, the encrypted one first; undefined for a token. */
  readonly protocols: readonly string[] | undefined;
}
const wantedOf: Readonly<Record<ChannelConfig['type'], SecretFormat>> = {
  telegram: { text: 'the token of the bot', protocols: undefined },
  slack: { text: 'the address of the incoming webhook', protocols: web },
  discord: { text: 'the address of the webhook', protocols: web },
  ntfy: { text: 'the address with the topic', protocols: web },
  webhook: { text: 'the address', protocols: web },
  email: { text: 'the address of the mail server, smtps://USER:PASSWORD@HOST:465', protocols: ['smtps:', 'smtp:'] },
};

export interface AlertSecrets {
  /** By channel. */
  readonly channels: ReadonlyMap<string, string>;
  /** The address that learns that all is well. */
  readonly ping: string | undefined;
}

const pingName = 'SLUICE_PING_URL';
const wantedOfPing: SecretFormat = { text: 'the address to ping', protocols: web };

/** Throws a `Refusal` for a secret that is missing, or an address that is none or is not encrypted. */
export function alertSecrets(
  { channels, ping }: AlertsConfig,
  environment: Readonly<Record<string, string | undefined>>,
): AlertSecrets {
  const names = [...Object.keys(channels).map(secretName), ...(ping === undefined ? [] : [pingName])];
  const given = readVariables(names, environment);
  return {
    channels: new Map(
      Object.entries(channels).map(([name, { type }]) => {
        const variable = secretName(name);
        return [name, checked(variable, given[variable], wantedOf[type], ` of the channel ${name}`)];
      }),
    ),
    ping: ping === undefined ? undefined : checked(pingName, given[pingName], wantedOfPing, ''),
  };
}

function checked(variable: string, secret = '', { text, protocols }: SecretFormat, ofWhat: string): string {
  if (secret === '')
    throw new Refusal(`${variable} is not set: put ${text}${ofWhat} into the environment or into .env (chmod 600)`);
  if (protocols !== undefined) {
    const { protocol = '' } = URL.canParse(secret) ? new URL(secret) : {};
    const isEncrypted = protocol === protocols[0] || (protocol !== '' && isLoopback(secret));
    if (!protocols.includes(protocol) || !isEncrypted)
      throw new Refusal(`${variable} must be ${text}, which begins with ${protocols[0]}//`);
  } else if (!/^[\x21-\x7e]+$/.test(secret))
    throw new Refusal(`${variable} holds a space or a character that no token has: copy it again`);
  return secret;
}
