/**
 * How programs beside the daemon reach the exchange: commands, the watchdog, withdrawals. In: a configuration or an address, and keys. Out: one
 * client under the limits and bans that all processes of this machine share. It keeps no state. Begin with `openClient`.
 */
import { type Budget, budget } from '../budget/budget.ts';
import { accountName, sharedFile, sharedFilePath, userOf } from '../budget/shared-file.ts';
import { ScaledClock, systemRng } from '../clock/clock.ts';
import { readConfig } from '../config/read.ts';
import { isLoopback, type TradingConfig, tradingSchema, whyNotStripped } from '../config/schema.ts';
import { readSecrets, type Secrets } from '../config/secrets.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Account } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { leftText } from '../domain/words.ts';
import { type Exchange, type ExchangeOptions, exchange } from '../venue/exchange/exchange.ts';
import { codeMeaning } from '../venue/exchange/rest/codes.ts';
import type { Answer } from '../venue/venue.ts';

/** How a user names an exchange. */
export interface ExchangeChoice {
  /** A daemon's configuration: its address, account, speed and limits. */
  readonly config?: string;
  /** The REST address, instead of a configuration. */
  readonly url?: string;
  /** The socket's address; by default `/kline-api/ws` on the host of the REST address (specification §6). */
  readonly wsUrl?: string;
  /** Path prefix that a gateway removes before it verifies signatures. */
  readonly stripPrefix?: string;
  /** Exchange seconds per real second, beside `url`; 1 by default. */
  readonly speed?: number;
  readonly account?: Account;
}

