/** `sluice market …`: public data, by one query or by following a stream. */
import type { Observable, Subscription } from 'rxjs';
import {
  type Client,
  type ClientIo,
  type ExchangeChoice,
  okOrRefuse,
  spelledSymbol,
  withClient,
} from '../../client/connection.ts';
import { realMs } from '../../clock/clock.ts';
import { exchangeIntervalOf, isExchangeInterval, isInterval, unknownInterval } from '../../domain/interval.ts';
import type { Depth, Kline, Ticker, Trade } from '../../domain/market.ts';
import { quantityText, unitsText } from '../../domain/money.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { cellsOf, printRows, type Row, textTable } from '../../terminal/table.ts';
import type { OpenStep } from '../../venue/exchange/market/open-data.ts';

export interface MarketCommand extends ExchangeChoice, ClientIo {
  readonly limit?: number;
  /** Granularity of the levels of `open depth`. */
  readonly step?: OpenStep;
  /** Print updates until interrupted. */
  readonly follow?: boolean;
  /** Query over the socket. */
  readonly socket?: boolean;
}

const unsigned = (command: MarketCommand, act: (client: Client) => Promise<void>): Promise<void> =>
  withClient(command, false, act);

export const ping = (command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const sentAt = realMs();
    okOrRefuse(await client.exchange.market.ping(), client);
    const roundTripMs = Math.round(realMs() - sentAt);
    const text = `the exchange at ${client.host} answers, in ${roundTripMs} ms`;
    command.out(command.json ? JSON.stringify({ roundTripMs }) : text);
  });

export const time = (command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const serverTime = okOrRefuse(await client.exchange.market.time(), client);
    command.out(command.json ? JSON.stringify({ serverTime }) : new Date(serverTime).toISOString());
  });

export const symbols = (command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const rows = okOrRefuse(await client.exchange.instruments(), client).map((one) => ({
      symbol: one.symbol,
      base: one.base,
      quote: one.quote,
      pricePrecision: one.pricePrecision,
      quantityPrecision: one.quantityPrecision,
      minVolume: one.minQuantity === 0n ? null : quantityText(one.minQuantity, one),
      minAmount: one.minNotional === 0n ? null : unitsText(one.minNotional),
    }));
    printRows(rows, command, 'no symbols');
  });

async function follow<T>(stream: Observable<T>, command: MarketCommand, line: (one: T) => string): Promise<void> {
  const { out, say, signal } = command;
  let subscription: Subscription | undefined;
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    subscription = stream.subscribe({ next: (one) => out(line(one)), error: reject });
    say('following; Ctrl-C ends');
    if (signal.aborted) resolve();
  });
  subscription?.unsubscribe();
}

const followRows = <T>(stream: Observable<T>, command: MarketCommand, rowOf: (one: T) => Row): Promise<void> =>
  follow(stream, command, (one) => (command.json ? JSON.stringify(rowOf(one)) : cellsOf(rowOf(one)).join('  ')));

const tickerRow = ({ time: at, symbol, open: first, high, low, last, volume }: Ticker): Row => ({
  ...{ time: at, symbol, open: first, high, low, last, volume },
});
const tradeRow = ({ time: at, side, price, quantity }: Trade): Row => ({ time: at, side, price, quantity });
const klineRow = (kline: Omit<Kline, 'symbol' | 'interval' | 'seenAt'>, closed: boolean): Row => {
  const { openTime, open: first, high, low, close, volume } = kline;
  return { openTime, open: first, high, low, close, volume, closed };
};

export const ticker = (name: string, command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const symbol = spelledSymbol(name);
    if (command.follow === true) return followRows(client.exchange.feed.ticker(symbol), command, tickerRow);
    return printRows([tickerRow(okOrRefuse(await client.exchange.market.ticker(symbol), client))], command);
  });

export const trades = (name: string, command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const { feed, past, market } = client.exchange;
    const symbol = spelledSymbol(name);
    if (command.follow === true) return followRows(feed.trades(symbol), command, tradeRow);
    const answer = await (command.socket === true ? past.trades(symbol) : market.trades(symbol, command.limit));
    return printRows(okOrRefuse(answer, client).map(tradeRow), command, 'no trades');
  });

type Levels = Pick<Depth, 'bids' | 'asks'>;

