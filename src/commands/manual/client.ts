/** The exchange as a command reaches it: one client, the same limits and bans as a daemon at the same address, no state. */
import { join } from 'node:path';
import { budget } from '../../budget/budget.ts';
import { accountName, sharedFile, sharedFilePath, userOf, userState } from '../../budget/shared-file.ts';
import { ScaledClock, systemRng } from '../../clock/clock.ts';
import { readConfig } from '../../config/read.ts';
import { isLoopback, tradingSchema, whyNotStripped } from '../../config/schema.ts';
import { readSecrets, type Secrets } from '../../config/secrets.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Account } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Exchange, exchange } from '../../venue/exchange/exchange.ts';
import type { FrameObserver } from '../../venue/exchange/market/ws.ts';
import { codeMeaning } from '../../venue/exchange/rest/codes.ts';
import type { Answer, LimitNotice, Spend } from '../../venue/venue.ts';

/** How a user says which exchange. */
export interface WhichExchange {
  /** A configuration of a daemon; its address, account, speed and limits count. */
  readonly config?: string;
  /** The REST address alone. */
  readonly url?: string;
  /** The socket's address; left out, `/kline-api/ws` on the host of the REST address (specification §6). */
  readonly wsUrl?: string;
  /** What the gateway at the address takes from the path before it verifies signatures. */
  readonly stripPrefix?: string;
  /** Times real time that the exchange's clock runs, beside a REST address; 1 when left out. */
  readonly speed?: number;
  readonly account?: Account;
}

export interface Commanded {
  readonly json: boolean;
  /** stdout. */
  readonly out: (line: string) => void;
  /** stderr. */
  readonly say: (line: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Client {
  readonly exchange: Exchange;
  readonly clock: ScaledClock;
  readonly account: Account;
  /** host:port, for messages. */
  readonly host: string;
  /** From the exchange's list; refuses a symbol that is not on it. */
  instrument(symbol: string): Promise<Instrument>;
  close(): void;
}

export interface Place {
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly speed: number;
  readonly stripPrefix?: string | undefined;
  readonly account: Account;
  readonly limits: { readonly ipWeightPerMinute?: number; readonly uidWeightPerMinute?: number };
}

/** Real ms that a request may wait for weight or for a ban to end; a person would rather be told. */
const patienceMs = 20_000;

/** The exchange that a user means, by a configuration or an address. */
export function placeOf({ config: file, url, wsUrl, stripPrefix, speed, account }: WhichExchange): Place {
  if (file !== undefined) {
    if (url !== undefined) throw new Refusal('give --config FILE or --url URL, not both');
    if (stripPrefix !== undefined)
      throw new Refusal('--strip-prefix goes with --url; in a configuration it is exchange.stripPrefix');
    if (speed !== undefined) throw new Refusal('--speed goes with --url; in a configuration it is exchange.speed');
    const config = readConfig(file, tradingSchema);
    if (wsUrl !== undefined) refuseSocket(wsUrl);
    const said = { ...config.exchange, account: account ?? config.account, limits: config.budget };
    return wsUrl === undefined ? said : { ...said, wsUrl };
  }
  if (url === undefined)
    throw new Refusal('say which exchange: --config FILE (a configuration such as config/live.yaml) or --url URL');
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol))
    throw new Refusal(`--url ${url}: must be an address that begins with http:// or https://`);
  if (parsed.protocol === 'http:' && !isLoopback(url))
    throw new Refusal(`--url ${url}: must be encrypted (https://) unless it is on this machine`);
  const against = stripPrefix === undefined ? undefined : whyNotStripped(url, stripPrefix);
  if (against !== undefined) throw new Refusal(`--strip-prefix ${against}`);
  if (wsUrl !== undefined) refuseSocket(wsUrl);
  const socket = wsUrl ?? `${parsed.protocol === 'https:' ? 'wss' : 'ws'}://${parsed.host}/kline-api/ws`;
  return { restUrl: url, wsUrl: socket, speed: speed ?? 1, stripPrefix, account: account ?? 'spot', limits: {} };
}

function refuseSocket(wsUrl: string): void {
  const protocol = URL.canParse(wsUrl) ? new URL(wsUrl).protocol : undefined;
  if (protocol !== 'ws:' && protocol !== 'wss:')
    throw new Refusal(`--ws-url ${wsUrl}: must be an address that begins with ws:// or wss://`);
  if (protocol === 'ws:' && !isLoopback(wsUrl))
    throw new Refusal(`--ws-url ${wsUrl}: must be encrypted (wss://) unless it is on this machine`);
}

