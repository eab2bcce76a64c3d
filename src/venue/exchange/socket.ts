/** One socket for all channels: kept alive, watched, reconnected; what is listened to is subscribed. */
import type { Clock, Rng } from '../../clock/clock.ts';
import type { Count, Log } from './counters.ts';
import { decodeFrame, type Frame } from './frames.ts';
import type { Fields } from './json.ts';
import type { Ws, WsConnection } from './ws.ts';

/** Nothing seen of a channel between these times (UTC ms): from its last data before to its first data after. */
export interface Hole {
  readonly from: number;
  readonly to: number;
  readonly cause: string;
}

export interface Listener {
  data(tick: Fields, ts: unknown): void;
  /** Told just before the first data that follows a break. */
  hole(hole: Hole): void;
}

export interface Sockets {
  /** Subscribes; one listener for each channel. Returns what ends it. */
  listen(channel: string, listener: Listener): () => void;
  /** Subscribes anew to a channel that seems deaf; a repeated subscription is harmless (venue-observed §8). */
  again(channel: string): void;
  close(): void;
}

export interface SocketsOptions {
  readonly url: string;
  readonly ws: Ws;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly count: Count;
  readonly log: Log;
}

interface Channel {
  readonly listener: Listener;
  /** UTC ms of the last data; undefined before the first. */
  lastDataAt: number | undefined;
  /** Why the connection broke, until the first data after it. */
  broken: string | undefined;
  /** By the monotonic clock, when the first data must have come; undefined once it has. */
  confirmBy: number | undefined;
  attempts: number;
}

// Machine time, real ms.
/** A socket without any frame for this long is dead. */
const silenceMs = 15_000;
/** Pings alone keep it alive this long: a quiet market sends nothing else, and neither does a venue whose publisher hangs. */
const dataSilenceMs = 60_000;
const watchMs = 1_000;
/** First data of a subscription came within 0.7 s wherever it was measured. */
const confirmMs = 5_000;
/** After this many subscriptions without data it is said loudly, and tried once a minute only. */
const maxAttempts = 3;
const slowConfirmMs = 60_000;
const firstBackoffMs = 500;
const maxBackoffMs = 30_000;
/** A connection that lived this long was a good one: the next break starts with a short wait again. */
const goodLifeMs = 30_000;

export function sockets({ url, ws, clock, rng, count, log }: SocketsOptions): Sockets {
  const channels = new Map<string, Channel>();
  let connection: WsConnection | undefined;
  let open = false;
  let openedAt = 0;
  let lastFrameAt = 0;
  let lastDataAt = 0;
  let failures = 0;
  let stopTimer = (): void => {};

  const after = (realMs: number, fn: () => void): void => {
    stopTimer();
    stopTimer = clock.at(clock.now() + clock.machine(realMs), fn);
  };
  const say = (event: 'sub' | 'unsub', channel: string): void =>
    connection?.send(JSON.stringify({ event, params: { channel, cb_id: channel } }));

  function subscribe(name: string, channel: Channel): void {
    if (!open) return;
    channel.attempts++;
    const wait = channel.attempts < maxAttempts ? confirmMs : slowConfirmMs;
    channel.confirmBy = clock.monotonic() + clock.machine(wait);
    say('sub', name);
  }

  function connect(): void {
    stopTimer();
    // Events of a connection that was given up still arrive; they are no longer ours.
    let mine: WsConnection | undefined;
    const current = (): boolean => mine !== undefined && connection === mine;
    mine = ws(url, {
      opened: () => current() && opened(),
      frame: (bytes) => current() && received(decodeFrame(bytes)),
      closed: (cause) => current() && lost(cause),
    });
    connection = mine;
  }

  function opened(): void {
    open = true;
    openedAt = clock.monotonic();
    lastFrameAt = openedAt;
    lastDataAt = openedAt;
    log.info({ channels: channels.size }, 'market data connected');
    for (const [name, channel] of channels) {
      channel.attempts = 0;
      subscribe(name, channel);
    }
    after(watchMs, watch);
  }

  function lost(cause: string): void {
    if (open && clock.monotonic() - openedAt >= clock.machine(goodLifeMs)) failures = 0;
    drop();
    for (const channel of channels.values()) channel.broken ??= cause;
    if (channels.size === 0) return;
    const longest = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(failures, 10));
    failures++;
    const waitMs = longest * (0.5 + rng() / 2);
    log.warn({ cause, waitMs: Math.round(waitMs) }, 'market data connection lost; connecting again');
    after(waitMs, connect);
  }

  /** Lets go of the connection without asking it. */
  function drop(): void {
    stopTimer();
    const old = connection;
    connection = undefined;
    open = false;
    old?.close();
  }

  function watch(): void {
    const now = clock.monotonic();
    const silent = now - lastFrameAt > clock.machine(silenceMs);
    if (silent || now - lastDataAt > clock.machine(dataSilenceMs)) {
      lost(silent ? 'no frame for 15 s' : 'no data for 60 s');
      return;
    }
    for (const [name, channel] of channels) {
      if (channel.confirmBy === undefined || now < channel.confirmBy) continue;
      if (channel.attempts === maxAttempts) {
        count('subscription without data', name);
        log.warn(
          { channel: name },
          'no data since the subscription: a quiet market, or a symbol the exchange does not know',
        );
      }
      subscribe(name, channel);
    }
    after(watchMs, watch);
  }

  function received(frame: Frame): void {
    lastFrameAt = clock.monotonic();
    if (frame.kind === 'push') pushed(frame);
    else if (frame.kind === 'ping') connection?.send(JSON.stringify({ pong: frame.value }));
    else if (frame.kind === 'malformed') count('malformed frame', frame.sample);
    else if (frame.kind === 'error') count('refused subscription', frame);
    else if (frame.kind === 'tooLarge') {
      count('oversized frame');
      lost('a frame above 1 MiB');
    }
  }

  function pushed({ channel: name, tick, ts }: Extract<Frame, { kind: 'push' }>): void {
    const channel = channels.get(name);
    if (channel === undefined) {
      count('frame of a channel nobody asked for', name);
      return;
    }
    lastDataAt = lastFrameAt;
    const now = clock.now();
    const { broken, lastDataAt: before } = channel;
    channel.confirmBy = undefined;
    channel.lastDataAt = now;
    channel.broken = undefined;
    if (broken !== undefined && before !== undefined) {
      channel.listener.hole({ from: before, to: now, cause: broken });
    }
    channel.listener.data(tick, ts);
  }

  return {
    listen(name, listener) {
      const channel: Channel = {
        listener,
        lastDataAt: undefined,
        broken: undefined,
        confirmBy: undefined,
        attempts: 0,
      };
      channels.set(name, channel);
      if (connection === undefined && channels.size === 1) connect();
      else subscribe(name, channel);
      return () => {
        if (channels.get(name) !== channel) return;
        channels.delete(name);
        // The specification has no unsubscription for klines; what still comes is dropped.
        if (open && !name.includes('_kline_')) say('unsub', name);
        // An idle socket is closed by the exchange anyway, and would only be reconnected for nothing.
        if (channels.size === 0) drop();
      };
    },
    again(name) {
      const channel = channels.get(name);
      if (channel !== undefined) subscribe(name, channel);
    },
    close() {
      channels.clear();
      drop();
    },
  };
}
