/** The aggregated public data under `/open` (specification §4.6): every answer in an envelope, its rows under a key of `data`. */
import type { Level, Side } from '../../../domain/market.ts';
import type { Units } from '../../../domain/money.ts';
import type { Answer } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { sideOf } from '../orders/read-order.ts';
import { type Endpoint, endpoints } from '../rest/endpoints.ts';
import { amountOf, type Fields, idOf, isFields, numberOf, textOf, timeOf } from '../rest/json.ts';
import type { Call, Rest } from '../rest/rest.ts';
import { readBook } from './read-market.ts';

export interface OpenTrade {
  readonly id: string;
  readonly price: number;
  readonly baseVolume: number;
  readonly quoteVolume: number;
  /** UTC ms. */
  readonly time: number;
  readonly side: Side;
}

export interface OpenTicker {
  /** `BTC_USDT`. */
  readonly symbol: string;
  readonly last: number;
  readonly baseVolume: number;
  readonly quoteVolume: number;
}

export interface OpenAsset {
  readonly asset: string;
  readonly name: string;
  /** Undefined where the answer does not say so in a readable way. */
  readonly canWithdraw: boolean | undefined;
  readonly canDeposit: boolean | undefined;
  /** Undefined where there is no readable limit. */
  readonly minWithdraw: Units | undefined;
  readonly maxWithdraw: Units | undefined;
}

