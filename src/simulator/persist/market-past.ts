/**
 * What is kept of a market that is made of nothing but its prints: the newest of them, and the minutes. Every trade would be
 * megabytes an hour in a made-up market, and a start that reads them all.
 */
import type Database from 'better-sqlite3';
import type { Changes, Exchange } from '../core/exchange.ts';
import type { Print } from '../core/order.ts';
import type { MarketPast, MinuteRow, Minutes } from '../market/market.ts';

/** As many as can be asked for (specification §4.1). */
const printLimit = 1_000;

export const marketTables = `
  CREATE TABLE IF NOT EXISTS prints (symbol TEXT, id INTEGER, body TEXT NOT NULL, PRIMARY KEY (symbol, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS minutes (symbol TEXT, openTime INTEGER, body TEXT NOT NULL,
    PRIMARY KEY (symbol, openTime)) WITHOUT ROWID;
`;

/** Saves what was printed since the last time; to be called inside a transaction. */
export function marketWriter(db: Database.Database): (exchange: Exchange, prints: Changes['prints']) => void {
  const addPrint = db.prepare<[string, number, string]>('INSERT OR REPLACE INTO prints VALUES (?, ?, ?)');
  const dropPrints = db.prepare<[string]>('DELETE FROM prints WHERE symbol = ?');
  const prunePrints = db.prepare<[string, string]>(
    `DELETE FROM prints WHERE symbol = ? AND id < (SELECT id FROM prints WHERE symbol = ? ORDER BY id DESC LIMIT 1 OFFSET ${printLimit - 1})`,
  );
  const setMinute = db.prepare<[string, number, string]>('INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)');
  const pruneMinutes = db.prepare<[string, number]>('DELETE FROM minutes WHERE symbol = ? AND openTime < ?');
  /** By symbol, when the newest saved minute opened: it may have changed since. */
  const reached = new Map<string, number>();

  return (exchange, prints) => {
    for (const [symbol, fresh] of prints) {
      const { isMadeOfPrints, minutes } = exchange.market(symbol);
      if (isMadeOfPrints !== true) continue;
      const before = reached.get(symbol);
      // Prints of an earlier run were numbered anew at the start.
      if (before === undefined) dropPrints.run(symbol);
      for (const print of before === undefined ? exchange.recentPrints(symbol, printLimit) : fresh)
        addPrint.run(symbol, print.id, textOf(print));
      for (const minute of since(minutes, before ?? 0)) setMinute.run(symbol, minute.openTime, JSON.stringify(minute));
      const newest = minutes.forming?.openTime ?? before ?? 0;
      if (newest === before) continue;
      reached.set(symbol, newest);
      prunePrints.run(symbol, symbol);
      if (minutes.count > 0) pruneMinutes.run(symbol, minutes.row(0).openTime);
    }
  };
}

/** What was saved of a symbol; undefined when nothing was. */
export function marketPast(db: Database.Database, symbol: string): MarketPast | undefined {
  const bodies = (table: 'prints' | 'minutes', order: string): string[] =>
    db
      .prepare<[string], { body: string }>(`SELECT body FROM ${table} WHERE symbol = ? ORDER BY ${order}`)
      .all(symbol)
      .map(({ body }) => body);
  const prints = bodies('prints', 'id').map((body) => rowFrom<Print>(body));
  const minutes = bodies('minutes', 'openTime').map((body) => JSON.parse(body) as MinuteRow);
  return prints.length === 0 ? undefined : { prints, minutes };
}

/** The minutes that opened at a time or later, and the one that forms. */
function* since(minutes: Minutes, from: number): Generator<MinuteRow> {
  for (let index = minutes.count - 1; index >= 0 && minutes.row(index).openTime >= from; index--)
    yield minutes.row(index);
  if (minutes.forming !== undefined) yield minutes.forming;
}

/** JSON with whole steps as text. */
export const textOf = (row: object): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

const stepFields: ReadonlySet<string> = new Set([
  ...['price', 'quantity', 'amount', 'executed', 'spent', 'locked', 'queueAhead', 'fee', 'minQuantity', 'minNotional'],
]);

/** What was written so. */
export const rowFrom = <T>(body: string): T =>
  JSON.parse(body, (key, value: unknown) =>
    stepFields.has(key) && typeof value === 'string' ? BigInt(value) : value,
  ) as T;
