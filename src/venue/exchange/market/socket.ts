/** One socket for all channels: kept alive, watched, reconnected; what is listened to is subscribed. */
import type { Clock, Rng } from '../../../clock/clock.ts';
import { failed, ok } from '../../venue.ts';
import type { Count, Log } from '../counters.ts';
import { type Fields, timeOf } from '../rest/json.ts';
import { hasUnsub, isSteady } from './channels.ts';
import { decodeFrame, type Frame } from './frames.ts';
import { openQuestions, type Rows } from './socket-requests.ts';
import type { Ws, WsConnection } from './ws.ts';

/** Nothing seen of a channel between these times (UTC ms): from its last data before to its first data after. */
export interface Hole {
  readonly from: number;
  readonly to: number;
  readonly cause: string;
}

export interface Listener {
  data(tick: Fields, ts: unknown): void;
  /** Called just before the first data after a break. */
  hole(hole: Hole): void;
  /** Called when the connection is lost or hung: later frames may have been missed. */
  lost?(): void;
  /**
   * For channels that may be silent because nothing happens: called once a minute during a silence, and instead of `hole` just before
   * the data that ends it (`isOver`).
   */
  quiet?(hole: Hole, isOver: boolean): void;
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
  /** By the monotonic clock: the last data, or the last time that it was subscribed for want of any. */
  freshAt: number;
}

// Machine time, real ms.
/** A socket without any frame for this long is dead. */
const silenceMs = 15_000;
/** After so long without any frame some that were meant for us may have been dropped: a venue that hangs does not send them later. */
const hangMs = 3_000;
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
/** Why a channel counts as broken that was silent alone. */
const silent = 'the channel went silent';
/** A connection that is back sooner was hardly missed. */
const missedMs = 3_000;
/** Clocks differ by less; a frame of a later time says nothing of when it was sent. */
const aheadMs = 1_000;

