/** Live trading: the exchange's market, the exchange's fills. */
import { createHash } from 'node:crypto';
import { rate } from '../domain/money.ts';
import type { SessionOptions, StartOptions } from './options.ts';
import { startOpening } from './preflight/open-state.ts';
import type { Session } from './session.ts';

/** The exchange publishes no rates; unset, 0.20 % is assumed. */
const assumedFee = rate('0.002');

/** The account's name in the journal: where it is, and which key; not the key. */
export const venueNameOf = (restUrl: string, apiKey: string): string =>
  `${new URL(restUrl).hostname}/${createHash('sha256').update(apiKey).digest('hex').slice(0, 12)}`;

export type LiveOptions = StartOptions & {
  readonly secrets: NonNullable<SessionOptions['secrets']>;
};

export async function startLive(options: LiveOptions): Promise<Session> {
  const named = { ...options, venueName: venueNameOf(options.config.exchange.restUrl, options.secrets.apiKey) };
  const opening = startOpening(named);
  // Loaded only now: a large journal is examined meanwhile.
  const { startSession } = await import('./session.ts');
  return startSession({
    ...named,
    opening,
    makeVenue: ({ exchange }) => ({
      orders: exchange.orders,
      feeInBase: options.config.fees.taker ?? assumedFee,
    }),
  });
}
