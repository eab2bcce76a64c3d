/** From the REST replies about the market to our types. */
import type { Clock } from '../../../clock/clock.ts';
import { type Instrument, instrument } from '../../../domain/instrument.ts';
import { closeTime, type Interval, isOpenTime } from '../../../domain/interval.ts';
import type { Depth, Kline, Level, Ticker, Trade } from '../../../domain/market.ts';
import { lots, max, noLots, noUnits, type Precision, units } from '../../../domain/money.ts';
import type { Count } from '../counters.ts';
import { sideOf } from '../orders/read-order.ts';
import { decimalOf, type Fields, isFields, numberOf, symbolOf, textOf, timeOf } from '../rest/json.ts';
import { rowsOf } from '../rest/reply.ts';

/** A kline as the exchange states it, before anybody knows whether it is closed. */
export type RawKline = Omit<Kline, 'symbol' | 'interval' | 'seenAt'>;

/** `{"timezone":"GMT+08:00","serverTime":1595563624731}`; one deployment spells it `server_time`. */
export const readTime = (value: unknown): number | undefined =>
  isFields(value) ? (timeOf(value['serverTime']) ?? timeOf(value['server_time'])) : undefined;

/**
 *     {"symbols":[{"symbol":"btcusdt","baseAsset":"BTC","quoteAsset":"USDT","pricePrecision":2,"quantityPrecision":5,
 *       "limitVolumeMin":0.0000100000000000,"limitAmountMin":5,"marketBuyMin":5.0000000000000000,"marketSellMin":0.00001}]}
 *
 * A symbol that cannot be read is left out and counted: it cannot be traded, the others can.
 */
export function readSymbols(value: unknown, count: Count): readonly Instrument[] | undefined {
  const rows = rowsOf(value, 'symbols');
  return rows?.flatMap((row) => {
    try {
      return isFields(row) ? [readSymbol(row)] : [];
    } catch (error) {
      count('unreadable symbol', { why: error instanceof Error ? error.message : '', row });
      return [];
    }
  });
}

function readSymbol(row: Fields): Instrument {
  const symbol = symbolOf(row['symbol']);
  const base = symbolOf(row['baseAsset']);
  const quote = symbolOf(row['quoteAsset']);
  if (symbol === undefined || base === undefined || quote === undefined) throw new RangeError('names are missing');
  const at: Precision = {
    pricePrecision: numberOf(row['pricePrecision']),
    quantityPrecision: numberOf(row['quantityPrecision']),
  };
  // The precisions are checked before the minima are read in them.
  const plain = instrument({ symbol, base, quote, ...at });
  const quantities = [row['limitVolumeMin'], row['marketSellMin']].map((min) => lots(minimumOf(min), at, 'up'));
  const amounts = [row['limitAmountMin'], row['marketBuyMin']].map((min) => units(minimumOf(min), 'up'));
  return {
    ...plain,
    minQuantity: quantities.reduce((a, b) => max(a, b), noLots),
    minNotional: amounts.reduce((a, b) => max(a, b), noUnits),
  };
}

/** Absent means no minimum; an unreadable one refuses the symbol. */
function minimumOf(value: unknown): string {
  if (textOf(value) === undefined) return '0';
  const text = decimalOf(value);
  if (text === undefined) throw new RangeError('a minimum cannot be read');
  return text;
}

/**
 *     [{"idx":1538728740000,"open":"6426.2","close":"6427.1","high":"6428.0","low":"6426.0","vol":"1.2"}, …]
 *
 * Newest or oldest first, `idx` in ms or s, the last one perhaps not closed. Oldest first here, each time once. One that cannot open
 * when it says is left out and counted. Undefined when it is no list.
 */
export function readKlines(value: unknown, canOpen: CanOpen, count: Count): readonly RawKline[] | undefined {
  const rows = rowsOf(value);
  if (rows === undefined) return undefined;
  const byTime = new Map<number, RawKline>();
  for (const row of rows) {
    const kline = isFields(row) ? readKline(row, row['idx'] ?? row['id']) : undefined;
    if (kline === undefined) count('unreadable kline', row);
    else if (!canOpen(kline.openTime)) count('kline at an impossible time', row);
    else if (!byTime.has(kline.openTime)) byTime.set(kline.openTime, kline);
  }
  return [...byTime.values()].sort((a, b) => a.openTime - b.openTime);
}

/** Whether a kline may open at a time, UTC ms. */
export type CanOpen = (openTime: number) => boolean;

/** Real ms by which an exchange's klines may be ahead of our clock, which need not have been set by the exchange yet. */
const aheadMs = 10_000;

/**
 * On the grid of the interval, and at most one interval and 10 s ahead of the clock. A time far ahead, believed, would make every open
 * kline a closed one and all that follow late ones; a time between two of the grid would be a kline of its own.
 */
