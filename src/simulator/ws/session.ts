/** One socket: its subscriptions, heartbeats, requests for history, and the faults that hit it. */
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../clock/clock.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import type { FaultAction } from '../faults/rules.ts';
import { parseJson } from '../http/json.ts';
import type { Params } from '../http/params.ts';
import type { Feed, Listener } from './feed.ts';
import { ackFrame, packed, replyFrame } from './frames.ts';
import { history } from './history.ts';
import { topicOf } from './topics.ts';

/** Heartbeat and idle time are about the machine: real ms. */
const pingEveryMs = 10_000;
const idleMs = 30_000;
/** Channels on one socket; a subscription over it is ignored like an unknown one. */
const channelLimit = 1_000;
/** A client this far behind is cut: it would only get older data. */
const bufferLimit = 16 * 1_048_576;

export interface SessionSetup {
  readonly exchange: Exchange;
  readonly feed: Feed;
  readonly habits: Habits;
  readonly clock: Clock;
  /** Which fault hits the next frame of a channel, if any. */
  readonly fault: (channel: string) => FaultAction | undefined;
  /** Brings the market up to now, so that what is sent is not older than the question. */
  readonly refresh: () => void;
  /** Pushes what is due and sees to it that what a new subscription wants later will come. */
  readonly publish: () => void;
}

/** Serves a socket until it closes. */
export class Session implements Listener {
  readonly #socket: WebSocket;
  readonly #setup: SessionSetup;
  readonly #channels = new Set<string>();
  #silentUntil = Number.NEGATIVE_INFINITY;
  #cancelPing: (() => void) | undefined;
  #cancelIdle: () => void;

  constructor(socket: WebSocket, setup: SessionSetup) {
    this.#socket = socket;
    this.#setup = setup;
    this.#cancelIdle = this.#idleTimer();
    socket.on('message', (bytes, isBinary) => {
      const message = isBinary ? undefined : messageOf(textOfFrame(bytes));
      if (message === undefined) return;
      setup.refresh();
      this.#obey(message);
      setup.publish();
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#end());
  }

  push(channel: string, frame: Buffer): void {
    const { clock, fault } = this.#setup;
    const hit = fault(channel);
    if (hit !== undefined && 'socket' in hit) {
      if (hit.socket === 'disconnect') {
        this.#socket.terminate();
        return;
      }
      this.#silentUntil = hit.forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + clock.machine(hit.forMs);
    }
    if (clock.now() < this.#silentUntil) return;
    if (this.#socket.bufferedAmount > bufferLimit) this.#socket.terminate();
    else this.#socket.send(frame, { binary: true });
  }

  #obey({ event, channel, params }: Message): void {
    if (event === 'sub') this.#subscribe(channel, textOf(params.get('cb_id')));
    else if (event === 'unsub') this.#unsubscribe(channel);
    else if (event === 'req' || event === 'reg') this.#answer(channel, params);
  }

  #subscribe(channel: string, callbackId: string | undefined): void {
    const { exchange, feed, habits } = this.#setup;
    if (this.#channels.size >= channelLimit && !this.#channels.has(channel)) return;
    if (topicOf(channel, exchange) === undefined) return;
    if (habits.acknowledge) this.push(channel, packed(ackFrame(channel, callbackId, exchange.now)));
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
    const { exchange, habits } = this.#setup;
    const topic = topicOf(channel, exchange);
    const data = topic && history(topic, params, exchange, habits);
    if (topic === undefined || data === undefined) return;
    const withStatus = topic.content.kind === 'trades';
    const reply = { channel, callbackId: textOf(params.get('cb_id')), data, now: exchange.now, withStatus };
    this.push(channel, packed(replyFrame(reply, habits)));
  }

  #idleTimer(): () => void {
    const { clock } = this.#setup;
    return clock.at(clock.now() + clock.machine(idleMs), () => this.#socket.terminate());
  }

  #ping(): void {
    const { clock } = this.#setup;
    this.#cancelPing = clock.at(clock.now() + clock.machine(pingEveryMs), () => {
      this.push('ping', packed({ ping: Math.floor(clock.now() / 1_000) }));
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

/** A client's message; undefined for anything that is none, pongs included: the socket ignores it without a word. */
function messageOf(text: string): Message | undefined {
  const message = parseJson(text);
  if (!isObject(message) || !('event' in message && 'params' in message) || !isObject(message.params)) return undefined;
  const params: Params = new Map(Object.entries(message.params));
  const channel = textOf(params.get('channel'));
  return channel === undefined ? undefined : { event: textOf(message.event), channel, params };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One text frame; ws hands it over as one buffer unless told otherwise. */
const textOfFrame = (bytes: RawData): string => (Buffer.isBuffer(bytes) ? bytes.toString('utf8') : '');

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
