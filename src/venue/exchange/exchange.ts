/**
 * The real exchange, in short:
 *
 * - REST gives and takes JSON. Signed requests carry key, time and an HMAC over exactly the bytes sent (`sign.ts`).
 * - Each request costs weight, counted per address and per user over a minute; overdoing it leads from 410 over 429 to 418, a ban.
 *   So nothing leaves here without having asked the budget (`rest.ts`).
 * - Errors come under HTTP 200 as well, with codes as numbers or text. 5XX, time-outs and most codes leave the outcome of a create
 *   unknown: only a short list is a refusal (`classify.ts`). A client id does not make a repetition safe, so nothing is ever resent.
 * - Ids are longs beyond 2^53 and stay text from the first byte (`json.ts`). Replies come plain, in lists or in envelopes, statuses in
 *   many spellings; what is unknown counts as open (`read-order.ts`). A cancel is only a request for one.
 * - Fills are not pushed: they are found by asking for the account's own trades (`read-trade.ts`).
 * - The operations stand in two tables, `endpoints.ts` and `channels.ts`; `docs/reference/exchange.md` is made of them.
 * - The socket acknowledges nothing and reports no errors: only data proves a subscription, and only its age proves life
 *   (`socket.ts`). Depth comes as whole books without sequence numbers, trades newest first, klines without a mark that they are
 *   closed (`kline-stream.ts`). Frames are compressed each by itself (`frames.ts`).
 * - Time is the exchange's: requests outside its window are refused, so our clock is set by its `/time` (`sync-time.ts`).
 */
import type { Rng, ScaledClock } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Account } from '../../domain/order.ts';
import type { LimitNotice, Spend } from '../venue.ts';
import { type CancelQuirk, probeRest, type RestCapabilities } from './capabilities.ts';
import { type Count, counters, type Log } from './counters.ts';
import { feed } from './market/feed.ts';
import { instruments } from './market/instruments.ts';
import { klineHistory } from './market/kline-history.ts';
import { openData } from './market/open-data.ts';
import { marketQueries } from './market/queries.ts';
import { Sockets } from './market/socket.ts';
import { socketHistory } from './market/socket-history.ts';
import { type FrameObserver, realWs, type Ws } from './market/ws.ts';
import { bulkOrders } from './orders/bulk.ts';
import type { OrderRequest } from './orders/create-body.ts';
import { orders } from './orders/orders.ts';
import { accountReader } from './orders/queries.ts';
import { withdrawals } from './orders/withdrawals.ts';
import { probeSocket } from './probe-socket.ts';
import type { HttpReply } from './rest/http.ts';
import { openHttp } from './rest/http-client.ts';
import { rawCaller } from './rest/raw-call.ts';
import { type KnownWindow, recvWindow, type WindowQuirk } from './rest/recv-window.ts';
import { type Rest, rest } from './rest/rest.ts';
import { signer } from './rest/sign.ts';
import { ExchangeTime } from './rest/sync-time.ts';

export interface ExchangeOptions {
  /** `{base_url}` of the specification, with any path that comes before `/sapi`. */
  readonly restUrl: string;
  /** The whole `{ws_url}`, its path included. */
  readonly wsUrl: string;
  readonly apiKey: string;
  /** Undefined: market data only; everything signed answers that it was not sent. */
  readonly apiSecret: string | undefined;
  readonly account: Account;
  readonly clock: ScaledClock;
  readonly rng: Rng;
  readonly spend: Spend;
  readonly notice: (notice: LimitNotice) => void;
  readonly log: Log;
  /** A part at the start of the path that the exchange's gateway takes away before it verifies the signature. */
  readonly stripPrefix?: string | undefined;
  /** The deployment was proven to find an order by its client id alone (capabilities.ts); margin can by the specification. */
  readonly byClientId?: boolean;
  /** Called once with whether a cancel ends an order at once, by the first answer that shows it. */
  readonly cancelSeen?: (quirk: CancelQuirk) => void;
  /** Under which name the deployment was found to take the time window of a create; left out, that of the specification's samples first. */
  readonly window?: KnownWindow | undefined;
  /** Gets the account that the key belongs to, where the exchange shows it. */
  readonly uidSeen?: ((uid: string) => void) | undefined;
  /** Gets a name that was accepted after another one was refused. */
  readonly windowSeen?: (quirk: WindowQuirk) => void;
  /** Shown every REST answer as it came, key and signature taken out. */
  readonly observe?: (answer: HttpReply) => void;
  /** Gets every frame of the socket, for recordings. */
  readonly observeFrames?: FrameObserver | undefined;
}

