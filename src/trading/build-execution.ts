/** What execution works with, as a journal left it. */

import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import { baseUnits, lotsIn, notional, plus } from '../domain/money.ts';
import type { Account, VenueTrade } from '../domain/order.ts';
import type { Execution, Timing } from '../execution/context.ts';
import { Halts, haltCauseOf } from '../execution/halt.ts';
import type { Ledger } from '../execution/ledger.ts';
import { QuarantinedTrades } from '../execution/quarantined-trades.ts';
import { DoubtfulOrders } from '../execution/reconcile/unproven-owners.ts';
import { restoreOrder, restoreTrade } from '../execution/records.ts';
import type { Notice } from '../journal/entries.ts';
import { restoreFill } from '../journal/fill-entries.ts';
import type { Journal } from '../journal/journal.ts';
import { finer, type Loaded } from '../journal/load.ts';
import { ownersAfter } from '../journal/past-orders.ts';
import type { Portfolio, WorkingOrder } from '../portfolio/portfolio.ts';
import { type Answer, type Balance, type OrderEntry, ok } from '../venue/venue.ts';

export interface ExecutionParts {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly orders: OrderEntry;
  readonly account: Account;
  readonly dedicated?: boolean;
  readonly timing: Timing;
  readonly loaded: Loaded;
  readonly notice: (notice: Notice) => void;
  readonly balances?: () => Promise<Answer<readonly Balance[]>>;
  readonly serverTime?: () => Promise<Answer<number>>;
}

/** `ledger`: what fills and the operator moved so far; undefined where fills are simulated. */
export function executionOf(
  parts: ExecutionParts,
  portfolio: Portfolio,
  ledger: Ledger | undefined,
  readId: Execution['readId'],
): Execution {
  const { clock, journal, orders, account, dedicated = false, timing, loaded, notice, balances } = parts;
  const standing = loaded.halts.map(({ at, by, reason }) => ({ at, cause: haltCauseOf(by), text: reason }));
  return {
    clock,
    journal,
    portfolio,
    orders,
    account,
    dedicated,
    timing,
    readId,
    owners: ownersAfter(loaded.past, (clientOrderId) => portfolio.order(clientOrderId) !== undefined),
    foreign: new Set(loaded.foreign),
    doubtful: new DoubtfulOrders(loaded.doubtful),
    givenUp: new Map(
      loaded.givenUp.map((row) => [row.clientOrderId, restoreOrder(row, portfolio.instrument(row.symbol))]),
    ),
    halts: new Halts({ clock, journal, standing }),
    quarantinedTrades: new QuarantinedTrades({
      clock,
      journal,
      portfolio,
      timing,
      notice,
      rows: loaded.quarantinedTrades,
    }),
    ended: endedOrders(loaded, portfolio),
    echo: { missing: false },
    horizon: { ms: Math.max(timing.absentAfterMs, loaded.horizonMs ?? 0) },
    changes: { count: 0 },
    books: ledger === undefined ? undefined : { balances, ledger },
    serverTime: parts.serverTime ?? (() => Promise.resolve(ok(clock.now()))),
    firstOrderAt: loaded.firstOrderAt ?? clock.now(),
    notice,
  };
}

/** Orders that ended and are kept in memory: late fills are rare. */
const maxEnded = 1_000;

/** Orders that ended, each as its fills left it. */
function endedOrders({ past }: Loaded, portfolio: Portfolio): Execution['ended'] {
  const known = new Map<string, WorkingOrder>();
  return (clientOrderId) => {
    const before = known.get(clientOrderId);
    if (before !== undefined) return before;
    const found = past.order(clientOrderId);
    const at = found && portfolio.instruments.get(found.row.symbol);
    if (found === undefined || at === undefined) return undefined;
    const order = restoreOrder(found.row, at);
    for (const row of found.fills) {
      const its = finer(row, at);
      const { price, quantity } = restoreFill(row, its);
      order.filled = plus(order.filled, lotsIn(baseUnits(quantity, its), at));
      order.spent = plus(order.spent, notional(price, quantity, its));
    }
    if (known.size >= maxEnded) known.clear();
    known.set(clientOrderId, order);
    return order;
  };
}

export const instrumentOf =
  (portfolio: Portfolio) =>
  (symbol: string): Instrument | undefined =>
    portfolio.instruments.get(symbol);

/**
 * The evidence that is not all in fills: trades of which one of the orders is not ours, or is ours without a row. Attribution is
 * repeatable, so booking them again does what a sweep would do.
 */
export function unbookedTrades(
  { venueTrades, past }: Pick<Loaded, 'venueTrades' | 'past'>,
  at: (symbol: string) => Instrument | undefined,
): readonly VenueTrade[] {
  const trades: VenueTrade[] = [];
  for (const row of venueTrades) {
    const known = at(row.symbol);
    if (known === undefined) continue;
    const isBooked = row.orderIds.every(
      (orderId) => past.ownerOf(orderId) !== undefined && past.fill({ tradeId: row.tradeId, orderId }) !== undefined,
    );
    if (!isBooked) trades.push(restoreTrade(row, finer(row, known)));
  }
  return trades;
}