/** A folder of a program's own, the same in whatever directory it is run. */
export const ownFolder = (environment: Commanded['environment'], name: string): string =>
  join(userState(environment), name);

export interface Allowance {
  readonly spend: Spend;
  readonly notice: (notice: LimitNotice) => void;
  readonly uidSeen: (uid: string) => void;
  close(): void;
}

/** The budget of a command, shared with every other process of this machine at the same address; refuses while a ban is in force. */
export function allowance(
  place: Place,
  clock: ScaledClock,
  { say, environment }: Commanded,
  apiKey?: string,
): Allowance {
  const { host } = new URL(place.restUrl);
  const warn = (facts: object, message: string): void => say(`${message} ${JSON.stringify(facts)}`);
  const shared = sharedFile({ path: sharedFilePath(environment), address: host, clock, isOneOff: true, warn });
  const limits = budget({ clock, shared, user: userOf(apiKey), ...place.limits });
  const { stoppedUntil } = limits.meter();
  if (stoppedUntil !== undefined && stoppedUntil - clock.now() > clock.machine(patienceMs)) {
    limits.close();
    const until = new Date(stoppedUntil).toISOString();
    throw new Refusal(
      `the exchange at ${host} ordered this address to send nothing before ${until}: wait until then`,
      3,
    );
  }
  return {
    spend: (lane, cost, until) => limits.spend(lane, cost, until ?? clock.now() + clock.machine(patienceMs)),
    notice: limits.notice,
    uidSeen: (uid) => limits.identify(accountName(uid)),
    close: () => limits.close(),
  };
}

/** Reaches nothing yet unless it signs: then the clock is set by the exchange's first. */
export async function openClient(
  which: WhichExchange,
  command: Commanded,
  signs: boolean,
  heard?: FrameObserver,
): Promise<Client> {
  const place = placeOf(which);
  const secrets: Secrets | undefined = signs ? readSecrets(command.environment) : undefined;
  const clock = new ScaledClock(place.speed);
  const limits = allowance(place, clock, command, secrets?.apiKey);
  const warn = (facts: object, message: string): void => command.say(`${message} ${JSON.stringify(facts)}`);
  const x = exchange({
    ...place,
    apiKey: secrets?.apiKey ?? '',
    apiSecret: secrets?.apiSecret,
    clock,
    rng: systemRng,
    spend: limits.spend,
    notice: limits.notice,
    uidSeen: limits.uidSeen,
    log: { warn, info: () => {}, debug: () => {} },
    observeFrames: heard,
  });
  const { host } = new URL(place.restUrl);
  const close = (): void => {
    x.close();
    limits.close();
  };
  const client: Client = {
    exchange: x,
    clock,
    account: place.account,
    host,
    async instrument(symbol) {
      const wanted = symbol.replace('/', '').toUpperCase();
      const known = answered(await x.instruments(), client);
      const found = known.find((one) => one.symbol === wanted);
      if (found === undefined)
        throw new Refusal(
          `the exchange at ${host} lists no symbol ${wanted}: sluice market symbols shows those it has`,
        );
      return found;
    },
    close,
  };
  if (!signs) return client;
  try {
    answered(await x.syncTime(), client);
    return client;
  } catch (error) {
    close();
    throw error;
  }
}

/** Opens a client, does something with it, and closes it whatever happens. */
export async function withClient<T>(
  which: WhichExchange,
  command: Commanded,
  signs: boolean,
  act: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await openClient(which, command, signs);
  try {
    return await act(client);
  } finally {
    client.close();
  }
}

/** The value of an answer, or the refusal that tells what the exchange said and what to do. */
export function answered<T>(answer: Answer<T>, { host }: Pick<Client, 'host'>): T {
  if (answer.kind === 'ok') return answer.value;
  throw refused(host, answer.cause, answer.code);
}

/** Code, its meaning and what to do. */
export function refused(host: string, cause: string, code: string | undefined): Refusal {
  const meaning = code === undefined ? undefined : codeMeaning(code);
  const words =
    meaning !== undefined
      ? `\n  it means: ${meaning.means}\n  what to do: ${meaning.advice}`
      : code === undefined
        ? ''
        : '\n  nothing more is known about this code; its message is all there is';
  return new Refusal(`the exchange at ${host}: ${cause}${words}`, 1);
}