/** An order that could be placed, to be tested only. */
export interface SampleOrder {
  readonly order: OrderRequest;
  readonly at: Instrument;
}

export type Exchange = ReturnType<typeof exchange>;

export type CallerOptions = Pick<
  ExchangeOptions,
  'restUrl' | 'apiKey' | 'apiSecret' | 'clock' | 'spend' | 'notice' | 'stripPrefix' | 'observe'
> & { readonly count?: Count };

/** What sends requests, alone: for a program that needs only a few. */
export function openCaller(
  options: CallerOptions,
  outsideWindow: () => void = () => {},
): { readonly caller: Rest; readonly close: () => void } {
  const { apiKey, apiSecret, stripPrefix } = options;
  const http = openHttp();
  const known = apiSecret === undefined ? undefined : signer(apiKey, apiSecret, stripPrefix);
  return { caller: rest({ ...options, http, signer: known, outsideWindow }), close: () => http.close() };
}

/** Connects nothing by itself: the first request and the first subscription do. */
export function exchange(options: ExchangeOptions) {
  const { wsUrl, clock, rng, log, windowSeen } = options;
  const window = recvWindow(clock, options.window, windowSeen);
  const { count, seen } = counters(clock, log, (text) => caller.redact(text));
  let last: HttpReply | undefined;
  const observe = (answer: HttpReply): void => {
    last = answer;
    options.observe?.(answer);
  };
  const { caller, close } = openCaller({ ...options, observe, count }, () =>
    time.doubt('a request was refused for its time'),
  );
  const time = new ExchangeTime(caller, clock);
  const known = instruments(caller, count);
  const bulk = bulkOrders(caller, clock, window);
  const ws: Ws = (url, events) => realWs(url, events, options.observeFrames);
  const channels = new Sockets({ url: wsUrl, ws, clock, rng, count, log });
  return {
    feed: feed({ sockets: channels, history: klineHistory(caller, clock, count), clock, count }),
    orders: orders({ ...options, rest: caller, window, instruments: known, count }),
    account: accountReader(caller, options.uidSeen),
    market: marketQueries(caller, clock, count),
    /** The past over the socket. */
    past: socketHistory(channels, count, clock),
    openData: openData(caller, count),
    /** What the daemon does not use: order test and batches. */
    bulk,
    /** What became of withdrawals; none can be applied for here. */
    withdrawals: withdrawals(caller),
    /** A request that the table does not know, for support. */
    raw: rawCaller(caller),
    /**
     * Finds out what this deployment does, and goes by it from then on; without an order to test, what only such tests show stays
     * unknown. `echoTestOrderId`: the exchange's id of an order that was sent with a client id.
     */
    async probe(symbol: string, sample?: SampleOrder, echoTestOrderId?: string): Promise<RestCapabilities> {
      const isSigned = options.apiSecret !== undefined;
      const testOrder = sample && (() => bulk.test(sample.order, sample.at));
      const testWindow = sample && (() => bulk.testWindow(sample.order, sample.at));
      const asked = { rest: caller, last: () => last, symbol, isSigned, testOrder, testWindow, echoTestOrderId };
      const found = await probeRest(asked);
      if (found.recvWindow !== 'unknown') window.learn(found.recvWindow);
      return found;
    },
    /** The same of the socket; takes ten seconds and more. */
    probeSocket: (symbol: string) => probeSocket(realWs, wsUrl, symbol, clock),
    instruments: known.all,
    /** From now on orders and trades of this symbol are read in this instrument's steps, in which the caller calculates. */
    setInstrument: known.remember,
    /** Sets the clock by the exchange's; to be called before anything signed, and again from time to time. */
    syncTime: () => time.sync(),
    /** What is known of the exchange's time, and whether that is enough to create orders. */
    time,
    /** Why no market data comes over the socket, for people; undefined while it is connected or has no listeners. */
    noMarketData: () => channels.against(),
    /** How often each unexpected thing was seen. */
    counters: seen,
    /** A text of the exchange's with key and secret struck out. */
    redact: caller.redact,
    close(): void {
      channels.close();
      close();
    },
  };
}
