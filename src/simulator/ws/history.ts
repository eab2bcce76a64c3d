/** Answers to `req` (specification §6.2): history of klines and of trades. */
import type { Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import type { Json } from '../http/json.ts';
import type { Params } from '../http/params.ts';
import { klinesOf, quoteVolume } from '../market/aggregate.ts';
import { klineTick, tradeRow } from './frames.ts';
import type { Topic } from './topics.ts';

const historyLimit = 300;

/** Rows before `endIdx` (a kline id in seconds), the newest first, at most 300; undefined where there is no history. */
export function history(
  { symbol, content }: Topic,
  params: Params,
  exchange: Exchange,
  habits: Habits,
): Json[] | undefined {
  const at = exchange.matching(symbol).instrument;
  const count = Math.min(historyLimit, whole(params.get('pageSize')) || historyLimit);
  if (content.kind === 'trades')
    return exchange.recentPrints(symbol, count).map((print) => tradeRow(print, at, habits));
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
