/**
 * What is pushed to whom, and when. Trades leave at once; the states (depth, klines, ticker) leave when they changed, each at
 * most once in its pace, and depth is repeated when nothing changes. Paces are exchange time.
 */
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Changes, Exchange } from '../core/exchange.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Json } from '../http/json.ts';
import { packed, pushFrame, tradeRow } from './frames.ts';
import { shownKline, states, type Topic, topicOf } from './topics.ts';

/** A receiver of a channel's frames. */
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
  /** Open time of the kline that was pushed last. */
  shown: number | undefined;
}

/** How old a stale first book is at least, exchange ms. */
const staleMs = 5_000;

interface OldBook {
  readonly keptAt: number;
  readonly newer: readonly Json[];
  readonly older: readonly Json[];
}

export class Feed {
  readonly #exchange: Exchange;
  readonly #quirks: Quirks;
  readonly #dated: () => number;
  readonly #pack: (frame: Json) => Buffer;
  readonly #served = new Map<string, Served>();
  /** Books of some time ago by symbol, where the quirk asks for stale ones. */
  readonly #oldBooks = new Map<string, OldBook>();

  /** `dated` is the time that states carry: that of a gateway, whose clock may be off. `pack` makes frames of them. */
  constructor(exchange: Exchange, quirks: Quirks, dated: () => number, pack: (frame: Json) => Buffer = packed) {
    this.#exchange = exchange;
    this.#quirks = quirks;
    this.#dated = dated;
    this.#pack = pack;
  }

  /** Subscribes and sends the state at once; ignores an unknown channel. */
  add(channel: string, listener: Listener): void {
    const topic = topicOf(channel, this.#exchange);
    if (topic === undefined) return;
    const one = getOrMake(this.#served, channel, () => {
      const shown = shownKline(topic, this.#exchange);
      return { topic, listeners: new Set<Listener>(), changed: false, sentAt: this.#exchange.now, shown };
    });
    if (one.listeners.has(listener) && this.#quirks.repeatedSub === 'ignored') return;
    one.listeners.add(listener);
    for (const frame of this.#firstStates(topic)) listener.push(channel, this.#pack(frame));
  }

  remove(channel: string, listener: Listener): void {
    const one = this.#served.get(channel);
    one?.listeners.delete(listener);
    if (one?.listeners.size === 0) this.#served.delete(channel);
  }

  /** Sends what is due: new trades, changed states whose pace has passed, repeats. */
  publish(changes: Changes): void {
    if (this.#quirks.firstDepth === 'stale') this.#keepBooks(changes.books);
    for (const one of this.#living()) {
      const { symbol, content } = one.topic;
      if (content.kind === 'trades') {
        this.#sendTrades(one, changes);
        continue;
      }
      one.changed ||= content.kind === 'depth' ? changes.books.has(symbol) : changes.prints.has(symbol);
      if (this.#exchange.now >= dueAt(one)) this.#sendState(one);
    }
  }

  /** What a new subscription gets: the state of now, or where the first book is stale, an older one. */
  #firstStates(topic: Topic): Json[] {
    const old = topic.content.kind === 'depth' ? this.#oldBooks.get(topic.symbol)?.older : undefined;
    return old === undefined ? states(topic, this.#exchange, this.#quirks, this.#dated()) : [...old];
  }

  /** Keeps a book of each symbol that is between one and two times so old. */
  #keepBooks(symbols: Iterable<string>): void {
    const { now } = this.#exchange;
    for (const symbol of symbols) {
      const kept = this.#oldBooks.get(symbol);
      if (kept !== undefined && now - kept.keptAt < staleMs) continue;
      const topic = topicOf(`market_${symbol.toLowerCase()}_depth_step0`, this.#exchange);
      if (topic === undefined) continue;
      const newer = states(topic, this.#exchange, this.#quirks, this.#dated());
      this.#oldBooks.set(symbol, { keptAt: now, newer, older: kept?.newer ?? newer });
    }
  }

  /** When a state is due next, exchange time; infinite when none is. */
  nextAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const one of this.#living()) at = Math.min(at, dueAt(one));
    return at;
  }

  /** Those of symbols that are still traded: a channel of another stays silent. */
  *#living(): Generator<Served> {
    const { delisted } = this.#exchange;
    for (const one of this.#served.values()) if (delisted.size === 0 || !delisted.has(one.topic.symbol)) yield one;
  }

  #sendState(one: Served): void {
    one.changed = false;
    one.sentAt = this.#exchange.now;
    for (const frame of states(one.topic, this.#exchange, this.#quirks, this.#dated(), one.shown))
      send(one, this.#pack(frame));
    one.shown = shownKline(one.topic, this.#exchange);
  }

  #sendTrades(one: Served, changes: Changes): void {
    const { symbol, channel } = one.topic;
    const prints = changes.prints.get(symbol);
    const newest = prints?.at(-1);
    if (prints === undefined || newest === undefined) return;
    const at = this.#exchange.matching(symbol).instrument;
    const data = prints.map((print) => tradeRow(print, at, this.#quirks)).reverse();
    const tick = this.#quirks.envelope === 'full' ? { data, ts: newest.time } : { data };
    send(one, this.#pack(pushFrame(channel, tick, newest.time, this.#quirks)));
  }
}

function send({ topic, listeners }: Served, frame: Buffer): void {
  for (const listener of listeners) listener.push(topic.channel, frame);
}

function dueAt({ topic, changed, sentAt }: Served): number {
  if (changed) return sentAt + paceMs[topic.content.kind];
  return topic.content.kind === 'depth' ? sentAt + depthRepeatMs : Number.POSITIVE_INFINITY;
}
