/** Builders of journal rows, with defaults. */

import type { DenialEntry, EventEntry, FillEntry, OrderEntryRow } from '../../src/journal/entries.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { noPast, type Past } from '../../src/journal/past-orders.ts';
import { btc, startTime } from './builders.ts';

export const orderRowOf = (given: Partial<OrderEntryRow> = {}): OrderEntryRow => ({
  kind: 'order',
  clientOrderId: 'c1',
  orderId: null,
  decision: 1,
  strategy: 's',
  role: 'main',
  account: 'spot',
  symbol: btc.symbol,
  side: 'BUY',
  type: 'LIMIT',
  quantity: '1',
  amount: null,
  price: '100',
  expected: '1',
  purpose: 'enter',
  reason: 'test',
  createdAt: startTime,
  expiresAt: startTime + 60_000,
  state: 'intended',
  filled: '0',
  executed: null,
  venueStatus: null,
  signedAt: null,
  recvWindowMs: null,
  bodyHash: null,
  tradeFloor: null,
  cancelRequested: false,
  quarantineReason: null,
  batch: null,
  closedAt: null,
  ...given,
});

export const fillRowOf = (given: Partial<FillEntry> = {}): FillEntry => ({
  kind: 'fill',
  tradeId: '7',
  orderId: '1001',
  clientOrderId: 'c1',
  strategy: 's',
  account: 'spot',
  symbol: btc.symbol,
  side: 'BUY',
  price: '100',
  quantity: '1',
  fee: '0.1',
  feeAsset: 'USDT',
  maker: false,
  time: startTime,
  purpose: 'enter',
  evidence: null,
  ...given,
});

export const denialOf = (given: Partial<DenialEntry> = {}): DenialEntry => ({
  kind: 'denied',
  at: startTime,
  strategy: 's',
  symbol: btc.symbol,
  code: 'orderValue',
  facts: { value: '200' },
  draft: 'BUY 2',
  reason: 'test',
  ...given,
});

export const eventOf = (event: EventEntry['event'], given: Partial<EventEntry> = {}): EventEntry => ({
  kind: 'event',
  at: startTime,
  clientOrderId: 'c1',
  event,
  detail: {},
  ...given,
});

/** A past of some fills alone. */
export const pastOf = (...fills: readonly FillEntry[]): Past => ({
  ...noPast,
  fills: () => fills,
  fill: (key) => fills.find(({ tradeId, orderId }) => tradeId === key.tradeId && orderId === key.orderId),
  highestId: () => Math.max(0, ...fills.map(({ tradeId }) => Number(tradeId))),
});

/** True when the fill was no row yet. */
export const insert = (book: Pick<Journal, 'insertFill'>, fill: FillEntry): boolean =>
  book.insertFill(fill, () => fill);
