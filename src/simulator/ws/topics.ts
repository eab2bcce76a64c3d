/** The channels that can be subscribed to (specification §6.2), and what each shows. */
import { type Interval, isInterval } from '../../domain/interval.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Json } from '../http/json.ts';
import type { Params } from '../http/params.ts';
import { klinesOf, lastDay, quoteVolume } from '../market/aggregate.ts';
import { depthTick, klineTick, pushFrame, tickerTick, tradeRow } from './frames.ts';

export type Content =
  | { readonly kind: 'depth' | 'trades' | 'ticker' }
  | { readonly kind: 'klines'; readonly interval: Interval };

export interface Topic {
  readonly channel: string;
  /** Upper case, as the exchange keeps it. */
  readonly symbol: string;
  readonly content: Content;
}

/** Reads a channel; undefined for one that is not served, upper case included: the socket stays silent about those. */
export function topicOf(channel: string, exchange: Exchange): Topic | undefined {
  const [, lower, rest = ''] = /^market_([a-z0-9]+)_([a-z0-9_]+)$/.exec(channel) ?? [];
  const symbol = lower?.toUpperCase();
  const content = contentOf(rest);
  if (symbol === undefined || content === undefined) return undefined;
  if (!exchange.instruments.has(symbol) || exchange.delisted.has(symbol)) return undefined;
  return { channel, symbol, content };
}

function contentOf(text: string): Content | undefined {
  if (text === 'depth_step0') return { kind: 'depth' };
  if (text === 'trade_ticker') return { kind: 'trades' };
  if (text === 'ticker') return { kind: 'ticker' };
  const interval = /^kline_(\w+)$/.exec(text)?.[1];
  return interval !== undefined && isInterval(interval) ? { kind: 'klines', interval } : undefined;
}

/**
 * The states that a topic shows now, as frames `dated` so, in the order they are pushed; none where there is none (trades are events; klines before
 * the first trade). A kline that was `shown` last and has closed since comes once more, as it ended: without a closed flag,
 * the last frame of an id is what clients take for the kline.
 */
export function states(
  { channel, symbol, content }: Topic,
  exchange: Exchange,
  quirks: Quirks,
  dated: number,
  shown?: number,
): Json[] {
  const at = exchange.matching(symbol).instrument;
  const push = (tick: Json): Json => pushFrame(channel, tick, dated, quirks);
  const { minutes } = exchange.market(symbol);
  switch (content.kind) {
    case 'depth': {
      const matching = exchange.matching(symbol);
      const side = (of: 'BUY' | 'SELL') => matching.depth(of, quirks.socketLevels);
      return [push(depthTick(side('BUY'), side('SELL'), at, quirks))];
    }
    case 'ticker': {
      const day = lastDay(minutes, exchange.now);
      return day === undefined ? [] : [push(tickerTick(day, at, quirks))];
    }
    case 'klines': {
      const [newest, before] = klinesOf(minutes, content.interval, { count: 2 });
      const ended = before !== undefined && before.openTime === shown ? [before] : [];
      return newest === undefined ? [] : [...ended, newest].map((row) => push(klineTick(row, at)));
    }
    case 'trades':
      return [];
  }
}

/** Open time of the kline that a topic of klines shows now. */
export const shownKline = ({ symbol, content }: Topic, exchange: Exchange): number | undefined =>
  content.kind === 'klines'
    ? klinesOf(exchange.market(symbol).minutes, content.interval, { count: 1 })[0]?.openTime
    : undefined;

/** Rows in an answer to `req` (specification §6.2). */
const historyLimit = 300;

/** The answer to `req` (specification §6.3, which shows a status with trades only); undefined where there is no history. */
export function replyFrame(topic: Topic, params: Params, exchange: Exchange, quirks: Quirks): Json | undefined {
  const data = history(topic, params, exchange, quirks);
  if (data === undefined) return undefined;
  const full = quirks.envelope === 'full';
  const callbackId = params.get('cb_id');
  return {
    event_rep: 'rep',
    channel: topic.channel,
    cb_id: quirks.echoCallbackId && typeof callbackId === 'string' ? callbackId : undefined,
    ts: full ? Math.floor(exchange.now / 1_000) * 1_000 : exchange.now,
    status: topic.content.kind === 'trades' || full ? 'ok' : undefined,
    data,
    tick: full ? null : undefined,
  };
}

/** Rows before `endIdx` (a kline id in seconds), the newest first, at most 300; undefined where there is no history. */
function history({ symbol, content }: Topic, params: Params, exchange: Exchange, quirks: Quirks): Json[] | undefined {
  const at = exchange.matching(symbol).instrument;
  const count = Math.min(historyLimit, whole(params.get('pageSize')) || historyLimit);
  if (content.kind === 'trades')
    return exchange.recentPrints(symbol, count).map((print) => tradeRow(print, at, quirks));
  if (content.kind !== 'klines') return undefined;
  const before = whole(params.get('endIdx'));
  const range = before === undefined ? { count } : { count, to: before * 1_000 - 1 };
  return klinesOf(exchange.market(symbol).minutes, content.interval, range).map((row) => ({
    ...klineTick(row, at),
    amount: quoteVolume(row),
  }));
}

/** A whole number out of text; anything else counts as left out, since the socket has no errors. */
const whole = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
