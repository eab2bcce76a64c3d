/**
 * The invariants of orders and fills (docs/explanation/exactly-once.md), as far as a journal alone shows them. I10 (weight) and I11
 * (liveness) leave no rows. The exchange's half of I3, I6, I7 and I12 is compared by the daemon each minute, which leaves a row.
 */

import { readClientOrderId } from '../../domain/ids.ts';
import { Decimal } from '../../domain/money.ts';
import { isClosed } from '../../domain/order.ts';
import { counted } from '../../domain/words.ts';
import type { FillEntry, OrderEntryRow } from '../../journal/entries.ts';
import { readQuarantinedTrades } from '../../journal/load.ts';
import { readRows } from '../../journal/rows.ts';
import { holdings } from './holdings.ts';
import { invalidTransition } from './steps.ts';
import { type Finding, sumOf, type View } from './view.ts';

type Found = Omit<Finding, 'rule'>;

export interface Rule {
  readonly holds: string;
  check(view: View): Iterable<Found>;
}

/** Each rule with its statement and its check. */
export const rules = {
  I1: {
    holds: 'each order of ours at the exchange has exactly one intent, with an id that this journal made',
    *check(view: View): Iterable<Found> {
      yield* idsNotMadeHere(view);
      yield* idsShared(view);
      yield* shownWithoutIntent(view);
    },
  },
  I2: {
    holds: 'no order is sent before its intent is journalled',
    *check({ orders, steps }: View): Iterable<Found> {
      for (const order of orders) {
        if (order.state === 'intended' || order.state === 'notSent') continue;
        const isWritten = order.signedAt !== null && order.bodyHash !== null && order.recvWindowMs !== null;
        if (!isWritten || !steps(order.clientOrderId).some(({ event }) => event === 'sending'))
          yield {
            order: order.clientOrderId,
            text: `is ${order.state}, but its intent was not journalled before`,
          };
      }
    },
  },
  I3: {
    holds: 'each fill belongs to an order, and its fills are the trades of that order at the exchange, each once',
    *check(view: View): Iterable<Found> {
      yield* fillsWithoutOrder(view);
      yield* fillsAgainstTrades(view);
    },
  },
  I4: {
    holds: 'an order that ended is closed, and its fills come to what was executed',
    *check({ orders, fillsOf, steps }: View): Iterable<Found> {
      for (const order of orders) {
        const { clientOrderId: id, state, closedAt, executed } = order;
        if (isClosed(state) !== (closedAt !== null))
          yield { order: id, text: `is ${state}, but ${closedAt === null ? 'has no time of its end' : 'has ended'}` };
        // An order that a human closed may be filled later.
        if (!isClosed(state) || steps(id).some(({ event }) => event === 'resolved')) continue;
        const filled = quantityOf(fillsOf.get(id));
        if (!filled.eq(executed ?? 0))
          yield {
            order: id,
            text: `is ${state} with ${executed ?? 0} executed, but its fills come to ${filled.toFixed()}`,
          };
      }
    },
  },
  I5: {
    holds: 'no order is filled above what it asked for',
    *check({ db, orders, fillsOf }: View): Iterable<Found> {
      // A human accepted such a trade.
      const accepted = readQuarantinedTrades(db).filter(({ decision }) => decision === 'accepted');
      const isAccepted = (id: string | null): boolean =>
        id !== null && accepted.some(({ orderIds }) => orderIds.includes(id));
      for (const { clientOrderId: order, orderId, quantity, amount } of orders) {
        if (isAccepted(orderId)) continue;
        const fills = fillsOf.get(order) ?? [];
        const spent = sumOf(fills.map(({ price, quantity: filled }) => new Decimal(price).times(filled)));
        if (quantity !== null && quantityOf(fills).gt(quantity))
          yield { order, text: `asked for ${quantity}, its fills come to ${quantityOf(fills).toFixed()}` };
        if (amount !== null && spent.gt(amount))
          yield { order, text: `was for ${amount}, its fills cost ${spent.toFixed()}` };
      }
    },
  },
  I6: {
    holds: 'what the account held at first, fills, fees, foreign trades and adjustments leave no asset below nothing',
    *check(view: View): Iterable<Found> {
      for (const [asset, amount] of holdings(view) ?? [])
        if (amount.isNegative()) yield { text: `the account would hold ${amount.toFixed()} ${asset}` };
    },
  },
  I7: {
    holds: 'what was never sent, or never arrived, has no fill',
    *check({ orders, fillsOf }: View): Iterable<Found> {
      for (const { clientOrderId: order, state } of orders)
        if ((state === 'notSent' || state === 'absent' || state === 'intended') && fillsOf.has(order))
          yield { order, text: `is ${state}, but has ${counted(fillsOf.get(order)?.length ?? 0, 'fill')}` };
    },
  },
  I8: {
    holds: 'each order was within the limits that it was approved by',
    *check({ orders, steps }: View): Iterable<Found> {
      for (const { clientOrderId: order } of orders)
        for (const { event, detail } of steps(order))
          for (const [what, limit] of [
            ['value', 'maxOrderValue'],
            ['exposure', 'maxPosition'],
          ] as const) {
            const [value, most] = [detail[what], detail[limit]];
            if (
              event === 'approved' &&
              value !== undefined &&
              most !== undefined &&
              new Decimal(String(value)).gt(String(most))
            )
              yield { order, text: `was approved with a ${what} of ${value}, above ${limit} ${most}` };
          }
    },
  },
  I9: {
    holds: 'each order went through its states by the table, and its row says where it is',
    *check({ orders, steps }: View): Iterable<Found> {
      for (const { clientOrderId: order, state } of orders) {
        const wrong = invalidTransition(steps(order), state);
        if (wrong !== undefined) yield { order, text: wrong };
      }
    },
  },
  I12: {
    holds: 'the last balance comparison of the account matched the ledger and the sum of these rows',
    *check(view: View): Iterable<Found> {
      yield* againstAudits(view);
    },
  },
} as const satisfies Readonly<Record<string, Rule>>;

