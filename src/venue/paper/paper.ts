/**
 * A simulated venue on a live feed, for paper trading: the market is real, orders fill by the book that is shown and the
 * trades that others make. It keeps nothing over a restart: the journal does, and hands open orders back as `restored`. What
 * had filled but was not yet a row has then not happened, for the money and the order alike.
 */
import { Subscription } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Intent } from '../../domain/order.ts';
import type { Step } from '../../fill/orders.ts';
import { TradeFills } from '../../fill/trade-fills.ts';
import type { MarketFeed } from '../venue.ts';
import { PaperAccount, type PaperAccountOptions, type RestoredOrder, rejected } from './account.ts';
import { PaperMarkets, type PaperWire, paperBalances, paperOrders } from './order-entry.ts';

export interface PaperOnFeedOptions extends PaperAccountOptions {
  readonly clock: Clock;
  readonly feed: Pick<MarketFeed, 'trades' | 'depth'>;
  /** Every symbol that may be traded; their trades and books are listened to from the start. */
  readonly symbols: Iterable<string>;
  readonly restored?: readonly RestoredOrder[];
}

/** Opens the venue. Ids count up from the present time, or from `firstId` where that is higher, so that no two runs share one. */
export function paperOnFeed(options: PaperOnFeedOptions) {
  const { clock, feed } = options;
  // How old a book may be is a matter of machine and network.
  const rules = { ...options.rules, maxDepthAgeMs: clock.machine(options.rules.maxDepthAgeMs) };
  const firstId = Math.max(Math.floor(clock.now()) * 1000, options.firstId ?? 0);
  const account = new PaperAccount({ ...options, firstId });
  const canPay = account.canPay.bind(account);
  const book = (step: Step): boolean => account.book(step);
  const fills = new Map<string, TradeFills>();
  const listening = new Subscription();
  const markets = new PaperMarkets(account, options.symbols, (symbol) => {
    const instrument = options.instruments.get(symbol);
    if (instrument === undefined) throw new Error(`no instrument ${symbol}`);
    const market = new TradeFills({ instrument, rules, canPay });
    fills.set(symbol, market);
    return {
      submit: (intent: Intent) => void book(market.submit(intent, clock.now())),
      cancel: (clientOrderId: string) => void book(market.cancel(clientOrderId)),
    };
  });
  for (const order of options.restored ?? []) {
    if (account.restore(order)) fills.get(order.intent.symbol)?.submit(order.intent, clock.now(), order.executed);
  }
  for (const [symbol, market] of fills) {
    listening.add(feed.trades(symbol).subscribe((trade) => book(market.print(trade))));
    listening.add(feed.depth(symbol).subscribe((depth) => book(market.book(depth))));
  }

  // A request travels, is acted upon at the exchange, and its answer travels back. By the market's time: nothing goes over a network here.
  const wire: PaperWire = {
    submit: (intent) =>
      travel(() => (fills.has(intent.symbol) ? markets.submit(intent) : rejected('-1121', 'Invalid symbol.'))),
    cancel: (order) => travel(() => markets.cancel(order)),
    ask: travel,
  };
  async function travel<T>(act: () => T): Promise<T> {
    await clock.sleep(rules.entryLatencyMs);
    const answer = act();
    await clock.sleep(rules.responseLatencyMs);
    return answer;
  }

  return {
    orders: paperOrders(account, wire, clock),
    account: paperBalances(account, wire),
    close: (): void => listening.unsubscribe(),
  };
}
