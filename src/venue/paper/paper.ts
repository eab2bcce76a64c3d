/**
 * A simulated venue on a live feed, for paper trading: the market is real, orders fill by the book that is shown and the
 * trades that others make. It keeps nothing over a restart: the journal does, and hands open orders back as `restored`. What
 * had filled but was not yet a row has then not happened, for the money and the order alike.
 */
import { Subscription } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Intent, Outcome } from '../../domain/order.ts';
import type { Step } from '../../fill/orders.ts';
import { TradeFills } from '../../fill/trade-fills.ts';
import type { AccountReader, CancelOutcome, MarketFeed, OrderEntry, OrderRef } from '../venue.ts';
import { PaperAccount, type PaperAccountOptions, type RestoredOrder } from './account.ts';
import { cancelable, type PaperWire, paperBalances, paperOrders } from './order-entry.ts';

export interface PaperOnFeedOptions extends PaperAccountOptions {
  readonly clock: Clock;
  readonly feed: Pick<MarketFeed, 'trades' | 'depth'>;
  /** Every symbol that may be traded; their trades and books are listened to from the start. */
  readonly symbols: Iterable<string>;
  readonly restored?: readonly RestoredOrder[];
}

export interface PaperOnFeed {
  readonly orders: OrderEntry;
  readonly account: AccountReader;
  close(): void;
}

/** Opens the venue. Ids count up from the present time, or from `firstId` where that is higher, so that no two runs share one. */
export function paperOnFeed(options: PaperOnFeedOptions): PaperOnFeed {
  const { clock, feed } = options;
  // How old a book may be is a matter of machine and network.
  const rules = { ...options.rules, maxBookAgeMs: clock.machine(options.rules.maxBookAgeMs) };
  const firstId = Math.max(Math.floor(clock.now()) * 1000, options.firstId ?? 0);
  const account = new PaperAccount({ ...options, firstId });
  const markets = new Map<string, TradeFills>();
  const listening = new Subscription();
  const canPay = account.canPay.bind(account);
  const book = (step: Step): boolean => account.book(step);
  for (const symbol of options.symbols) {
    const instrument = options.instruments.get(symbol);
    if (instrument === undefined) throw new Error(`no instrument ${symbol}`);
    markets.set(symbol, new TradeFills({ instrument, rules, canPay }));
  }
  for (const order of options.restored ?? []) {
    if (account.restore(order)) markets.get(order.intent.symbol)?.submit(order.intent, clock.now(), order.executed);
  }
  for (const [symbol, fills] of markets) {
    listening.add(feed.trades(symbol).subscribe((trade) => book(fills.print(trade))));
    listening.add(feed.depth(symbol).subscribe((depth) => book(fills.book(depth))));
  }

  // A request travels, is acted upon at the exchange, and its answer travels back.
  const wire: PaperWire = {
    submit: (intent) => travel(() => arrive(intent)),
    cancel: (order) => travel(() => cancel(order)),
    ask: travel,
  };
  async function travel<T>(act: () => T): Promise<T> {
    await clock.sleep(clock.machine(rules.entryLatencyMs));
    const answer = act();
    await clock.sleep(clock.machine(rules.responseLatencyMs));
    return answer;
  }
  function arrive(intent: Intent): Outcome {
    const market = markets.get(intent.symbol);
    if (market === undefined) return { kind: 'rejected', code: '-1121', message: 'Invalid symbol.' };
    const outcome = account.accept(intent);
    if (outcome.kind === 'accepted') book(market.submit(intent, clock.now()));
    return outcome;
  }
  function cancel(order: OrderRef): CancelOutcome {
    const found = cancelable(account, order);
    if ('kind' in found) return found;
    book(markets.get(order.symbol)?.cancel(found.clientOrderId) ?? { fills: [], ends: [] });
    return { kind: 'requested' };
  }

  return {
    orders: paperOrders(account, wire, clock),
    account: paperBalances(account, wire),
    close: () => listening.unsubscribe(),
  };
}