function* againstAudits(view: View): Iterable<Found> {
  const audits = readRows(view.db, 'audit', 'ORDER BY at');
  const last = audits.at(-1);
  if (last?.outcome === 'off')
    for (const [asset, amount] of Object.entries(last.differences))
      yield { text: `at ${iso(last.at)} the account held ${amount} ${asset} beside what the ledger explained` };
  const even = audits.findLast(({ outcome }) => outcome === 'even');
  const sums = even === undefined ? undefined : holdings(view, even.at);
  if (even === undefined || sums === undefined) return;
  const held = new Map(Object.entries(even.held));
  for (const asset of new Set([...held.keys(), ...sums.keys()])) {
    const [there, here] = [new Decimal(held.get(asset) ?? 0), sums.get(asset) ?? new Decimal(0)];
    if (!there.eq(here))
      yield {
        text: `at ${iso(even.at)} the account held ${there.toFixed()} ${asset}, these rows come to ${here.toFixed()}`,
      };
  }
}

const iso = (time: number): string => new Date(time).toISOString();

const quantityOf = (fills: readonly FillEntry[] = []): Decimal => sumOf(fills.map(({ quantity }) => quantity));

function* idsNotMadeHere({ orders, idKey }: View): Iterable<Found> {
  for (const { clientOrderId: order } of orders)
    if (readClientOrderId(order, idKey) === undefined)
      yield { order, text: 'has an id that this journal did not make' };
}

function* idsShared({ orders }: View): Iterable<Found> {
  const owners = new Map<string, string>();
  for (const { clientOrderId: order, orderId } of orders) {
    if (orderId === null) continue;
    const other = owners.get(orderId);
    if (other !== undefined) yield { order, text: `has the id ${orderId} at the exchange, as order ${other} has` };
    owners.set(orderId, order);
  }
}

