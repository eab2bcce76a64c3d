/** Reads a journal, also beside a running daemon, and changes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Position } from '../domain/position.ts';
import { isNoSpace, Refusal } from '../domain/refusal.ts';
import { bookedFills } from './booked-fills.ts';
import type { FillEntry, InstrumentEntry, SignalEntry } from './entries.ts';
import { oneLine } from './examiner.ts';
import { haltsInForce, inForce, load, readKills, readMemories, readQuarantinedTrades } from './load.ts';
import { journalFile } from './open.ts';
import { keepFewPages } from './open-for-writing.ts';
import { pastIn, readFills } from './past-orders.ts';
import { readOrders, readRows } from './rows.ts';
import { metaOf, refuseNewer, versionOf } from './schema.ts';

const dayMs = 86_400_000;

const foreignTrades = `WHERE NOT EXISTS (
  SELECT 1 FROM fills WHERE account IN ('spot', 'margin') AND fills.trade_id = venue_trades.trade_id AND fills.symbol = venue_trades.symbol
) ORDER BY time`;

/** A point of the equity curve. */
export interface EquityRow {
  readonly at: number;
  readonly equity: string;
}

export interface HeldPosition {
  readonly strategy: string;
  readonly symbol: string;
  readonly instrument: InstrumentEntry;
  readonly position: Position;
  /** Stops and other exits, as kept for a restart. */
  readonly protection: Readonly<Record<string, string>> | undefined;
}

/** Opens a journal read-only. Refuses one that is missing (exit 2), unreadable or newer than this program (exit 3). */
export function openToRead(dir: string): {
  readonly db: Database.Database;
  readonly path: string;
  readonly version: number;
} {
  const path = join(dir, journalFile);
  if (!existsSync(path))
    throw new Refusal(`there is no journal in ${dir}: give the state directory of a run with --state DIR`);
  const db = new Database(path, { readonly: true, timeout: 2_000 });
  try {
    keepFewPages(db);
    const version = versionOf(db);
    refuseNewer(path, version);
    return { db, path, version };
  } catch (error) {
    db.close();
    if (error instanceof Refusal || isNoSpace(error)) throw error;
    throw new Refusal(
      `${path} cannot be read (${error instanceof Error ? oneLine(error.message) : String(error)}): restore a backup, or give another with --state DIR; nothing was changed`,
      3,
    );
  }
}

/** With a name of its own: the compiler cannot write the type of a connection into the declarations of the package. */
interface Connection {
  /** So that the archive can be read as well. */
  readonly db: Database.Database;
}

/** Opens the journal of a state directory for reading; refuses what `openToRead` does. */
export function openReader(dir: string) {
  const { db } = openToRead(dir);
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  const strategies = () => all<{ id: string; number: number }>('SELECT id, number FROM strategies ORDER BY number');
  const connection: Connection = { db };
  return Object.assign(connection, {
    meta: metaOf(db),
    orders: (where = '1 ORDER BY created_at', ...values: readonly (string | number)[]) =>
      readOrders(db, where, ...values),
    fills: () => readFills(db, '1'),
    fillCount: () => all<{ fills: number }>('SELECT count(*) AS fills FROM fills')[0]?.fills ?? 0,
    fillsOf: (clientOrderId: string) => readFills(db, 'client_order_id = ?', clientOrderId),
    events: (clientOrderId: string) => readRows(db, 'event', 'WHERE client_order_id = ? ORDER BY seq', clientOrderId),
    positions: () => positionsIn(db),
    /** The newest denials, of a strategy alone if given, newest first. */
    denials: (limit: number, strategy?: string) =>
      readRows(
        db,
        'denied',
        'WHERE strategy = coalesce(?, strategy) ORDER BY seq DESC LIMIT ?',
        strategy ?? null,
        limit,
      ),
    /** Denials by rule since UTC ms, the most frequent first, each with its last one. A row counts repetitions of at most a quarter of an hour. */
    denialsSince: (since: number) =>
      [...Map.groupBy(readRows(db, 'denied', 'WHERE last_at > ? ORDER BY last_at', since), ({ code }) => code)]
        .map(([rule, rows]) => ({ rule, times: rows.reduce((sum, row) => sum + row.times, 0), last: rows.at(-1) }))
        .sort((a, b) => b.times - a.times),
    ...signalsIn(db),
    /** Kills in force. */
    kills: () => inForce(readKills(db)),
    /** Halts in force. */
    halts: () => haltsInForce(readKills(db)),
    /** Raised limits, released versions and configurations, oldest first. */
    limits: () => readRows(db, 'limit', 'ORDER BY seq'),
    /** Memory of the risk rules, JSON by name. */
    memories: () => readMemories(db),
    instruments: () => readRows(db, 'instrument', 'ORDER BY symbol'),
    /** Comparisons of the ledger with the account. */
    audits: () => readRows(db, 'audit', 'ORDER BY at'),
    /** First balances, deposits, withdrawals and corrections, oldest first. */
    adjustments: () => readRows(db, 'adjustment', 'ORDER BY seq'),
    /** Trades of the account that are no fills of ours, oldest first. Fills whose order a restored journal lacks are ours. */
    otherTrades: () => readRows(db, 'venueTrade', foreignTrades),
    /** What the exchange showed of an order: its reports, and the trades that name it, oldest first. */
    evidence: (orderId: string) => evidenceIn(db, orderId),
    /** Quarantined trades, decided ones too, oldest first. */
    quarantinedTrades: () => readQuarantinedTrades(db),
    /** Every strategy that ever ran on it. */
    strategies: () => strategies().map(({ id }) => id),
    /** The same by their numbers in client order ids. */
    strategyNumbers: () => new Map(strategies().map(({ id, number }) => [number, id])),
    /** Every fill, or those after a row up to another one, oldest first, a page at a time. */
    pastFills: (after?: number, until?: number): Iterable<FillEntry> => pastIn(() => db).fills(after, until),
    /** The number of the last row of fills; 0 without one. */
    lastFill: () => all<{ last: number | null }>('SELECT max(seq) AS last FROM fills')[0]?.last ?? 0,
    ...equityIn(db),
    close: () => void db.close(),
  });
}
export type JournalReader = ReturnType<typeof openReader>;

