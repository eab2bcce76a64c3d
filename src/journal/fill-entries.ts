/** Fills as entries of the journal, and back. */
import type { Instrument } from '../domain/instrument.ts';
import { lots, priceText, quantityText, ticks, units, unitsText } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import type { FillEntry } from './entries.ts';

// Both are written out: copying an object's rest takes longer than everything else here, and runs have many fills.
export const fillRow = (fill: Fill, instrument: Instrument): FillEntry => ({
  kind: 'fill',
  tradeId: fill.tradeId,
  orderId: fill.orderId,
  clientOrderId: fill.clientOrderId,
  strategy: fill.strategy,
  account: fill.account,
  symbol: fill.symbol,
  side: fill.side,
  price: priceText(fill.price, instrument),
  quantity: quantityText(fill.quantity, instrument),
  fee: unitsText(fill.fee),
  feeAsset: fill.feeAsset,
  maker: fill.maker,
  time: fill.time,
  purpose: fill.purpose,
  evidence: fill.evidence === undefined ? null : JSON.stringify(fill.evidence),
});

export const restoreFill = (row: FillEntry, instrument: Instrument): Fill => ({
  tradeId: row.tradeId,
  orderId: row.orderId,
  clientOrderId: row.clientOrderId,
  strategy: row.strategy,
  account: row.account,
  symbol: row.symbol,
  side: row.side,
  price: ticks(row.price, instrument),
  quantity: lots(row.quantity, instrument),
  fee: units(row.fee),
  feeAsset: row.feeAsset,
  maker: row.maker,
  time: row.time,
  purpose: row.purpose,
  ...(row.evidence === null ? {} : { evidence: JSON.parse(row.evidence) as NonNullable<Fill['evidence']> }),
});