/** What every command that reaches the exchange gets. */
export interface ClientIo {
  readonly json: boolean;
  /** stdout. */
  readonly out: (line: string) => void;
  /** stderr. */
  readonly say: (line: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Address extends Pick<ExchangeOptions, 'restUrl' | 'wsUrl' | 'stripPrefix' | 'account'> {
  readonly speed: number;
  readonly limits: Partial<TradingConfig['requestWeight']>;
}

/** The address of the exchange that a user names. */
export function addressOf({ config: file, url, wsUrl, stripPrefix, speed, account }: ExchangeChoice): Address {
  if (file !== undefined) {
    if (url !== undefined) throw new Refusal('give --config FILE or --url URL, not both');
    if (stripPrefix !== undefined)
      throw new Refusal('--strip-prefix goes with --url; in a configuration it is exchange.stripPrefix');
    if (speed !== undefined) throw new Refusal('--speed goes with --url; in a configuration it is exchange.speed');
    const config = readConfig(file, tradingSchema);
    if (wsUrl !== undefined) refuseUnencrypted('ws', '--ws-url', wsUrl);
    return {
      ...config.exchange,
      account: account ?? config.account,
      limits: config.requestWeight,
      ...(wsUrl !== undefined && { wsUrl }),
    };
  }
  if (url === undefined)
    throw new Refusal('say which exchange: --config FILE (a configuration such as config/live.yaml) or --url URL');
  refuseUnencrypted('http', '--url', url);
  const against = stripPrefix === undefined ? undefined : whyNotStripped(url, stripPrefix);
  if (against !== undefined) throw new Refusal(`--strip-prefix ${against}`);
  if (wsUrl !== undefined) refuseUnencrypted('ws', '--ws-url', wsUrl);
  const { protocol, host } = new URL(url);
  const socket = wsUrl ?? `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/kline-api/ws`;
  return { restUrl: url, wsUrl: socket, speed: speed ?? 1, stripPrefix, account: account ?? 'spot', limits: {} };
}

function refuseUnencrypted(kind: 'http' | 'ws', option: string, url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== `${kind}:` && protocol !== `${kind}s:`)
    throw new Refusal(`${option} ${url}: must be an address that begins with ${kind}:// or ${kind}s://`);
  if (protocol === `${kind}:` && !isLoopback(url))
    throw new Refusal(`${option} ${url}: must be encrypted (${kind}s://) unless it is on this machine`);
}

/** Real ms that a request of a command may wait for weight or for the end of a ban. */
const patienceMs = 20_000;

/** The request budget, shared with all processes of this machine at the same address. */
export function sharedBudget(
  { restUrl, limits }: Pick<Address, 'restUrl' | 'limits'>,
  clock: ScaledClock,
  environment: ClientIo['environment'],
  { apiKey, warn = () => {}, waitMs = patienceMs }: ConnectOptions & { readonly apiKey: string | undefined },
): Budget {
  const shared = sharedFile({
    ...{ path: sharedFilePath(environment), address: new URL(restUrl).host, clock, isOneOff: true },
    warn: (facts, message) => warn(`${message} ${JSON.stringify(facts)}`),
  });
  const own = budget({ clock, shared, user: userOf(apiKey), ...limits });
  return { ...own, spend: (lane, cost, until) => own.spend(lane, cost, until ?? clock.now() + clock.machine(waitMs)) };
}

/** Refuses while the exchange forbids requests for longer than a command waits. */
export function refuseBan(
  limits: Pick<Budget, 'meter'>,
  clock: Pick<ScaledClock, 'now' | 'machine'>,
  host: string,
): void {
  const { stoppedUntil } = limits.meter();
  if (stoppedUntil === undefined || stoppedUntil - clock.now() <= clock.machine(patienceMs)) return;
  const left = leftText((stoppedUntil - clock.now()) / clock.machine(1));
  throw new Refusal(
    `the exchange at ${host} forbids requests from this address for another ${left}: wait until then`,
    3,
  );
}

export interface ConnectOptions {
  readonly warn?: (line: string) => void;
  /** Real ms that a request may wait for weight. */
  readonly waitMs?: number;
  readonly observeFrames?: ExchangeOptions['observeFrames'];
}

export interface Connection {
  readonly exchange: Exchange;
  readonly clock: ScaledClock;
  readonly limits: Budget;
  /** host:port, for messages. */
  readonly host: string;
  close(): void;
}

/** A client for an address. The first request connects it. */
export function connect(
  address: Address,
  secrets: Secrets | undefined,
  environment: ClientIo['environment'],
  options: ConnectOptions = {},
): Connection {
  const clock = new ScaledClock(address.speed);
  const limits = sharedBudget(address, clock, environment, { ...options, apiKey: secrets?.apiKey });
  const warn = (facts: object, message: string): void => options.warn?.(`${message} ${JSON.stringify(facts)}`);
  const { spend, notice } = limits;
  const made = exchange({
    ...address,
    apiKey: secrets?.apiKey ?? '',
    apiSecret: secrets?.apiSecret,
    ...{ clock, rng: systemRng, spend, notice, observeFrames: options.observeFrames },
    uidSeen: (uid) => limits.identify(accountName(uid)),
    log: { warn, info: () => {}, debug: () => {} },
  });
  return {
    ...{ exchange: made, clock, limits, host: new URL(address.restUrl).host },
    close() {
      made.close();
      limits.close();
    },
  };
}

export interface Client extends Connection {
  readonly account: Account;
  /** From the exchange's list; refuses a symbol that is not on it. */
  instrument(symbol: string): Promise<Instrument>;
}

/** A symbol as the exchange spells it: `btc/usdt` is `BTCUSDT`. */
export const spelledSymbol = (symbol: string): string => symbol.replace('/', '').toUpperCase();

/** Opens a client. One that signs first sets its clock by the exchange's. */
export async function openClient(
  choice: ExchangeChoice,
  { environment, say }: ClientIo,
  signs: boolean,
  observeFrames?: ConnectOptions['observeFrames'],
): Promise<Client> {
  const address = addressOf(choice);
  const secrets = signs ? readSecrets(environment) : undefined;
  const connection = connect(address, secrets, environment, { warn: say, observeFrames });
  const { exchange: made, clock, limits, host } = connection;
  const client: Client = {
    ...connection,
    account: address.account,
    async instrument(given) {
      const symbol = spelledSymbol(given);
      const found = okOrRefuse(await made.instruments(), client).find((one) => one.symbol === symbol);
      if (found !== undefined) return found;
      throw new Refusal(`the exchange at ${host} lists no symbol ${symbol}: sluice market symbols shows those it has`);
    },
  };
  try {
    refuseBan(limits, clock, host);
    if (signs) okOrRefuse(await made.syncTime(), client);
    return client;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens a client, uses it, and closes it whatever happens. */
export async function withClient(
  command: ExchangeChoice & ClientIo,
  signs: boolean,
  act: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await openClient(command, command, signs);
  try {
    await act(client);
  } finally {
    client.close();
  }
}

/** The value of an answer, or a refusal with the exchange's reason and advice. */
export function okOrRefuse<T>(answer: Answer<T>, { host }: Pick<Client, 'host'>): T {
  if (answer.kind === 'ok') return answer.value;
  throw exchangeRefusal(host, answer.cause, answer.code);
}

/** A refusal by the exchange: its code, what that means, and what to do. */
export function exchangeRefusal(host: string, cause: string, code: string | undefined): Refusal {
  const meaning = code === undefined ? undefined : codeMeaning(code);
  const explained =
    meaning !== undefined
      ? `\n  it means: ${meaning.means}\n  what to do: ${meaning.advice}`
      : code === undefined
        ? ''
        : '\n  nothing more is known about this code; its message is all there is';
  return new Refusal(`the exchange at ${host}: ${cause}${explained}`, 1);
}
