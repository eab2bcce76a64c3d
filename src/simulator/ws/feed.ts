/**
 * What is pushed to whom, and when. Trades leave at once; the states (depth, klines, ticker) leave when they changed, each at
 * most once in its pace, and depth is repeated when nothing changes. Paces are exchange time.
 */
import type { Changes, Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import { packed, pushFrame, tradeRow } from './frames.ts';
import { snapshot, type Topic, topicOf } from './topics.ts';

/** Somebody who gets frames of a channel. */
export interface Listener {
  push(channel: string, frame: Buffer): void;
}

const paceMs: Readonly<Record<Topic['content']['kind'], number>> = {
  depth: 1_000,
  klines: 1_000,
  ticker: 2_000,
  trades: 0,
};
const depthRepeatMs = 10_000;

interface Served {
  readonly topic: Topic;
  readonly listeners: Set<Listener>;
  changed: boolean;
  sentAt: number;
}

export interface Feed {
  /** Subscribes and sends the state at once; false when there is no such channel. */
  add(channel: string, listener: Listener): boolean;
  remove(channel: string, listener: Listener): void;
  /** Sends what is due: new trades, changed states whose pace has passed, repeats. */
  publish(changes: Changes): void;
  /** When a state is due next, exchange time; infinite when none is. */
  nextAt(): number;
}

export function openFeed(exchange: Exchange, habits: Habits): Feed {
  const served = new Map<string, Served>();

  function send(one: Served): void {
    one.changed = false;
    one.sentAt = exchange.now;
    const frame = snapshot(one.topic, exchange, habits);
    if (frame === undefined) return;
    const bytes = packed(frame);
    for (const listener of one.listeners) listener.push(one.topic.channel, bytes);
  }

  function sendTrades(one: Served, changes: Changes): void {
    const prints = changes.prints.get(one.topic.symbol);
    const newest = prints?.[prints.length - 1];
    if (prints === undefined || newest === undefined) return;
    const at = exchange.matching(one.topic.symbol).instrument;
    const data = prints.map((print) => tradeRow(print, at, habits)).reverse();
    const tick = habits.envelope === 'full' ? { data, ts: newest.time } : { data };
    const bytes = packed(pushFrame(one.topic.channel, tick, newest.time, habits));
    for (const listener of one.listeners) listener.push(one.topic.channel, bytes);
  }

  return {
    add(channel, listener) {
      const topic = topicOf(channel, exchange);
      if (topic === undefined) return false;
      let one = served.get(channel);
      if (one === undefined) {
        one = { topic, listeners: new Set(), changed: false, sentAt: exchange.now };
        served.set(channel, one);
      }
      if (one.listeners.has(listener)) return true;
      one.listeners.add(listener);
      const frame = snapshot(topic, exchange, habits);
      if (frame !== undefined) listener.push(channel, packed(frame));
      return true;
    },
    remove(channel, listener) {
      const one = served.get(channel);
      one?.listeners.delete(listener);
      if (one?.listeners.size === 0) served.delete(channel);
    },
    publish(changes) {
      for (const one of served.values()) {
        const { symbol, content } = one.topic;
        if (content.kind === 'trades') {
          sendTrades(one, changes);
          continue;
        }
        one.changed ||= content.kind === 'depth' ? changes.books.has(symbol) : changes.prints.has(symbol);
        if (exchange.now >= dueAt(one)) send(one);
      }
    },
    nextAt() {
      let at = Number.POSITIVE_INFINITY;
      for (const one of served.values()) at = Math.min(at, dueAt(one));
      return at;
    },
  };
}

function dueAt({ topic, changed, sentAt }: Served): number {
  if (changed) return sentAt + paceMs[topic.content.kind];
  return topic.content.kind === 'depth' ? sentAt + depthRepeatMs : Number.POSITIVE_INFINITY;
}
