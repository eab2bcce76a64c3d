/** Converts orders, trades and fills between memory and the journal's rows, and compares rows of trades. */
import type { Instrument } from '../domain/instrument.ts';
import { lots, noLots, noUnits, priceText, quantityText, ticks, units, unitsText } from '../domain/money.ts';
import { isClosed, type OrderReport, type VenueStatus, type VenueTrade } from '../domain/order.ts';
import type { OrderEntryRow, VenueOrderEntry, VenueTradeEntry } from '../journal/entries.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

export function orderRow(order: WorkingOrder, instrument: Instrument, now: number): OrderEntryRow {
  const { volume, price, expectedLots, postOnly: _, ...intent } = order.intent;
  return {
    kind: 'order',
    ...intent,
    orderId: order.orderId ?? null,
    quantity: 'lots' in volume ? quantityText(volume.lots, instrument) : null,
    amount: 'amount' in volume ? unitsText(volume.amount) : null,
    price: price === undefined ? null : priceText(price, instrument),
    expected: quantityText(expectedLots, instrument),
    state: order.state,
    filled: quantityText(order.filled, instrument),
    executed: order.executed === undefined ? null : quantityText(order.executed, instrument),
    venueStatus: order.venueStatus ?? null,
    signedAt: order.signedAt ?? null,
    recvWindowMs: order.recvWindowMs ?? null,
    bodyHash: order.bodyHash ?? null,
    tradeFloor: order.tradeFloor ?? null,
    cancelRequested: order.cancelRequested,
    quarantineReason: order.quarantineReason ?? null,
    batch: order.batch ?? null,
    closedAt: isClosed(order.state) ? now : null,
  };
}

/**
 * An order as the journal has it, without fills: they are rows of their own and applied afterwards. Decimals that the exchange does not
 * take any more are rounded down; the order is not sent again.
 */
export function restoreOrder(row: OrderEntryRow, instrument: Instrument): WorkingOrder {
  const { clientOrderId, decision, strategy, role, account, symbol, side, type } = row;
  const { expiresAt, purpose, reason, createdAt } = row;
  return {
    intent: {
      clientOrderId,
      decision,
      strategy,
      role,
      account,
      symbol,
      side,
      type,
      expiresAt,
      purpose,
      reason,
      createdAt,
      volume:
        row.amount === null ? { lots: lots(row.quantity ?? '0', instrument, 'down') } : { amount: units(row.amount) },
      ...(row.price === null ? {} : { price: ticks(row.price, instrument, 'down') }),
      expectedLots: lots(row.expected, instrument, 'down'),
    },
    state: row.state,
    orderId: row.orderId ?? undefined,
    filled: noLots,
    spent: noUnits,
    executed: row.executed === null ? undefined : lots(row.executed, instrument, 'down'),
    venueStatus: (row.venueStatus ?? undefined) as VenueStatus | undefined,
    signedAt: row.signedAt ?? undefined,
    recvWindowMs: row.recvWindowMs ?? undefined,
    bodyHash: row.bodyHash ?? undefined,
    tradeFloor: row.tradeFloor ?? undefined,
    cancelRequested: row.cancelRequested,
    quarantineReason: row.quarantineReason ?? undefined,
    batch: row.batch ?? undefined,
  };
}

/** A trade of the account as evidence, with decimal text. */
export const venueTradeRow = (trade: VenueTrade, instrument: Instrument, now: number): VenueTradeEntry => ({
  kind: 'venueTrade',
  seenAt: now,
  symbol: trade.symbol,
  tradeId: trade.tradeId,
  orderIds: trade.orderIds,
  side: trade.side,
  price: priceText(trade.price, instrument),
  quantity: quantityText(trade.quantity, instrument),
  fee: unitsText(trade.fee),
  feeAsset: trade.feeAsset,
  maker: trade.maker,
  time: trade.time,
});

export const restoreTrade = (row: Omit<VenueTradeEntry, 'kind' | 'seenAt'>, instrument: Instrument): VenueTrade => ({
  tradeId: row.tradeId,
  symbol: row.symbol,
  orderIds: row.orderIds,
  side: row.side,
  price: ticks(row.price, instrument),
  quantity: lots(row.quantity, instrument),
  fee: units(row.fee),
  feeAsset: row.feeAsset,
  maker: row.maker,
  time: row.time,
});

/** The exchange's report of an order as evidence. */
export function venueOrderRow(report: OrderReport, instrument: Instrument, now: number): VenueOrderEntry {
  const { symbol, orderId, side, type, status } = report;
  const [clientOrderId, executed] = [report.clientOrderId ?? null, quantityText(report.executed, instrument)];
  return { kind: 'venueOrder', seenAt: now, symbol, orderId, clientOrderId, side, type, status, executed };
}

/** Each side of a self-trade can have a row of its own. */
export const tradeKey = ({ tradeId, orderIds, side }: VenueTrade): string =>
  orderIds.length > 1 ? `${tradeId} ${side}` : tradeId;

/** Whether two rows of one trade have the same content. */
export const isSameTrade = (a: VenueTrade, b: VenueTrade): boolean =>
  a === b ||
  (a.side === b.side &&
    a.price === b.price &&
    a.quantity === b.quantity &&
    a.fee === b.fee &&
    a.feeAsset === b.feeAsset &&
    a.orderIds.join() === b.orderIds.join());
