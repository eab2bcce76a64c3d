/** One socket: its subscriptions, heartbeats, requests for history, and the faults that hit it. */
import { gunzipSync } from 'node:zlib';
import type { RawData } from 'ws';
import type { Clock } from '../../clock/clock.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Spoiler } from '../faults/frame-faults.ts';
import { parseJson } from '../http/json.ts';
import type { Params } from '../http/params.ts';
import type { Feed, Listener } from './feed.ts';
import { ackFrame, errorFrame, greetingFrame, packed } from './frames.ts';
import { replyFrame, topicOf } from './topics.ts';

/** Heartbeat and idle time are about the machine: real ms. */
const pingEveryMs = 10_000;
const idleMs = 30_000;
/** Channels on one socket; a subscription over it is ignored like an unknown one. */
const channelLimit = 1_000;
/** A client this far behind is cut: it would only get older data. */
const bufferLimit = 16 * 1_048_576;

/** The part of a socket that a session needs: of `ws`, or of a simulated world. */
export interface Line {
  readonly bufferedAmount: number;
  on(event: 'message', listener: (bytes: RawData, isBinary: boolean) => void): unknown;
  on(event: 'close' | 'error', listener: () => void): unknown;
  send(frame: Buffer, how: { readonly binary: boolean }): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

export interface SessionSetup {
  readonly exchange: Exchange;
  readonly feed: Feed;
  readonly quirks: Quirks;
  readonly clock: Clock;
  /** Opens the frame faults of this socket. */
  readonly openSpoiler: () => Spoiler;
  /** Moves the market to the current time, so that no answer is older than its question. */
  readonly refresh: () => void;
  /** Pushes what is due, and schedules what new subscriptions need later. */
  readonly publish: () => void;
}

/** Serves a socket until it closes. */
export class Session implements Listener {
  readonly #socket: Line;
  readonly #setup: SessionSetup;
  readonly #channels = new Set<string>();
  readonly #spoil: Spoiler;
  readonly #openedAt: number;
  #cancelPing: (() => void) | undefined;
  #cancelIdle: () => void;

  constructor(socket: Line, setup: SessionSetup) {
    this.#socket = socket;
    this.#setup = setup;
    this.#spoil = setup.openSpoiler();
    this.#openedAt = setup.clock.now();
    this.#cancelIdle = this.#idleTimer();
    if (setup.quirks.pingFrom === 'opening') this.#ping();
    if (setup.quirks.greeting) this.push('system', packed(greetingFrame(setup.exchange.now)));
    socket.on('message', (bytes, isBinary) => {
      const text = isBinary ? '' : textOfFrame(bytes);
      const message = messageOf(text);
      if (message === undefined) {
        this.#passOver(text);
        return;
      }
      setup.refresh();
      this.#obey(message);
      setup.publish();
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#end());
  }

  push(channel: string, frame: Buffer): void {
    if (this.#isStalled()) return;
    const frames = this.#spoil(channel, frame);
    if (frames === 'cut' || this.#socket.bufferedAmount > bufferLimit) this.#socket.terminate();
    else for (const one of frames) this.#send(one);
  }

  #send(frame: Buffer): void {
    const text = this.#setup.quirks.frames === 'text' ? inflated(frame) : undefined;
    this.#socket.send(text ?? frame, { binary: text === undefined });
  }

  /** True once this socket has stalled: it stays open and sends nothing more. */
  #isStalled(): boolean {
    const { clock, quirks } = this.#setup;
    return quirks.stallAfterMs > 0 && clock.now() >= this.#openedAt + clock.machine(quirks.stallAfterMs);
  }

  /** Every client sends pongs; anything else that is no message closes the socket on some venues. */
  #passOver(text: string): void {
    const pong = isObject(parseJson(text)) && text.includes('"pong"');
    if (this.#setup.quirks.strangeMessage === 'closes' && !pong) this.#socket.close(1000, 'Bye');
  }

  #obey({ event, channel, params }: Message): void {
    if (event === 'sub') this.#subscribe(channel, textOf(params.get('cb_id')));
    else if (event === 'unsub') this.#unsubscribe(channel);
    else if (event === 'req' || event === 'reg') this.#answer(channel, params);
  }

  #subscribe(channel: string, callbackId: string | undefined): void {
    const { exchange, feed, quirks } = this.#setup;
    if (this.#channels.size >= channelLimit && !this.#channels.has(channel)) return;
    if (topicOf(channel, exchange) === undefined) {
      if (quirks.socketErrors === 'answered') this.push(channel, packed(errorFrame(channel, callbackId, exchange.now)));
      return;
    }
    if (quirks.acknowledge) this.push(channel, packed(ackFrame(channel, callbackId, exchange.now)));
    this.#channels.add(channel);
    feed.add(channel, this);
    this.#cancelIdle();
    if (this.#cancelPing === undefined) this.#ping();
  }

  #unsubscribe(channel: string): void {
    if (!this.#channels.delete(channel)) return;
    this.#setup.feed.remove(channel, this);
    if (this.#channels.size > 0) return;
    this.#cancelIdle();
    this.#cancelIdle = this.#idleTimer();
  }

  #answer(channel: string, params: Params): void {
    const { exchange, quirks } = this.#setup;
    const topic = topicOf(channel, exchange);
    const reply = topic && replyFrame(topic, params, exchange, quirks);
    if (reply !== undefined) this.push(channel, packed(reply));
  }

  #idleTimer(): () => void {
    const { clock } = this.#setup;
    return clock.at(clock.now() + clock.machine(idleMs), () => this.#socket.terminate());
  }

  #ping(): void {
    const { clock, quirks } = this.#setup;
    if (quirks.ping === 'never') return;
    this.#cancelPing = clock.at(clock.now() + clock.machine(pingEveryMs), () => {
      const now = clock.now();
      this.push('ping', packed({ ping: quirks.ping === 'ms' ? now : Math.floor(now / 1_000) }));
      this.#ping();
    });
  }

  #end(): void {
    this.#cancelPing?.();
    this.#cancelIdle();
    for (const channel of this.#channels) this.#setup.feed.remove(channel, this);
    this.#channels.clear();
  }
}

interface Message {
  readonly event: string | undefined;
  readonly channel: string;
  readonly params: Params;
}

/** A client's message; undefined for pongs and malformed messages, which the socket ignores. */
function messageOf(text: string): Message | undefined {
  const message = parseJson(text);
  if (!isObject(message) || !('event' in message && 'params' in message) || !isObject(message.params)) return undefined;
  const params: Params = new Map(Object.entries(message.params));
  const channel = textOf(params.get('channel'));
  return channel === undefined ? undefined : { event: textOf(message.event), channel, params };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a frame; undefined for bytes that a fault has made of one. */
function inflated(frame: Buffer): Buffer | undefined {
  try {
    return gunzipSync(frame);
  } catch {
    return undefined;
  }
}

/** One text frame; ws passes it as one buffer by default. */
const textOfFrame = (bytes: RawData): string => (Buffer.isBuffer(bytes) ? bytes.toString('utf8') : '');

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