/** Orders that the exchange showed with an id of ours must be bound to its intent, or be known copies. */
function* shownWithoutIntent({ orders, idKey, isLost, all }: View): Iterable<Found> {
  const bound = new Map(orders.map((order): [string, OrderEntryRow] => [order.clientOrderId, order]));
  const foreign = new Set(all<{ id: string }>('SELECT order_id AS id FROM foreign_orders').map(({ id }) => id));
  const shown = all<{ orderId: string; id: string }>(
    'SELECT order_id AS orderId, client_order_id AS id FROM venue_orders WHERE client_order_id IS NOT NULL',
  );
  for (const { orderId, id } of shown) {
    const order = id.toLowerCase();
    if (foreign.has(orderId) || readClientOrderId(order, idKey) === undefined || isLost(order)) continue;
    const intent = bound.get(order);
    if (intent === undefined) yield { order, text: `was shown as ${orderId} by the exchange, and has no intent here` };
    else if (intent.orderId !== orderId && intent.state !== 'quarantined')
      yield {
        order,
        text: `was shown as ${orderId} by the exchange, and its intent is bound to ${intent.orderId ?? 'nothing'}`,
      };
  }
}

function* fillsWithoutOrder({ orders, fills, isLost }: View): Iterable<Found> {
  const known = new Map(orders.map((order): [string, OrderEntryRow] => [order.clientOrderId, order]));
  for (const fill of fills) {
    const { clientOrderId: id, tradeId } = fill;
    const order = known.get(id);
    if (order === undefined) {
      if (!isLost(id)) yield { order: id, text: `has a fill (trade ${tradeId}) and no row` };
    } else if (
      order.orderId !== fill.orderId ||
      order.symbol !== fill.symbol ||
      order.strategy !== fill.strategy ||
      order.account !== fill.account ||
      order.side !== fill.side
    )
      yield { order: id, text: `has a fill (trade ${tradeId}) of another order, symbol, side, account or strategy` };
  }
}

interface TradeRow {
  readonly symbol: string;
  readonly tradeId: string;
  readonly orderId: string;
  readonly price: string;
  readonly quantity: string;
}

function* fillsAgainstTrades({ db, orders, fills, all }: View): Iterable<Found> {
  const trades = all<TradeRow>(
    'SELECT symbol, trade_id AS tradeId, json_each.value AS orderId, price, quantity FROM venue_trades, json_each(order_ids)',
  );
  const keyOf = ({ symbol, tradeId, orderId }: Pick<TradeRow, 'symbol' | 'tradeId' | 'orderId'>): string =>
    `${symbol}|${tradeId}|${orderId}`;
  const booked = new Map(fills.map((fill): [string, FillEntry] => [keyOf(fill), fill]));
  const owners = new Map(orders.map(({ orderId, clientOrderId }) => [orderId, clientOrderId]));
  const unbooked = new Set(
    readQuarantinedTrades(db)
      .filter(({ decision }) => decision === null || decision === 'discarded')
      .flatMap((row) => row.orderIds.map((orderId) => keyOf({ ...row, orderId }))),
  );
  for (const trade of trades) {
    const order = unbooked.has(keyOf(trade)) ? undefined : owners.get(trade.orderId);
    if (order === undefined) continue;
    const fill = booked.get(keyOf(trade));
    if (fill === undefined) yield { order, text: `traded (trade ${trade.tradeId}), but there is no fill` };
    else if (!new Decimal(fill.price).eq(trade.price) || !new Decimal(fill.quantity).eq(trade.quantity))
      yield { order, text: `has a fill of trade ${trade.tradeId} with other numbers than the exchange showed` };
  }
  const shown = new Set(trades.map(keyOf));
  const first = new Map(
    all<{ symbol: string; at: number }>('SELECT symbol, min(time) AS at FROM venue_trades GROUP BY symbol').map(
      ({ symbol, at }) => [symbol, at],
    ),
  );
  for (const fill of fills)
    if (fill.time > (first.get(fill.symbol) ?? Number.POSITIVE_INFINITY) && !shown.has(keyOf(fill)))
      yield { order: fill.clientOrderId, text: `has a fill (trade ${fill.tradeId}) that the exchange never showed` };
}
