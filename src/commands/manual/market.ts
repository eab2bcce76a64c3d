/** `sluice market …`: what is public, by asking or by following. */
import type { Observable, Subscription } from 'rxjs';
import { realMs } from '../../clock/clock.ts';
import { intervals, isInterval } from '../../domain/interval.ts';
import type { Depth } from '../../domain/market.ts';
import { quantityText, unitsText } from '../../domain/money.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { OpenDepthOptions, OpenStep } from '../../venue/exchange/market/open-data.ts';
import { textTable } from '../text-table.ts';
import { answered, type Client, type Commanded, type WhichExchange, withClient } from './client.ts';
import { cells, depthJson, klineRow, printRows, type Row, tickerRow, tradeRow } from './show.ts';

export interface MarketCommand extends WhichExchange, Commanded {
  readonly limit?: number;
  /** How coarse the levels of `open depth` are. */
  readonly step?: OpenStep;
  /** Print what comes until interrupted. */
  readonly follow?: boolean;
  /** Ask over the socket. */
  readonly socket?: boolean;
}

const asked = (command: MarketCommand, act: (client: Client) => Promise<void>): Promise<void> =>
  withClient(command, command, false, act);
const upper = (symbol: string): string => symbol.replace('/', '').toUpperCase();

export const ping = (command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const sentAt = realMs();
    answered(await client.exchange.market.ping(), client);
    const tripMs = Math.round(realMs() - sentAt);
    command.out(
      command.json
        ? JSON.stringify({ roundTripMs: tripMs })
        : `the exchange at ${client.host} answers, in ${tripMs} ms`,
    );
  });

export const time = (command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const now = answered(await client.exchange.market.time(), client);
    command.out(command.json ? JSON.stringify({ serverTime: now }) : new Date(now).toISOString());
  });

export const symbols = (command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const rows = answered(await client.exchange.instruments(), client).map((one) => ({
      symbol: one.symbol,
      base: one.base,
      quote: one.quote,
      pricePrecision: one.pricePrecision,
      quantityPrecision: one.quantityPrecision,
      leastVolume: one.minQuantity === 0n ? null : quantityText(one.minQuantity, one),
      leastAmount: one.minNotional === 0n ? null : unitsText(one.minNotional),
    }));
    printRows(rows, command.json, command.out, 'no symbols');
  });

/** Prints each message until the user has enough. */
async function follow<T>(
  stream: Observable<T>,
  { out, say, signal }: MarketCommand,
  line: (one: T) => string,
): Promise<void> {
  let listening: Subscription | undefined;
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    listening = stream.subscribe({ next: (one) => out(line(one)), error: reject });
    say('following; Ctrl-C ends');
    if (signal.aborted) resolve();
  });
  listening?.unsubscribe();
}

const rowLine =
  ({ json }: MarketCommand) =>
  (row: Row): string =>
    json ? JSON.stringify(row) : cells(row).join('  ');

export const ticker = (symbol: string, command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const line = rowLine(command);
    if (command.follow === true)
      return follow(client.exchange.feed.ticker(upper(symbol)), command, (one) => line(tickerRow(one)));
    printRows(
      [tickerRow(answered(await client.exchange.market.ticker(upper(symbol)), client))],
      command.json,
      command.out,
      '',
    );
    return undefined;
  });

export const trades = (symbol: string, command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const { feed, past, market } = client.exchange;
    const line = rowLine(command);
    if (command.follow === true) return follow(feed.trades(upper(symbol)), command, (one) => line(tradeRow(one)));
    const answer =
      command.socket === true ? await past.trades(upper(symbol)) : await market.trades(upper(symbol), command.limit);
    printRows(answered(answer, client).map(tradeRow), command.json, command.out, 'no trades');
    return undefined;
  });

function depthText({ bids, asks }: Pick<Depth, 'bids' | 'asks'>): string {
  const rows = Array.from({ length: Math.max(bids.length, asks.length) }, (_, index) => {
    const [bid, ask] = [bids[index], asks[index]];
    return [bid?.[1], bid?.[0], ask?.[0], ask?.[1]].map((value) => (value === undefined ? '' : `${value}`));
  });
  return textTable(['quantity', 'bid', 'ask', 'quantity'], rows, 'empty');
}

export const depth = (symbol: string, command: MarketCommand): Promise<void> =>
  asked(command, async (client) => {
    const text = (one: Depth): string => (command.json ? JSON.stringify(depthJson(one)) : depthText(one));
    if (command.follow === true) return follow(client.exchange.feed.depth(upper(symbol)), command, text);
    command.out(text(answered(await client.exchange.market.depth(upper(symbol), command.limit), client)));
    return undefined;
  });

export function klines(symbol: string, interval: string, command: MarketCommand): Promise<void> {
  if (!isInterval(interval))
    throw new Refusal(
      `there is no interval ${interval}${didYouMean(interval, intervals)}: use ${intervals.join(', ')}`,
    );
  return asked(command, async (client) => {
    const { feed, past, market } = client.exchange;
    const line = rowLine(command);
    if (command.follow === true)
      return follow(feed.klines(upper(symbol), interval), command, (one) => line(klineRow(one, true)));
    // Whether a kline is closed is for the exchange's clock to say, not for this machine's.
    answered(await client.exchange.syncTime(), client);
    const rows =
      command.socket === true
        ? answered(
            await past.klines(upper(symbol), interval, command.limit === undefined ? {} : { count: command.limit }),
            client,
          ).map((one, index, all) => klineRow(one, index < all.length - 1))
        : answered(await market.klines(upper(symbol), interval, command.limit), client).map((one) =>
            klineRow(one, one.closed),
          );
    printRows(rows, command.json, command.out, 'no klines');
    return undefined;
  });
}

const depthWanted = ({ step, limit }: MarketCommand): OpenDepthOptions => ({
  ...(step !== undefined && { step }),
  ...(limit !== undefined && { bids: limit, asks: limit }),
});

export const openKinds = ['trades', 'ticker', 'asset', 'depth', 'tickers'] as const;

/** `sluice market open WHAT [BASE QUOTE]`: the aggregated data under `/open`. */
export function open(
  what: string,
  base: string | undefined,
  quote: string | undefined,
  command: MarketCommand,
): Promise<void> {
  const kind = openKinds.find((one) => one === what);
  if (kind === undefined)
    throw new Refusal(`there is no open data ${what}${didYouMean(what, openKinds)}: use ${openKinds.join(', ')}`);
  const [b, q] = [base?.toUpperCase() ?? '', quote?.toUpperCase() ?? ''];
  if ((kind === 'trades' || kind === 'depth') && (b === '' || q === ''))
    throw new Refusal(
      `${b === '' ? 'say of which symbol' : `${b} alone does not say which symbol: base and quote are apart here`}: sluice market open ${kind} BTC USDT`,
    );
  return asked(command, async (client) => {
    const { openData } = client.exchange;
    const print = (rows: readonly Row[]): void => printRows(rows, command.json, command.out, 'nothing');
    if (kind === 'trades')
      print(answered(await openData.trades(b, q, command.limit), client).map((one) => ({ ...one })));
    else if (kind === 'ticker') print(answered(await openData.ticker(), client).map((one) => ({ ...one })));
    else if (kind === 'tickers') print(answered(await openData.allTickers(), client).map((one) => ({ ...one })));
    else if (kind === 'depth') {
      const book = answered(await openData.depth(b, q, depthWanted(command)), client);
      command.out(command.json ? JSON.stringify(book) : depthText(book));
    } else
      print(
        answered(await openData.asset(), client).map((one) => ({
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