export const canOpenAt =
  (interval: Interval, clock: Pick<Clock, 'now' | 'machine'>): CanOpen =>
  (openTime) =>
    openTime <= closeTime(interval, clock.now()) + clock.machine(aheadMs) && isOpenTime(interval, openTime);

/** A kline's numbers, under either interface; undefined when one is missing or impossible. */
export function readKline(row: Fields, time: unknown): RawKline | undefined {
  const openTime = timeOf(time);
  const open = numberOf(row['open']);
  const high = numberOf(row['high']);
  const low = numberOf(row['low']);
  const close = numberOf(row['close']);
  const volume = numberOf(row['vol']);
  const sound = low > 0 && high >= low && open > 0 && close > 0 && volume >= 0;
  if (openTime === undefined || !sound || !Number.isFinite(high + open + close + volume)) return undefined;
  return { openTime, open, high, low, close, volume };
}

/** Those that are over: a later one has begun, or the interval's end lies `graceMs` back. */
export function closedOnly(
  rows: readonly RawKline[],
  interval: Interval,
  now: number,
  graceMs: number,
): readonly RawKline[] {
  return rows.filter(
    ({ openTime }, index) =>
      (rows[index + 1]?.openTime ?? Number.POSITIVE_INFINITY) <= now + graceMs ||
      closeTime(interval, openTime) + graceMs <= now,
  );
}

/** Why a book is refused, or the book. */
export type BookProblem = 'unreadable depth' | 'empty depth' | 'zero in depth' | 'unsorted depth' | 'crossed depth';

/**
 * Both sides, best first, as `[[86764.73,0.18459],…]` of numbers, texts or a mixture, at times with a third (cumulative) element.
 * A book with an empty side, a zero, levels out of order or a best bid at or above the best ask is refused: acting on it is unsafe.
 */
export function readBook(bids: unknown, asks: unknown): Pick<Depth, 'bids' | 'asks'> | BookProblem {
  if (!Array.isArray(bids) || !Array.isArray(asks)) return 'unreadable depth';
  if (bids.length === 0 || asks.length === 0) return 'empty depth';
  const buys = readLevels(bids, -1);
  if (typeof buys === 'string') return buys;
  const sells = readLevels(asks, 1);
  if (typeof sells === 'string') return sells;
  const bestBid = buys[0]?.[0] ?? 0;
  const bestAsk = sells[0]?.[0] ?? 0;
  return bestBid < bestAsk ? { bids: buys, asks: sells } : 'crossed depth';
}

function readLevels(rows: readonly unknown[], direction: 1 | -1): readonly Level[] | BookProblem {
  const levels: Level[] = [];
  let previous = direction === 1 ? 0 : Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (!Array.isArray(row)) return 'unreadable depth';
    const price = numberOf(row[0]);
    const quantity = numberOf(row[1]);
    if (!Number.isFinite(price + quantity)) return 'unreadable depth';
    if (price <= 0 || quantity <= 0) return 'zero in depth';
    if ((price - previous) * direction < 0) return 'unsorted depth';
    previous = price;
    levels.push([price, quantity]);
  }
  return levels;
}

/** `{"high":"9279.03","vol":"1302","last":"9200","low":"9046.95","rose":"0","open":"9200","time":1595563624731}` */
export function readTicker(row: unknown, symbol: string, seenAt: number): Ticker | undefined {
  if (!isFields(row)) return undefined;
  const ticker = {
    symbol,
    time: timeOf(row['time']) ?? seenAt,
    open: numberOf(row['open']),
    high: numberOf(row['high']),
    low: numberOf(row['low']),
    last: numberOf(row['last'] ?? row['close']),
    volume: numberOf(row['vol']),
    seenAt,
  };
  const { open, high, low, last, volume } = ticker;
  return Number.isFinite(open + high + low + last + volume) && last > 0 ? ticker : undefined;
}

/** A public print over REST or the socket, dated by its frame where it has no time of its own; undefined when it cannot be read. */
export function readPrint(row: unknown, symbol: string, seenAt: number, frameTime?: number): Trade | undefined {
  if (!isFields(row)) return undefined;
  const price = numberOf(row['price']);
  const quantity = numberOf(row['vol'] ?? row['qty']);
  const side = sideOf(row['side']);
  const time = timeOf(row['ts'] ?? row['time']) ?? frameTime;
  const sound = price > 0 && quantity > 0 && Number.isFinite(price + quantity);
  return sound && side !== undefined && time !== undefined
    ? { symbol, time, price, quantity, side, seenAt }
    : undefined;
}

/** A list of prints, newest first, as they happened; unreadable ones are left out and counted. */
export function readPrints(
  rows: readonly unknown[],
  symbol: string,
  seenAt: number,
  count: Count,
  frameTime?: number,
): readonly Trade[] {
  const prints = rows.flatMap((row) => {
    const one = readPrint(row, symbol, seenAt, frameTime);
    if (one === undefined) count('unreadable trade', row);
    return one ?? [];
  });
  return prints.reverse().sort((a, b) => a.time - b.time);
}
