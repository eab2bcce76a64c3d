/** Between orders and fills in memory and their rows in the journal. */
import type { Instrument } from '../domain/instrument.ts';
import { lots, noUnits, priceText, quantityText, ticks, units, unitsText } from '../domain/money.ts';
import { type Fill, isClosed, type OrderReport, type VenueStatus, type VenueTrade } from '../domain/order.ts';
import type { FillEntry, OrderEntryRow, VenueOrderEntry, VenueTradeEntry } from '../journal/entries.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

export function orderRow(order: WorkingOrder, at: Instrument, now: number): OrderEntryRow {
  const { intent } = order;
  return {
    kind: 'order',
    clientOrderId: intent.clientOrderId,
    orderId: order.orderId ?? null,
    decision: intent.decision,
    strategy: intent.strategy,
    role: intent.role,
    account: intent.account,
    symbol: intent.symbol,
    side: intent.side,
    type: intent.type,
    quantity: 'lots' in intent.volume ? quantityText(intent.volume.lots, at) : null,
    amount: 'amount' in intent.volume ? unitsText(intent.volume.amount) : null,
    price: intent.price === undefined ? null : priceText(intent.price, at),
    expected: quantityText(intent.expectedLots, at),
    purpose: intent.purpose,
    reason: intent.reason,
    createdAt: intent.createdAt,
    expiresAt: intent.expiresAt,
    state: order.state,
    filled: quantityText(order.filled, at),
    executed: order.executed === undefined ? null : quantityText(order.executed, at),
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
 * An order as the journal left it, with nothing filled yet: its fills are rows of their own and are applied after it. One that
 * is finer than the exchange takes now is rounded down; it will not be sent again.
 */
export function restoreOrder(row: OrderEntryRow, at: Instrument): WorkingOrder {
  return {
    intent: {
      clientOrderId: row.clientOrderId,
      decision: row.decision,
      strategy: row.strategy,
      role: row.role,
      account: row.account,
      symbol: row.symbol,
      side: row.side,
      type: row.type,
      volume: row.amount === null ? { lots: lots(row.quantity ?? '0', at, 'down') } : { amount: units(row.amount) },
      ...(row.price === null ? {} : { price: ticks(row.price, at, 'down') }),
      expectedLots: lots(row.expected, at, 'down'),
      expiresAt: row.expiresAt,
      purpose: row.purpose,
      reason: row.reason,
      createdAt: row.createdAt,
    },
    state: row.state,
    orderId: row.orderId ?? undefined,
    filled: lots('0', at),
    spent: noUnits,
    executed: row.executed === null ? undefined : lots(row.executed, at, 'down'),
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

/** A trade of the account as evidence, in the instrument's steps as decimal text. */
export const venueTradeRow = (trade: VenueTrade, at: Instrument, now: number): VenueTradeEntry => ({
  kind: 'venueTrade',
  seenAt: now,
  symbol: trade.symbol,
  tradeId: trade.tradeId,
  orderIds: trade.orderIds,
  side: trade.side,
  price: priceText(trade.price, at),
  quantity: quantityText(trade.quantity, at),
  fee: unitsText(trade.fee),
  feeAsset: trade.feeAsset,
  maker: trade.maker,
  time: trade.time,
});

export const restoreTrade = (row: VenueTradeEntry, at: Instrument): VenueTrade => ({
  tradeId: row.tradeId,
  symbol: row.symbol,
  price: ticks(row.price, at),
  quantity: lots(row.quantity, at),
  orderIds: row.orderIds,
  side: row.side,
  maker: row.maker,
  fee: units(row.fee),
  feeAsset: row.feeAsset,
  time: row.time,
});

/** What the exchange said of an order, as evidence. */
export const venueOrderRow = (report: OrderReport, at: Instrument, now: number): VenueOrderEntry => ({
  kind: 'venueOrder',
  seenAt: now,
  symbol: report.symbol,
  orderId: report.orderId,
  clientOrderId: report.clientOrderId ?? null,
  side: report.side,
  type: report.type,
  status: report.status,
  executed: quantityText(report.executed, at),
});

export function fillRow(fill: Fill, at: Instrument): FillEntry {
  return {
    kind: 'fill',
    tradeId: fill.tradeId,
    orderId: fill.orderId,
    clientOrderId: fill.clientOrderId,
    strategy: fill.strategy,
    account: fill.account,
    symbol: fill.symbol,
    side: fill.side,
    price: priceText(fill.price, at),
    quantity: quantityText(fill.quantity, at),
    fee: unitsText(fill.fee),
    feeAsset: fill.feeAsset,
    maker: fill.maker,
    time: fill.time,
    purpose: fill.purpose,
    evidence: fill.evidence === undefined ? null : JSON.stringify(fill.evidence),
  };
}

export function restoreFill(row: FillEntry, at: Instrument): Fill {
  // Written out: a copy of what is left of a row costs more than reading it, and a start reads every fill.
  return {
    tradeId: row.tradeId,
    orderId: row.orderId,
    clientOrderId: row.clientOrderId,
    strategy: row.strategy,
    account: row.account,
    symbol: row.symbol,
    side: row.side,
    price: ticks(row.price, at),
    quantity: lots(row.quantity, at),
    fee: units(row.fee),
    feeAsset: row.feeAsset,
    maker: row.maker,
    time: row.time,
    purpose: row.purpose,
    ...(row.evidence === null ? {} : { evidence: JSON.parse(row.evidence) as NonNullable<Fill['evidence']> }),
  };
}