export interface OpenDepth {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** The exchange chooses what is left out. */
export interface OpenDepthOptions {
  /** How coarse the levels are. */
  readonly step?: OpenStep;
  /** Number of levels. */
  readonly bids?: number;
  readonly asks?: number;
}
export type OpenStep = 0 | 1 | 2;

export interface OpenSummary {
  readonly symbol: string;
  readonly high: number;
  readonly low: number;
  readonly buy: number;
  readonly sell: number;
  readonly last: number;
  readonly volume: number;
  /** Change over 24 hours; a ratio on most deployments, percent on some. */
  readonly change: number;
}

export interface OpenData {
  /** The newest public trades, oldest first. */
  trades(base: string, quote: string, limit?: number): Promise<Answer<readonly OpenTrade[]>>;
  ticker(): Promise<Answer<readonly OpenTicker[]>>;
  asset(): Promise<Answer<readonly OpenAsset[]>>;
  depth(base: string, quote: string, options?: OpenDepthOptions): Promise<Answer<OpenDepth>>;
  allTickers(): Promise<Answer<readonly OpenSummary[]>>;
}

export function openData(rest: Rest, count: Count): OpenData {
  const ask = <T>(
    endpoint: Endpoint,
    query: NonNullable<Call['query']>,
    read: (data: Fields) => T | string,
  ): Promise<Answer<T>> =>
    rest.ask({ endpoint, lane: 'market', query }, (value) =>
      isFields(value) ? read(value) : 'the answer holds no data',
    );

  /** Unreadable rows are left out and counted: nothing depends on them. */
  function each<T>(
    rows: readonly (readonly [string, unknown])[],
    read: (row: Fields, key: string) => T | undefined,
  ): T[] {
    return rows.flatMap(([key, row]) => {
      const one = isFields(row) ? read(row, key) : undefined;
      if (one === undefined) count('unreadable open data', row);
      return one === undefined ? [] : [one];
    });
  }
  const listed = (value: unknown): (readonly [string, unknown])[] | undefined =>
    Array.isArray(value) ? value.map((row: unknown) => ['', row]) : undefined;
  const named = (value: unknown): (readonly [string, unknown])[] | undefined =>
    isFields(value) ? Object.entries(value) : undefined;

  return {
    trades: (base, quote, limit) =>
      ask(endpoints.openTrades, { base, quote, trades: limit }, (data) => {
        const rows = listed(data['trades']);
        return rows === undefined
          ? 'the answer is not a list'
          : each(rows, readOpenTrade)
              .reverse()
              .sort((a, b) => a.time - b.time);
      }),
    ticker: () =>
      ask(endpoints.openTicker, {}, (data) => {
        const rows = named(data['ticker']);
        return rows === undefined ? 'the answer holds no tickers' : each(rows, readOpenTicker);
      }),
    asset: () =>
      ask(endpoints.openAsset, {}, (data) => {
        const rows = named(data['asset']);
        return rows === undefined ? 'the answer holds no assets' : each(rows, readOpenAsset);
      }),
    depth: (base, quote, { step, bids, asks } = {}) =>
      ask(endpoints.openDepth, { base, quote, depth: step, bids, asks }, (data) => {
        const book = data[`orderbook`];
        return isFields(book) ? readBook(book['bids'], book['asks']) : 'the answer is not a depth snapshot';
      }),
    allTickers: () =>
      ask(endpoints.openAllTickers, {}, (data) => {
        const rows = listed(data['ticker']);
        return rows === undefined ? 'the answer is not a list' : each(rows, readSummary);
      }),
  };
}

/** `{"tradeID":159,"price":"9200","base_volume":"0.5","quote_volume":"4600","trade_timestamp":"1595563624731","type":"sell"}` */
function readOpenTrade(row: Fields): OpenTrade | undefined {
  const id = idOf(row['tradeID']) ?? idOf(row['trade_id']);
  const price = numberOf(row['price']);
  const baseVolume = numberOf(row['base_volume']);
  const quoteVolume = numberOf(row['quote_volume']);
  const time = timeOf(row['trade_timestamp']);
  const side = sideOf(row['type']);
  const sound = price > 0 && baseVolume > 0 && Number.isFinite(price + baseVolume + quoteVolume);
  if (id === undefined || time === undefined || side === undefined || !sound) return undefined;
  return { id, price, baseVolume, quoteVolume, time, side };
}

/** `"BTC_USDT":{"base_id":"1","quote_id":"825","last_price":"9200","base_volume":"12.5","quote_volume":"115000"}` */
function readOpenTicker(row: Fields, symbol: string): OpenTicker | undefined {
  const last = numberOf(row['last_price']);
  const baseVolume = numberOf(row['base_volume']);
  const quoteVolume = numberOf(row['quote_volume']);
  return Number.isFinite(last + baseVolume + quoteVolume) ? { symbol, last, baseVolume, quoteVolume } : undefined;
}

/** `"BTC":{"name":"bitcoin","unified_cryptoasset_id":"1","can_withdraw":"true","can_deposit":"true","min_withdraw":"0.01","max_withdraw":"100"}` */
const readOpenAsset = (row: Fields, asset: string): OpenAsset => ({
  asset,
  name: textOf(row['name']) ?? asset,
  canWithdraw: truthOf(row['can_withdraw']),
  canDeposit: truthOf(row['can_deposit']),
  minWithdraw: amountOf(row['min_withdraw']),
  maxWithdraw: amountOf(row['max_withdraw']),
});

/** `{"symbol":"BTCUSDT","high":"9279.03","low":"9046.95","buy":9199.1,"sell":9200.2,"vol":"1302","last":9200,"rose":"+0.01"}` */
function readSummary(row: Fields): OpenSummary | undefined {
  const symbol = textOf(row['symbol']);
  const summary = {
    high: numberOf(row['high']),
    low: numberOf(row['low']),
    buy: numberOf(row['buy']),
    sell: numberOf(row['sell']),
    last: numberOf(row['last']),
    volume: numberOf(row['vol']),
    change: numberOf(row['rose']),
  };
  return symbol === undefined || !Number.isFinite(summary.last) ? undefined : { symbol, ...summary };
}

function truthOf(value: unknown): boolean | undefined {
  const word = typeof value === 'boolean' ? `${value}` : textOf(value)?.toLowerCase();
  if (word === 'true' || word === '1' || word === 'yes') return true;
  return word === 'false' || word === '0' || word === 'no' ? false : undefined;
}
