/** The one secret of each channel: an address with its token, or a bot's token. */

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

/** By channel. Throws a `Refusal` for one that is missing, or an address that is none or is not encrypted. */
export function channelSecrets(
  { channels }: AlertsConfig,
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> {
  const given = readVariables(Object.keys(channels).map(secretName), environment);
  return new Map(
    Object.entries(channels).map(([name, { type }]) => {
      const variable = secretName(name);
      const secret = given[variable] ?? '';
      const wanted = wantedOf[type];
      if (secret === '')
        throw new Refusal(
          `${variable} is not set: put ${wanted.text} of the channel ${name} into the environment or into .env (chmod 600)`,
        );
      if (wanted.protocols !== undefined) {
        const { protocol = '' } = URL.canParse(secret) ? new URL(secret) : {};
        const isEncrypted = protocol === wanted.protocols[0] || (protocol !== '' && isLoopback(secret));
        if (!wanted.protocols.includes(protocol) || !isEncrypted)
          throw new Refusal(`${variable} must be ${wanted.text}, which begins with ${wanted.protocols[0]}//`);
      } else if (!/^[\x21-\x7e]+$/.test(secret))
        throw new Refusal(`${variable} holds a space or a character that no token has: copy it again`);
      return [name, secret];
    }),
  );
}