function depthText({ bids, asks }: Levels): string {
  const rows = Array.from({ length: Math.max(bids.length, asks.length) }, (_, index) => {
    const [bid, ask] = [bids[index], asks[index]];
    return [bid?.[1], bid?.[0], ask?.[0], ask?.[1]].map((value) => (value === undefined ? '' : `${value}`));
  });
  return textTable(['quantity', 'bid', 'ask', 'quantity'], rows, 'empty');
}

export const depth = (name: string, command: MarketCommand): Promise<void> =>
  unsigned(command, async (client) => {
    const { feed, market } = client.exchange;
    const text = ({ time: at, bids, asks }: Depth): string =>
      command.json ? JSON.stringify({ time: at, bids, asks }) : depthText({ bids, asks });
    const symbol = spelledSymbol(name);
    if (command.follow === true) return follow(feed.depth(symbol), command, text);
    return command.out(text(okOrRefuse(await market.depth(symbol, command.limit), client)));
  });

export function klines(name: string, interval: string, command: MarketCommand): Promise<void> {
  if (!isInterval(interval)) throw new Refusal(unknownInterval(interval));
  return unsigned(command, async (client) => {
    const { feed, past, market } = client.exchange;
    const symbol = spelledSymbol(name);
    const { limit } = command;
    if (command.follow === true)
      return followRows(feed.klines(symbol, interval), command, (one) => klineRow(one, true));
    if (!isExchangeInterval(interval))
      throw new Refusal(
        `the exchange has no klines of ${interval}: ask for ${exchangeIntervalOf(interval)}, or make them as they close with --follow`,
      );
    // The exchange's clock decides whether a kline is closed, not this machine's.
    okOrRefuse(await client.exchange.syncTime(), client);
    const rows =
      command.socket === true
        ? okOrRefuse(await past.klines(symbol, interval, limit === undefined ? {} : { count: limit }), client).map(
            (one, index, all) => klineRow(one, index < all.length - 1),
          )
        : okOrRefuse(await market.klines(symbol, interval, limit), client).map((one) => klineRow(one, one.closed));
    return printRows(rows, command, 'no klines');
  });
}

export const openKinds = ['trades', 'ticker', 'asset', 'depth', 'tickers'] as const;

/** `sluice market open KIND [BASE QUOTE]`: the aggregated data under `/open`. */
export function open(name: string, base = '', quote = '', command: MarketCommand): Promise<void> {
  const kind = openKinds.find((one) => one === name);
  if (kind === undefined)
    throw new Refusal(`unknown open data ${name}${didYouMean(name, openKinds)}: use ${openKinds.join(', ')}`);
  const [b, q] = [base.toUpperCase(), quote.toUpperCase()];
  if ((kind === 'trades' || kind === 'depth') && (b === '' || q === ''))
    throw new Refusal(
      `${b === '' ? 'the symbol is missing' : `${b} alone is not a symbol: give base and quote separately`}: sluice market open ${kind} BTC USDT`,
    );
  const { step, limit } = command;
  return unsigned(command, async (client) => {
    const { openData } = client.exchange;
    const print = (rows: readonly object[]): void =>
      printRows(
        rows.map((row): Row => ({ ...row })),
        command,
        'nothing',
      );
    if (kind === 'trades') return print(okOrRefuse(await openData.trades(b, q, limit), client));
    if (kind === 'ticker') return print(okOrRefuse(await openData.ticker(), client));
    if (kind === 'tickers') return print(okOrRefuse(await openData.allTickers(), client));
    if (kind === 'depth') {
      const levels = { ...(step !== undefined && { step }), ...(limit !== undefined && { bids: limit, asks: limit }) };
      const found = okOrRefuse(await openData.depth(b, q, levels), client);
      return command.out(command.json ? JSON.stringify(found) : depthText(found));
    }
    return print(
      okOrRefuse(await openData.asset(), client).map((one) => ({
        asset: one.asset,
        name: one.name,
        canWithdraw: one.canWithdraw ?? null,
        canDeposit: one.canDeposit ?? null,
        minWithdraw: one.minWithdraw === undefined ? null : unitsText(one.minWithdraw),
        maxWithdraw: one.maxWithdraw === undefined ? null : unitsText(one.maxWithdraw),
      })),
    );
  });
}