/** The program's one socket to the exchange's market data. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #clock: Clock;
  readonly #channels = new Map<string, Channel>();
  readonly #questions: ReturnType<typeof openQuestions>;
  #connection: WsConnection | undefined;
  #open = false;
  // By the monotonic clock.
  #openedAt = 0;
  #lastFrameAt = 0;
  #lastDataAt = 0;
  /** When the exchange sent the last frame, by its own clock, UTC ms. */
  #sentAt = 0;
  /** The latest such time over this connection. */
  #latestSent: number | undefined;
  #failures = 0;
  /** By the monotonic clock, since when and why there is no connection; undefined while it stands. */
  #broken: { readonly at: number; readonly cause: string } | undefined;
  #stopTimer = (): void => {};

  constructor(options: SocketsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#questions = openQuestions(options.clock, (text) => this.#open && this.#connection?.send(text));
  }

  /** Requests the history of a channel (`req`); connects if needed, and disconnects when there are no listeners. */
  async ask(channel: string, params: Readonly<Record<string, string | number>>): Promise<Rows> {
    const text = JSON.stringify({ event: 'req', params: { channel, cb_id: channel, ...params } });
    const answer = this.#questions.ask(channel, text);
    // With channels a connection that is not there is on its way.
    if (this.#connection === undefined && this.#channels.size === 0) this.#connect();
    const rows = await answer;
    if (this.#channels.size === 0 && this.#questions.size() === 0) this.#drop();
    return rows;
  }

  /** Subscribes; one listener for each channel. Returns what ends it. */
  listen(name: string, listener: Listener): () => void {
    const channel: Channel = {
      listener,
      lastDataAt: undefined,
      broken: undefined,
      confirmBy: undefined,
      attempts: 0,
      freshAt: 0,
    };
    this.#channels.set(name, channel);
    if (this.#connection === undefined && this.#channels.size === 1) this.#connect();
    else this.#subscribe(name, channel);
    return () => {
      if (this.#channels.get(name) !== channel) return;
      this.#channels.delete(name);
      if (this.#open && hasUnsub(name)) this.#say('unsub', name);
      // An idle socket is closed by the exchange anyway, and would only be reconnected for nothing.
      if (this.#channels.size === 0 && this.#questions.size() === 0) this.#drop();
    };
  }

  /** Why no data arrives, for people: the connection is missing for more than a moment. */
  against(): string | undefined {
    if (this.#open || this.#channels.size === 0) return undefined;
    const broken = this.#broken;
    if (broken === undefined || this.#age(broken.at) <= this.#clock.machine(missedMs)) return undefined;
    return `${this.#options.url}: ${broken.cause}`;
  }

  /**
   * Whether the last frame was sent at or after a time, UTC ms: then everything sent before it has arrived. The time of arrival proves
   * nothing, because a frame may be delayed.
   */
  receivedSince(time: number): boolean {
    return this.#open && this.#sentAt >= time;
  }

  /** Subscribes again to a channel that seems dead; a repeated subscription is harmless. */
  again(name: string): void {
    const channel = this.#channels.get(name);
    if (channel !== undefined) this.#subscribe(name, channel);
  }

  close(): void {
    this.#channels.clear();
    this.#questions.lost('closed by us');
    this.#drop();
  }

  #connect(): void {
    this.#stopTimer();
    this.#broken ??= { at: this.#clock.monotonic(), cause: 'connecting' };
    // Events of a connection that was given up still arrive; they are no longer ours.
    let mine: WsConnection | undefined;
    const current = (): boolean => mine !== undefined && this.#connection === mine;
    mine = this.#options.ws(this.#options.url, {
      opened: () => current() && this.#opened(),
      frame: (bytes) => current() && this.#received(decodeFrame(bytes)),
      closed: (cause) => current() && this.#lost(cause),
    });
    this.#connection = mine;
  }

  #opened(): void {
    this.#open = true;
    this.#broken = undefined;
    this.#openedAt = this.#clock.monotonic();
    this.#lastFrameAt = this.#openedAt;
    this.#lastDataAt = this.#openedAt;
    this.#latestSent = undefined;
    this.#options.log.info({ channels: this.#channels.size }, 'market data connected');
    for (const [name, channel] of this.#channels) {
      channel.attempts = 0;
      this.#subscribe(name, channel);
    }
    this.#questions.opened();
    this.#after(watchMs, () => this.#watch());
  }

  #lost(cause: string): void {
    if (this.#open && this.#age(this.#openedAt) >= this.#clock.machine(goodLifeMs)) this.#failures = 0;
    const since = this.#broken?.at ?? this.#clock.monotonic();
    this.#drop();
    this.#questions.lost(cause);
    for (const channel of this.#channels.values()) {
      if (channel.broken === undefined || channel.broken === silent) channel.broken = cause;
      channel.listener.lost?.();
    }
    if (this.#channels.size === 0) return;
    this.#broken = { at: since, cause };
    const longestMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(this.#failures, 10));
    this.#failures++;
    const waitMs = Math.round(longestMs * (0.5 + this.#options.rng() / 2));
    this.#options.log.warn({ cause, waitMs }, 'market data connection lost; connecting again');
    this.#after(waitMs, () => this.#connect());
  }

  /** Lets go of the connection without asking it. */
  #drop(): void {
    this.#stopTimer();
    const old = this.#connection;
    this.#connection = undefined;
    this.#open = false;
    this.#broken = undefined;
    old?.close();
  }

  #watch(): void {
    const silent = this.#age(this.#lastFrameAt) > this.#clock.machine(silenceMs);
    if (silent || this.#age(this.#lastDataAt) > this.#clock.machine(dataSilenceMs)) {
      this.#lost(silent ? 'no frame for 15 s' : 'no data for 60 s');
      return;
    }
    for (const [name, channel] of this.#channels) {
      if (channel.confirmBy === undefined) this.#revive(name, channel);
      else this.#confirm(name, channel);
    }
    this.#after(watchMs, () => this.#watch());
  }

  #confirm(name: string, channel: Channel): void {
    if (channel.confirmBy === undefined || this.#clock.monotonic() < channel.confirmBy) return;
    if (channel.attempts === maxAttempts) {
      this.#options.count('subscription without data', name);
      const meaning = 'a quiet market, or a symbol that the exchange does not know';
      this.#options.log.warn({ channel: name }, `no data since the subscription: ${meaning}`);
    }
    if (channel.attempts >= maxAttempts) this.#reportQuiet(channel);
    this.#subscribe(name, channel);
  }

  /** A channel can go deaf alone, while others keep the socket alive. Of trades and klines a silence proves nothing: trades are asked for, klines ask REST. */
  #revive(name: string, channel: Channel): void {
    const canBeQuiet = channel.listener.quiet !== undefined;
    if (!isSteady(name) && !canBeQuiet) return;
    if (this.#age(channel.freshAt) <= this.#clock.machine(dataSilenceMs)) return;
    channel.freshAt = this.#clock.monotonic();
    channel.broken ??= silent;
    if (!canBeQuiet) this.#options.count('channel gone silent', name);
    this.#say('sub', name);
    this.#reportQuiet(channel);
  }

  #reportQuiet({ listener, lastDataAt, broken }: Channel): void {
    if (lastDataAt === undefined) return;
    listener.quiet?.({ from: lastDataAt, to: this.#clock.now(), cause: broken ?? silent }, false);
  }

  #subscribe(name: string, channel: Channel): void {
    if (!this.#open) return;
    channel.attempts++;
    const waitMs = channel.attempts <= maxAttempts ? confirmMs : slowConfirmMs;
    channel.confirmBy = this.#clock.monotonic() + this.#clock.machine(waitMs);
    this.#say('sub', name);
  }

  #received(frame: Frame): void {
    const { count } = this.#options;
    const hung = this.#age(this.#lastFrameAt) > this.#clock.machine(hangMs);
    const skipped = this.#skips(frame);
    // An unreadable frame may belong to any channel.
    if (hung || skipped || frame.kind === 'malformed')
      for (const { listener } of this.#channels.values()) listener.lost?.();
    this.#lastFrameAt = this.#clock.monotonic();
    if (frame.kind === 'push') this.#pushed(frame);
    else if (frame.kind === 'ping') this.#connection?.send(`{"pong":${frame.echo}}`);
    else if (frame.kind === 'history') {
      if (!this.#questions.answered(frame.channel, ok(frame))) count('unsolicited reply', frame.channel);
    } else if (frame.kind === 'malformed') count('malformed frame', frame.sample);
    else if (frame.kind === 'error') {
      count('refused subscription', frame);
      this.#questions.answered(frame.channel, failed(`the exchange refuses ${frame.channel}: ${frame.message}`));
    } else if (frame.kind === 'tooLarge') {
      count('oversized frame');
      this.#lost('a frame above 1 MiB');
    }
  }

  #pushed({ channel: name, tick, ts }: Extract<Frame, { kind: 'push' }>): void {
    const channel = this.#channels.get(name);
    if (channel === undefined) {
      this.#options.count('frame of an unsubscribed channel', name);
      return;
    }
    this.#lastDataAt = this.#lastFrameAt;
    const now = this.#clock.now();
    const { broken, lastDataAt: before } = channel;
    channel.confirmBy = undefined;
    channel.lastDataAt = now;
    channel.freshAt = this.#lastFrameAt;
    channel.broken = undefined;
    const { listener } = channel;
    if (broken !== undefined && before !== undefined) {
      const hole = { from: before, to: now, cause: broken };
      if (broken === silent && listener.quiet !== undefined) listener.quiet(hole, true);
      else listener.hole(hole);
    }
    listener.data(tick, ts);
  }

  /**
   * Whether the exchange's own times skip as much as a silence that counts as a hang: where the way stood still, too, all that it did not
   * drop comes at once, and no silence shows. Some exchanges' times step back: the last one counts, not the latest.
   */
  #skips(frame: Frame): boolean {
    if (frame.kind !== 'push' && frame.kind !== 'ping') return false;
    const said = timeOf(frame.kind === 'push' ? frame.ts : frame.echo);
    if (said === undefined || said > this.#clock.now() + this.#clock.machine(aheadMs)) return false;
    this.#sentAt = said;
    const before = this.#latestSent ?? said;
    this.#latestSent = Math.max(before, said);
    return said - before > this.#clock.machine(hangMs);
  }

  #say(event: 'sub' | 'unsub', channel: string): void {
    this.#connection?.send(JSON.stringify({ event, params: { channel, cb_id: channel } }));
  }

  #after(realMs: number, fn: () => void): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.at(this.#clock.now() + this.#clock.machine(realMs), fn);
  }

  #age(time: number): number {
    return this.#clock.monotonic() - time;
  }
}
