/** One run of the suite against one exchange: where it is, who we are there, and what was done. */
import { equal, ok } from 'node:assert/strict';
import { type Answers, answersOf, type Profile } from './answers.ts';
import { type Credentials, covered, type Reply, type Sending, Stopped, send, signedHeaders } from './http.ts';
import { msIn, rowsIn, unwrapped } from './lenient.ts';
import { mayCreate, OwnOrders } from './own-orders.ts';
import { openRules, type Rules } from './rules.ts';
import { decimal, type Fields, fields, shown, text } from './shape.ts';
import { openSocket, type Socket } from './socket.ts';
import { now, sleep } from './time.ts';

export interface Target {
  readonly url: string;
  /** Of the feed, with its path. */
  readonly wsUrl?: string;
  readonly profile: Profile;
  /** What a gateway there takes from the start of paths before it verifies signatures. */
  readonly stripPrefix?: string;
  /** The symbol to look at and trade; the first that the exchange lists when left out. */
  readonly symbol?: string;
  readonly keys?: Keys;
  /** A symbol on which nobody but the two keys trades: what depends on who is in the market is checked there. */
  readonly quiet?: string;
  /** What one order is worth, in the quote asset; what the symbol's minima ask for when left out. */
  readonly spend?: number;
  /** Where a withdrawal may be applied for. */
  readonly withdrawal?: { readonly symbol: string; readonly amount: string; readonly address: string };
  /** Local addresses to break the limits from: they end up banned. */
  readonly addresses?: readonly string[];
}

export interface Keys {
  readonly main: Credentials;
  /** Another user. */
  readonly second?: Credentials;
  /** Of the main user, and may only read. */
  readonly readOnly?: Credentials;
  /** Of the main user, and may be used from other addresses than ours only. */
  readonly elsewhere?: Credentials;
}

/** §2.1. */
export interface Instrument {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  /** The least that an order may be, in base and in quote; 0 where the exchange does not say. */
  readonly minQuantity: number;
  readonly minAmount: number;
}

export interface Signing {
  readonly as?: Credentials;
  /** ms that the timestamp is ahead of the exchange's time. */
  readonly aheadMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export interface Session {
  readonly target: Target;
  readonly answers: Answers;
  readonly rules: Rules;
  readonly own: OwnOrders;
  /** Every operation that was asked for so far: `GET /sapi/v1/ping`, `sub depth`. */
  readonly done: ReadonlySet<string>;
  /** Exchange time less ours, ms. */
  readonly offset: number;
  /** As the exchange lists it. */
  readonly busy: Instrument;
  readonly quiet: Instrument | undefined;
  readonly main: Credentials;
  readonly second: Credentials;
  get(path: string, query?: Query, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Signed: parameters go into the query or the body. */
  ask(path: string, query?: Query, signing?: Signing): Promise<Reply>;
  tell(path: string, body: object | string, signing?: Signing): Promise<Reply>;
  raw(sending: Sending): Promise<Reply>;
  /** A socket; `close` what this gives back. */
  socket(options?: { mute?: boolean }): Promise<Socket>;
  /** Lets no further request leave, except those that cancel what the suite left. */
  stop(): void;
  /** Whether the exchange has banned the usual address of this machine. */
  readonly banned: boolean;
}

type Query = Readonly<Record<string, string | number>>;

export const withQuery = (path: string, query: Query = {}): string => {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
};

const kinds: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/_depth_step0$/, 'depth'],
  [/_trade_ticker$/, 'trades'],
  [/_ticker$/, 'ticker'],
  [/_kline_\w+$/, 'klines'],
];

/** `sub depth` of a message to the feed. */
function socketOperation(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || !('event' in message && 'params' in message)) return undefined;
  const { channel } = fields(message.params, 'params');
  const kind = kinds.find(([pattern]) => typeof channel === 'string' && pattern.test(channel))?.[1];
  return kind === undefined ? undefined : `${String(message.event)} ${kind}`;
}

const symbolOf = (row: Fields): Instrument => {
  const least = (...names: readonly string[]): number =>
    Math.max(0, ...names.map((name) => Number(row[name] ?? 0) || 0));
  return {
    symbol: text(row['symbol'], 'symbol'),
    base: text(row['baseAsset'], 'baseAsset'),
    quote: text(row['quoteAsset'], 'quoteAsset'),
    pricePrecision: decimal(row['pricePrecision'], 'pricePrecision'),
    quantityPrecision: decimal(row['quantityPrecision'], 'quantityPrecision'),
    // Live exchanges show these beside the documented fields.
    minQuantity: least('limitVolumeMin', 'marketSellMin'),
    minAmount: least('limitAmountMin', 'marketBuyMin'),
  };
};

/** The rows of symbols that an exchange lists, under `symbols` or bare. */
function symbolsIn(reply: Reply): readonly Fields[] {
  const value = unwrapped(reply.value);
  const inner = typeof value === 'object' && value !== null && 'symbols' in value ? value.symbols : value;
  const found = rowsIn(inner);
  ok(found !== undefined && found.length > 0, `it lists no symbols: HTTP ${reply.status} ${shown(reply.text)}`);
  return found;
}

/** The first time in ms that a reply shows, under whichever name; undefined where there is none. */
function timeIn({ value }: Reply): number | undefined {
  const inner = unwrapped(value);
  const found = typeof inner === 'object' && inner !== null ? Object.values(inner) : [inner];
  return found.map(msIn).find((time) => time !== undefined);
}

