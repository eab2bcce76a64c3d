/** Orders that were filled, with their whole evidence, as a journal holds them. */
import { makeClientOrderId } from '../../src/domain/ids.ts';
import type { Entry, EventEntry, OrderEntryRow } from '../../src/journal/entries.ts';
import type { Identity } from '../../src/journal/open.ts';
import { startTime } from './builders.ts';
import { eventOf, fillRowOf, orderRowOf } from './journal-rows.ts';

/** What the account held at first, and the instrument of all orders. */
export const beginning: readonly Entry[] = [
  { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
  { kind: 'adjustment', at: 1, what: 'baseline', asset: 'USDT', amount: '1000', by: 'first balances', reason: 'r' },
  { kind: 'adjustment', at: 1, what: 'baseline', asset: 'BTC', amount: '0', by: 'first balances', reason: 'r' },
];

export const sent = { signedAt: startTime, bodyHash: 'h', recvWindowMs: 2_000 };

export const idOf = (identity: Identity, sequence: number): string =>
  makeClientOrderId({ ...identity, strategy: 1, sequence }, identity.idKey);

/** An order of 1 BTC at 100 that was bought and filled `at` ms after the start, with the evidence of it. */
export function filledOrder(
  identity: Identity,
  sequence: number,
  { at = 0, ...given }: Partial<OrderEntryRow> & { readonly at?: number } = {},
): Entry[] {
  const [id, orderId, tradeId] = [idOf(identity, sequence), String(1_000 + sequence), String(70 + sequence)];
  const time = startTime + at;
  const step = (event: EventEntry['event'], detail: EventEntry['detail'] = {}): Entry =>
    eventOf(event, { clientOrderId: id, at: time, detail });
  const row = fillRowOf({ tradeId, orderId, time });
  const { kind: _, clientOrderId: __, strategy: ___, account: ____, ...fill } = row;
  return [
    step('approved', { value: '100', maxOrderValue: '200', exposure: '100', maxPosition: '500' }),
    step('sending'),
    step('accepted', { orderId }),
    step('cancelSent', { round: 1 }),
    step('closing', { status: 'FILLED' }),
    step('closed', { state: 'filled' }),
    orderRowOf({
      ...{ clientOrderId: id, orderId, ...sent, createdAt: time },
      ...{ state: 'filled', filled: '1', executed: '1', venueStatus: 'FILLED', closedAt: time + 9 },
      ...given,
    }),
    { ...row, clientOrderId: id },
    { ...fill, kind: 'venueTrade', orderIds: [orderId], seenAt: time },
    {
      ...{ kind: 'venueOrder', seenAt: time, symbol: fill.symbol, orderId, clientOrderId: id },
      ...{ side: 'BUY', type: 'LIMIT', status: 'FILLED', executed: '1' },
    },
  ];
}