const evidenceIn = (db: Database.Database, orderId: string) => ({
  orders: readRows(db, 'venueOrder', 'WHERE order_id = ?', orderId),
  trades: readRows(
    db,
    'venueTrade',
    'WHERE EXISTS (SELECT 1 FROM json_each(order_ids) WHERE value = ?) ORDER BY seen_at, trade_id',
    orderId,
  ),
});

/** Signals of a strategy around a time. */
const signalsIn = (db: Database.Database) => ({
  /** The last one at or before it. */
  signalBefore: (strategy: string, symbol: string, time: number): SignalEntry | undefined =>
    readRows(
      db,
      'signal',
      'WHERE strategy = ? AND symbol = ? AND at <= ? ORDER BY seq DESC LIMIT 1',
      ...[strategy, symbol, time],
    )[0],
  /** The first one after it. */
  signalAfter: (strategy: string, symbol: string, time: number): SignalEntry | undefined =>
    readRows(
      db,
      'signal',
      'WHERE strategy = ? AND symbol = ? AND at > ? ORDER BY seq LIMIT 1',
      ...[strategy, symbol, time],
    )[0],
});

/** The equity curve. */
const equityIn = (db: Database.Database) => ({
  firstEquity: () => readRows(db, 'equity', 'ORDER BY at LIMIT 1')[0],
  /** Its last point. */
  equity: () => readRows(db, 'equity', 'ORDER BY at DESC LIMIT 1')[0],
  /** The last point of each UTC day, oldest first. */
  equityByDay: () =>
    db.prepare(`SELECT max(at) AS at, equity FROM equity GROUP BY at / ${dayMs} ORDER BY at`).all() as EquityRow[],
  /** At most about so many points, oldest first: the last of each of as many equal times. */
  equityCurve: (points: number) => equityCurve(db, points),
});

function equityCurve(db: Database.Database, points: number): readonly EquityRow[] {
  const { first, last } = db.prepare('SELECT min(at) AS first, max(at) AS last FROM equity').get() as {
    readonly first: number | null;
    readonly last: number | null;
  };
  if (first === null || last === null) return [];
  const step = Math.max(1, Math.ceil((last - first + 1) / points));
  return db
    .prepare('SELECT max(at) AS at, equity FROM equity GROUP BY (at - ?) / ? ORDER BY at')
    .all(first, step) as EquityRow[];
}

/** Positions from all fills, as the daemon books them. */
function positionsIn(db: Database.Database): readonly HeldPosition[] {
  const { past, instruments, protections } = load(db);
  const held = new Map<string, HeldPosition>();
  for (const { fill, after: position } of bookedFills(past.fills(), instruments)) {
    const { strategy, symbol } = fill;
    const entry = instruments.find((one) => one.symbol === symbol);
    if (entry === undefined) continue;
    const saved = protections.find((one) => one.strategy === strategy && one.symbol === symbol);
    const protection = saved === undefined ? undefined : (JSON.parse(saved.protection) as Record<string, string>);
    held.set(`${strategy}|${symbol}`, { strategy, symbol, instrument: entry, position, protection });
  }
  return [...held.values()];
}
