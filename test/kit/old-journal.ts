/** A journal with old and new rows, as compacting meets it, and what readers see of it. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { attachArchive } from '../../src/archive/attach.ts';
import type { Entry, SignalEntry, VenueTradeEntry } from '../../src/journal/entries.ts';
import { type Identity, journalFile } from '../../src/journal/open.ts';
import { startTime } from './builders.ts';
import { beginning, filledOrder, idOf, sent } from './ended-orders.ts';
import { denialOf, eventOf, orderRowOf } from './journal-rows.ts';

export const dayMs = 86_400_000;

const signal = (at: number): SignalEntry => ({
  ...{ kind: 'signal', at, decision: 1, strategy: 's', role: 'main', symbol: 'BTCUSDT', quantity: '1', memory: null },
  signal: { kind: 'target', size: { quantity: 1 }, reason: 'r' } as never,
});
/** Of an order's evidence, the trade that the exchange showed. */
export const tradeOf = (entries: readonly Entry[]): VenueTradeEntry =>
  entries.find((entry) => entry.kind === 'venueTrade') as VenueTradeEntry;

/** Three orders that ended ten days ago and one now, one that is open since, a foreign trade, and what is shown of the past. */
export function past(identity: Identity): readonly Entry[] {
  const now = startTime + 10 * dayMs;
  const equity = (at: number): Entry => ({ kind: 'equity', at, equity: '1000' });
  const trade = tradeOf(filledOrder(identity, 9));
  return [
    ...beginning,
    ...[1, 2, 3].flatMap((sequence) => filledOrder(identity, sequence)),
    ...filledOrder(identity, 4, { at: 10 * dayMs }),
    eventOf('sending', { clientOrderId: idOf(identity, 5) }),
    eventOf('unknown', { clientOrderId: idOf(identity, 5) }),
    orderRowOf({ clientOrderId: idOf(identity, 5), ...sent, state: 'unknown' }),
    { ...trade, quantity: '0.1', orderIds: ['77'], tradeId: '500' },
    ...[signal(startTime), signal(startTime + 1), signal(now)],
    ...[denialOf(), denialOf({ at: now, draft: 'BUY 3' })],
    ...[equity(startTime), equity(startTime + 60_000), equity(now)],
    { kind: 'notice', at: startTime, level: 'info', text: 'oldest' },
    { kind: 'notice', at: startTime, level: 'info', text: 'old' },
    { kind: 'cursor', symbol: 'BTCUSDT', tradeIds: ['74'] },
  ];
}

/** Tables that move, wholly or in part, and those that stay. */
export const tables = [
  'orders',
  'fills',
  'events',
  'venue_orders',
  'venue_trades',
  'signals',
  'denials',
  'notices',
  'equity',
];
/** Every row of a journal, those of its archive too. */
export function allRowsIn(dir: string): Readonly<Record<string, readonly string[]>> {
  const db = new Database(join(dir, journalFile), { readonly: true });
  attachArchive(db, dir);
  const rows = tables.map((table) => [
    table,
    db
      .prepare(`SELECT * FROM ${table}`)
      .raw()
      .all()
      .map((row) => JSON.stringify(row))
      .sort((a, b) => (a < b ? -1 : 1)),
  ]);
  db.close();
  return Object.fromEntries(rows) as Readonly<Record<string, readonly string[]>>;
}
/** Rows of a table, without those of the archive. */
export function countOf(dir: string, table: string): number {
  const db = new Database(join(dir, journalFile), { readonly: true });
  const count = db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  db.close();
  return Number(count);
}
