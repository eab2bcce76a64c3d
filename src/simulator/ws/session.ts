/** One socket: its subscriptions, heartbeats, requests for history, and the faults that hit it. */
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../clock/clock.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import type { FaultAction } from '../faults/rules.ts';
import { type Json, parseJson } from '../http/json.ts';
import type { Params } from '../http/params.ts';
import { klinesOf } from '../market/aggregate.ts';
import type { Feed, Listener } from './feed.ts';
import { ackFrame, amountOf, klineTick, packed, replyFrame, tradeRow } from './frames.ts';
import { type Topic, topicOf } from './topics.ts';

/** Heartbeat and idle time are about the machine: real ms. */
const pingEveryMs = 10_000;
const idleMs = 30_000;
/** Channels on one socket; a subscription over it is ignored like an unknown one. */
const channelLimit = 1_000;
/** A client this far behind is cut: it would only get older data. */
const bufferLimit = 16 * 1_048_576;
const historyLimit = 300;

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
export function serveSocket(socket: WebSocket, setup: SessionSetup): void {
  const { exchange, feed, habits, clock } = setup;
  const channels = new Set<string>();
  let silentUntil = Number.NEGATIVE_INFINITY;
  let pinging = false;
  let cancelPing: () => void = () => undefined;
  let cancelIdle = idleTimer();

  const listener: Listener = { push: send };

  function send(channel: string, bytes: Buffer): void {
    const fault = setup.fault(channel);
    if (fault !== undefined && 'socket' in fault) {
      if (fault.socket === 'disconnect') {
        socket.terminate();
        return;
      }
      silentUntil = fault.forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + clock.machine(fault.forMs);
    }
    if (clock.now() < silentUntil) return;
    if (socket.bufferedAmount > bufferLimit) socket.terminate();
    else socket.send(bytes, { binary: true });
  }

  function idleTimer(): () => void {
    return clock.at(clock.now() + clock.machine(idleMs), () => socket.terminate());
  }

  function ping(): void {
    cancelPing = clock.at(clock.now() + clock.machine(pingEveryMs), () => {
      send('ping', packed({ ping: Math.floor(clock.now() / 1_000) }));
      ping();
    });
  }

  function subscribe(channel: string, callbackId: string | undefined): void {
    if (channels.size >= channelLimit && !channels.has(channel)) return;
    if (topicOf(channel, exchange) === undefined) return;
    if (habits.acknowledge) send(channel, packed(ackFrame(channel, callbackId, exchange.now)));
    channels.add(channel);
    feed.add(channel, listener);
    cancelIdle();
    if (!pinging) ping();
    pinging = true;
  }

  function unsubscribe(channel: string): void {
    if (!channels.delete(channel)) return;
    feed.remove(channel, listener);
    if (channels.size > 0) return;
    cancelIdle();
    cancelIdle = idleTimer();
  }

  function answer(channel: string, params: Params): void {
    const topic = topicOf(channel, exchange);
    const data = topic && history(topic, params, exchange, habits);
    if (topic === undefined || data === undefined) return;
    const withStatus = topic.content.kind === 'trades';
    const reply = { channel, callbackId: textOf(params.get('cb_id')), data, now: exchange.now, withStatus };
    send(channel, packed(replyFrame(reply, habits)));
  }

  socket.on('message', (bytes, isBinary) => {
    const message = isBinary ? undefined : messageOf(textOfFrame(bytes));
    if (message === undefined) return;
    setup.refresh();
    const { event, channel, params } = message;
    if (event === 'sub') subscribe(channel, textOf(params.get('cb_id')));
    else if (event === 'unsub') unsubscribe(channel);
    else if (event === 'req' || event === 'reg') answer(channel, params);
    setup.publish();
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    cancelPing();
    cancelIdle();
    for (const channel of channels) feed.remove(channel, listener);
    channels.clear();
  });
}

/** A client's message; undefined for anything that is none, pongs included: the socket ignores it without a word. */
function messageOf(text: string): { event: string | undefined; channel: string; params: Params } | undefined {
  const message = parseJson(text);
  if (!isObject(message) || !('event' in message && 'params' in message) || !isObject(message.params)) return undefined;
  const params: Params = new Map(Object.entries(message.params));
  const channel = textOf(params.get('channel'));
  return channel === undefined ? undefined : { event: textOf(message.event), channel, params };
}

/** Rows before `endIdx` (a kline id in seconds), the newest first, at most 300; undefined where there is no history. */
function history({ symbol, content }: Topic, params: Params, exchange: Exchange, habits: Habits): Json[] | undefined {
  const at = exchange.matching(symbol).instrument;
  const count = Math.min(
    historyLimit,
    Math.max(1, Number(textOf(params.get('pageSize')) ?? historyLimit) || historyLimit),
  );
  if (content.kind === 'trades')
    return exchange.recentPrints(symbol, count).map((print) => tradeRow(print, at, habits));
  if (content.kind !== 'klines') return undefined;
  const end = textOf(params.get('endIdx'));
  const before = end === undefined || end === '' ? undefined : Number(end) * 1_000 - 1;
  const wanted = before === undefined || Number.isNaN(before) ? { count } : { count, to: before };
  return klinesOf(exchange.market(symbol).minutes, content.interval, wanted).map((row) => ({
    ...klineTick(row, at),
    amount: amountOf(row),
  }));
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One text frame; ws hands it over as one buffer unless told otherwise. */
const textOfFrame = (bytes: RawData): string => (Buffer.isBuffer(bytes) ? bytes.toString('utf8') : '');

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
