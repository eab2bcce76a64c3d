/** One run of the suite against one exchange: where it is, who we are there, and what was done. */
import { equal, ok } from 'node:assert/strict';
import { type Answers, answersOf, type Profile } from './answers.ts';
import { type Credentials, covered, type Reply, type Sending, send, signedHeaders } from './http.ts';
import { decimal, type Fields, fields, longNumber, rows, text } from './shape.ts';
import { openSocket, type Socket } from './socket.ts';
import { now } from './time.ts';

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
  /** What one order is worth, in the quote asset. */
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

const symbolOf = (row: Fields): Instrument => ({
  symbol: text(row['symbol'], 'symbol'),
  base: text(row['baseAsset'], 'baseAsset'),
  quote: text(row['quoteAsset'], 'quoteAsset'),
  pricePrecision: decimal(row['pricePrecision'], 'pricePrecision'),
  quantityPrecision: decimal(row['quantityPrecision'], 'quantityPrecision'),
});

/** The keys, each knowing what its signatures cover there. */
function signingAt({ url, stripPrefix }: Target, { main, second, readOnly, elsewhere }: Keys): Keys {
  const covers = covered(url, stripPrefix);
  const others = Object.entries({ second, readOnly, elsewhere }).flatMap(([name, key]) =>
    key === undefined ? [] : [[name, { ...key, covers }]],
  );
  return { main: { ...main, covers }, ...Object.fromEntries(others) };
}

/** Looks at the exchange's time and symbols, and holds what the checks need. */
export async function openSession(given: Target): Promise<Session> {
  const target = { ...given, ...(given.keys !== undefined && { keys: signingAt(given, given.keys) }) };
  const answers = answersOf(target.profile);
  const done = new Set<string>();
  const raw = (sending: Sending): Promise<Reply> => {
    done.add(`${sending.method} ${sending.target.split('?')[0]}`);
    return send(target.url, sending);
  };
  const get = (path: string, query?: Query, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    raw({ method: 'GET', target: withQuery(path, query), headers });

  const before = now();
  const time = fields(answers.done(await get('/sapi/v1/time')), 'the time');
  const offset = Math.round(Number(longNumber(time['serverTime'], 'serverTime')) - (before + now()) / 2);
  const listed = fields(answers.done(await get('/sapi/v1/symbols')), 'the symbols');
  const symbols = rows(listed['symbols'], 'symbols').map(symbolOf);
  const named = (name: string): Instrument => {
    const found = symbols.find(({ symbol }) => symbol.toUpperCase() === name.toUpperCase());
    ok(found !== undefined, `${target.url} does not list ${name}`);
    return found;
  };
  const [first] = symbols;
  ok(first !== undefined, `${target.url} lists no symbols`);

  const signed = (sending: Sending, { as, aheadMs = 0, headers, from }: Signing): Promise<Reply> => {
    const user = as ?? target.keys?.main;
    ok(user !== undefined, 'this check needs a key');
    const withSign = { ...signedHeaders(user, sending, now() + offset + aheadMs), ...headers };
    return raw({ ...sending, headers: withSign, ...(from === undefined ? {} : { from }) });
  };
  return {
    target,
    answers,
    done,
    offset,
    busy: target.symbol === undefined ? first : named(target.symbol),
    quiet: target.quiet === undefined ? undefined : named(target.quiet),
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
    ask: (path, query, signing = {}) => signed({ method: 'GET', target: withQuery(path, query) }, signing),
    tell: (path, body, signing = {}) =>
      signed({ method: 'POST', target: path, body: typeof body === 'string' ? body : JSON.stringify(body) }, signing),
    async socket(options) {
      ok(target.wsUrl !== undefined, 'this check needs the address of the feed');
      const socket = await openSocket(target.wsUrl, options);
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