/** The keys, each knowing what its signatures cover there. */
function signingAt({ url, stripPrefix }: Target, { main, second, readOnly, elsewhere }: Keys): Keys {
  const covers = covered(url, stripPrefix);
  const others = Object.entries({ second, readOnly, elsewhere }).flatMap(([name, key]) =>
    key === undefined ? [] : [[name, { ...key, covers }]],
  );
  return { main: { ...main, covers }, ...Object.fromEntries(others) };
}

/** The symbols that the checks use. */
function chosen({ url, symbol, quiet }: Target, symbols: readonly Fields[]) {
  const named = (name: string): Instrument => {
    const found = symbols.find((row) => String(row['symbol']).toUpperCase() === name.toUpperCase());
    ok(found !== undefined, `${url} does not list ${name}`);
    return symbolOf(found);
  };
  const busy = named(symbol ?? String(symbols[0]?.['symbol']));
  return { busy, quiet: quiet === undefined ? undefined : named(quiet) };
}

/** The frequencies of §8 are counted over 2 s. */
const frequencyMs = 2_100;

/** Sends again what one of the frequencies refused, except from the addresses that are there to break them. */
async function patientSend(url: string, sending: Sending): Promise<Reply> {
  const reply = await send(url, sending);
  if (sending.from !== undefined || (reply.status !== 429 && reply.status !== 410)) return reply;
  await sleep(frequencyMs);
  return send(url, sending);
}

/** Looks at the exchange's time and symbols, and holds what the checks need. */
export async function openSession(given: Target): Promise<Session> {
  const target = { ...given, ...(given.keys !== undefined && { keys: signingAt(given, given.keys) }) };
  const rules = openRules();
  const done = new Set<string>();
  let [stopped, banned] = [false, false];
  const raw = async (sending: Sending): Promise<Reply> => {
    if (stopped) throw new Stopped();
    done.add(`${sending.method} ${sending.target.split('?')[0]}`);
    const reply = await patientSend(target.url, sending);
    if (reply.status === 418 && sending.from === undefined) banned = true;
    return reply;
  };
  const get = (path: string, query?: Query, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    raw({ method: 'GET', target: withQuery(path, query), headers });

  const before = now();
  const time = timeIn(await get('/sapi/v1/time'));
  const offset = time === undefined ? 0 : Math.round(time - (before + now()) / 2);
  const { busy, quiet } = chosen(target, symbolsIn(await get('/sapi/v1/symbols')));

  const withSign = (sending: Sending, { as, aheadMs = 0, headers, from }: Signing): Sending => {
    const user = as ?? target.keys?.main;
    ok(user !== undefined, 'this check needs a key');
    const signed = { ...signedHeaders(user, sending, now() + offset + aheadMs), ...headers };
    return { ...sending, headers: signed, ...(from === undefined ? {} : { from }) };
  };
  const asking = (path: string, query?: Query): Sending => ({ method: 'GET', target: withQuery(path, query) });
  const telling = (path: string, body: object | string): Sending => ({
    ...{ method: 'POST', target: path },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const wire = {
    offset,
    ask: (path: string, query: Query, as: Credentials) =>
      patientSend(target.url, withSign(asking(path, query), { as })),
    tell: (path: string, body: object, as: Credentials) =>
      patientSend(target.url, withSign(telling(path, body), { as })),
  };
  const own = new OwnOrders(wire, nameOf(busy));
  return {
    ...{ target, answers: answersOf(target.profile, rules), rules, own, done, offset, busy, quiet },
    stop() {
      stopped = true;
    },
    get banned() {
      return banned;
    },
    get main() {
      ok(target.keys !== undefined, 'this check needs a key');
      return target.keys.main;
    },
    get second() {
      ok(target.keys?.second !== undefined, 'this check needs the key of a second user');
      return target.keys.second;
    },
    get,
    raw,
    ask: async (path, query, signing = {}) => raw(withSign(asking(path, query), signing)),
    async tell(path, body, signing = {}) {
      const sending = telling(path, body);
      // The other keys are of the main user, and may not cancel.
      const { main, second } = target.keys ?? {};
      const as = second !== undefined && signing.as === second ? second : main;
      if (as === undefined || !mayCreate(path)) return raw(withSign(sending, signing));
      // Signed when it leaves: the time window begins there.
      return own.send({ path, body: sending.body ?? '', as }, () => raw(withSign(sending, signing)));
    },
    socket: (options) => openFeed(target, done, options),
  };
}

/** A socket that notes what it is used for. */
async function openFeed(
  { wsUrl }: Target,
  done: Set<string>,
  options: { mute?: boolean } | undefined,
): Promise<Socket> {
  ok(wsUrl !== undefined, 'this check needs the address of the feed');
  const socket = await openSocket(wsUrl, options);
  return {
    ...socket,
    get open() {
      return socket.open;
    },
    send(message) {
      const operation = socketOperation(message);
      if (operation !== undefined) done.add(operation);
      socket.send(message);
    },
  };
}

/** In upper case, as §2.1 writes it in requests. */
export const nameOf = ({ symbol }: Instrument): string => symbol.toUpperCase();

/** The channel of a symbol (§6.2). */
export const channelOf = ({ symbol }: Instrument, rest: string): string => `market_${symbol.toLowerCase()}_${rest}`;

/** Fails unless both are there and equal, as decimals are. */
export function sameDecimal(found: unknown, wanted: number | string, what: string): void {
  equal(decimal(found, what), Number(wanted), what);
}
