/** The aggregated public data under `/open` (specification §4.6): every answer in an envelope, its rows under a key of `data`. */
import type { Answer } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { sideOf } from '../orders/read-order.ts';
import { type Endpoint, endpoints } from '../rest/endpoints.ts';
import { amountOf, type Fields, idOf, isFields, numberOf, textOf, timeOf } from '../rest/json.ts';
import type { Call, Rest } from '../rest/rest.ts';
import { readBook } from './read-market.ts';

/** How coarse the levels of depth are. */
export type OpenStep = 0 | 1 | 2;
export type OpenData = ReturnType<typeof openData>;

/** Row by row with the name that it stands under; empty in a list. */
type Rows = readonly (readonly [name: string, row: unknown])[];

export function openData(rest: Rest, count: Count) {
  const ask = <T>(
    endpoint: Endpoint,
    read: (data: Fields) => T | string,
    query: NonNullable<Call['query']> = {},
  ): Promise<Answer<T>> =>
    rest.ask({ endpoint, lane: 'market', query }, (value) =>
      isFields(value) ? read(value) : 'the answer holds no data',
    );

  /** Unreadable rows are left out and counted: nothing depends on them. */
  const each = <T>(rows: Rows | undefined, read: (row: Fields, name: string) => T | undefined): T[] | undefined =>
    rows?.flatMap(([name, row]) => {
      const one = isFields(row) ? read(row, name) : undefined;
      if (one === undefined) count('unreadable open data', row);
      return one === undefined ? [] : [one];
    });
  const listed = (value: unknown): Rows | undefined =>
    Array.isArray(value) ? value.map((row: unknown) => ['', row]) : undefined;
  const named = (value: unknown): Rows | undefined => (isFields(value) ? Object.entries(value) : undefined);

  return {
    /** The newest public trades, oldest first. */
    trades(base: string, quote: string, limit?: number) {
      const oldestFirst = ({ trades }: Fields) =>
        each(listed(trades), readOpenTrade)
          ?.reverse()
          .sort((a, b) => a.time - b.time) ?? 'the answer is not a list';
      return ask(endpoints.openTrades, oldestFirst, { base, quote, trades: limit });
    },
    ticker: () =>
      ask(endpoints.openTicker, (data) => each(named(data['ticker']), readOpenTicker) ?? 'the answer holds no tickers'),
    asset: () =>
      ask(endpoints.openAsset, (data) => each(named(data['asset']), readOpenAsset) ?? 'the answer holds no assets'),
    /** The exchange chooses what is left out: how coarse the levels are, and how many there are. */
    depth(
      base: string,
      quote: string,
      { step, bids, asks }: { readonly step?: OpenStep; readonly bids?: number; readonly asks?: number } = {},
    ) {
      const read = (data: Fields) => {
        const book = data[`orderbook`];
        return isFields(book) ? readBook(book['bids'], book['asks']) : 'the answer is not a depth snapshot';
      };
      return ask(endpoints.openDepth, read, { base, quote, depth: step, bids, asks });
    },
    allTickers: () =>
      ask(endpoints.openAllTickers, (data) => each(listed(data['ticker']), readSummary) ?? 'the answer is not a list'),
  };
}

/** `{"tradeID":159,"price":"9200","base_volume":"0.5","quote_volume":"4600","trade_timestamp":"1595563624731","type":"sell"}` */
function readOpenTrade(row: Fields) {
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
function readOpenTicker(row: Fields, symbol: string) {
  const last = numberOf(row['last_price']);
  const baseVolume = numberOf(row['base_volume']);
  const quoteVolume = numberOf(row['quote_volume']);
  return Number.isFinite(last + baseVolume + quoteVolume) ? { symbol, last, baseVolume, quoteVolume } : undefined;
}

/** `"BTC":{"name":"bitcoin","unified_cryptoasset_id":"1","can_withdraw":"true","can_deposit":"true","min_withdraw":"0.01","max_withdraw":"100"}`; a field is undefined where it cannot be read. */
const readOpenAsset = (row: Fields, asset: string) => ({
  asset,
  name: textOf(row['name']) ?? asset,
  canWithdraw: truthOf(row['can_withdraw']),
  canDeposit: truthOf(row['can_deposit']),
  minWithdraw: amountOf(row['min_withdraw']),
  maxWithdraw: amountOf(row['max_withdraw']),
});

/** `{"symbol":"BTCUSDT","high":"9279.03","low":"9046.95","buy":9199.1,"sell":9200.2,"vol":"1302","last":9200,"rose":"+0.01"}`; the change is a ratio on most deployments, percent on some. */
function readSummary(row: Fields) {
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
