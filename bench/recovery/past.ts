/** A journal with a long past, as a daemon would have written it: orders of which half were filled and half cancelled, and some that rest. */
import { statSync } from 'node:fs';
import { makeClientOrderId } from '../../src/domain/ids.ts';
import type { Entry, EventEntry } from '../../src/journal/entries.ts';
import type { Guard } from '../../src/journal/newest-head.ts';
import { type Binding, openState } from '../../src/journal/open.ts';
import { openForWriting } from '../../src/journal/open-for-writing.ts';
import { writer } from '../../src/journal/writer.ts';

export interface PastOrder {
  readonly clientOrderId: string;
  readonly orderId: string;
  readonly side: 'BUY' | 'SELL';
}
export interface Past {
  /** Those that rest, BUY 0.00123 at 60000 each. */
  readonly open: readonly PastOrder[];
  /** The newest fill, as the exchange would list it. */
  readonly newest: { readonly id: number; readonly order: PastOrder; readonly time: number };
  readonly bytes: number;
}

const sold = { price: '67012.01', quantity: '0.00123', fee: '0.08242477', feeAsset: 'USDT' } as const;
export const resting = { price: '60000', quantity: '0.00123' } as const;
export const symbol = 'BTCUSDT';
/** What the account held before all orders. */
export const firstUsdt = 1_000_000;
export const feePerFill = sold.fee;

/** The rows of one order, as they are after its whole life, or while it rests. */
export function lifeOf(order: PastOrder, index: number, at: number, isOpen: boolean): readonly Entry[] {
  const { clientOrderId, orderId, side } = order;
  const isFilled = index % 4 < 2 && !isOpen;
  const step = (event: EventEntry['event'], detail: EventEntry['detail']): Entry => ({
    kind: 'event',
    at,
    clientOrderId,
    event,
    detail,
  });
  const common = { symbol, side, strategy: 'bench', account: 'spot' } as const;
  const status = isFilled ? 'FILLED' : 'CANCELED';
  const state = isOpen ? 'open' : isFilled ? 'filled' : 'canceled';
  const executed = isFilled ? sold.quantity : '0';
  const tradeId = String(5_000 + index);
  const trade = { ...sold, symbol, side, tradeId, maker: true, time: at };
  return [
    step('approved', { value: '82.42', maxOrderValue: '20000', exposure: '12331.07', maxPosition: '45000' }),
    step('sending', { waitedMs: 1, signedAt: at, recvWindowMs: 2_000 }),
    step('accepted', { orderId }),
    ...(isOpen || isFilled ? [] : [step('cancelSent', { round: 1 }), step('cancelAnswer', { kind: 'requested' })]),
    ...(isOpen ? [] : [step('closing', { status }), step('closed', { state })]),
    {
      kind: 'order',
      decision: index + 1,
      role: 'main',
      ...common,
      ...(isOpen ? resting : { price: sold.price, quantity: sold.quantity }),
      clientOrderId,
      orderId,
      type: 'LIMIT',
      amount: null,
      expected: sold.quantity,
      purpose: 'quote',
      reason: '3 orders a side, 0.10 % from line to line',
      createdAt: at,
      expiresAt: at + 60_000,
      state,
      filled: executed,
      executed: isOpen ? null : executed,
      venueStatus: isOpen ? null : status,
      signedAt: at,
      recvWindowMs: 2_000,
      bodyHash: '3208f1c83d22f8b4e96a82ac7fc68df58d1f7ed6bfec968b992d72f647005d5d',
      tradeFloor: tradeId,
      cancelRequested: !isOpen && !isFilled,
      quarantineReason: null,
      batch: null,
      closedAt: isOpen ? null : at + 500,
    },
    { kind: 'venueOrder', seenAt: at, symbol, orderId, clientOrderId, side, type: 'LIMIT', status, executed },
    ...(isFilled
      ? ([
          { kind: 'venueTrade', seenAt: at, ...trade, orderIds: [orderId] },
          { kind: 'fill', ...common, ...trade, orderId, clientOrderId, purpose: 'quote', evidence: null },
        ] as const)
      : []),
  ];
}

/** Writes `orders` that ended and `open` that rest into a new journal; the last one ended at `now`, one each `everyMs` before it, with a point of the equity curve each minute. */
export function writePast(
  dir: string,
  binding: Binding,
  guard: Guard,
  {
    orders,
    open,
    now,
    everyMs = 1_000,
  }: { readonly orders: number; readonly open: number; readonly now: number; readonly everyMs?: number },
): Past {
  const { path, identity, lock } = openState(dir, binding, ['bench'], guard);
  const db = openForWriting(path);
  db.pragma('synchronous = OFF');
  const write = writer(db, identity.epoch);
  write([
    { kind: 'instrument', symbol, base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
    ...(['USDT', 'BTC'] as const).map(
      (asset): Entry => ({
        kind: 'adjustment',
        at: now,
        what: 'baseline',
        asset,
        amount: asset === 'USDT' ? String(firstUsdt) : '0',
        by: 'first balances',
        reason: 'held before the first order',
      }),
    ),
  ]);
  const order = (index: number, side: PastOrder['side']): PastOrder => ({
    clientOrderId: makeClientOrderId({ ...identity, strategy: 1, sequence: index }, identity.idKey),
    orderId: String(9_007_199_254_740_993n + BigInt(index)),
    side,
  });
  const timeOf = (index: number): number => now - (orders - index) * everyMs;
  let newest: Past['newest'] | undefined;
  for (let from = 0; from < orders; from += 500) {
    const batch: Entry[] = [];
    for (let index = from; index < Math.min(from + 500, orders); index++) {
      const one = order(index, index % 2 === 0 ? 'BUY' : 'SELL');
      if (index % 4 < 2) newest = { id: 5_000 + index, order: one, time: timeOf(index) };
      batch.push(...lifeOf(one, index, timeOf(index), false));
    }
    write(batch);
  }
  const [minute, first] = [60_000, now - orders * everyMs];
  for (let from = first; everyMs >= minute && from < now; from += 10_000 * minute)
    write(
      Array.from(
        { length: Math.min(10_000, Math.ceil((now - from) / minute)) },
        (_, index): Entry => ({
          ...{ kind: 'equity', at: from + index * minute, equity: '1000000.12345678' },
        }),
      ),
    );
  if (newest === undefined) throw new Error('at least one order');
  const rests = Array.from({ length: open }, (_, index) => order(orders + index, 'BUY'));
  write(rests.flatMap((one, index) => lifeOf(one, index, now, true)));
  write([{ kind: 'cursor', symbol, tradeIds: [String(newest.id)] }]);
  db.close();
  lock.release();
  return { open: rests, newest, bytes: statSync(path).size };
}
