/** Reading a journal beside a running daemon: it is shared, and nothing is changed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { instrument } from '../domain/instrument.ts';
import { lots, ticks, units } from '../domain/money.ts';
import { afterFill, noPosition, type Position } from '../domain/position.ts';
import { Refusal } from '../domain/refusal.ts';
import type {
  EventEntry,
  FillEntry,
  InstrumentEntry,
  KillEntry,
  LimitEntry,
  OrderEntryRow,
  QuarantinedTradeEntry,
  SignalEntry,
  VenueOrderEntry,
  VenueTradeEntry,
} from './entries.ts';
import { oneLine } from './examiner.ts';
import { finer, haltsInForce, inForce, load, readLimits, readMemories, readQuarantinedTrades } from './load.ts';
import { journalFile } from './open.ts';
import { readOrders } from './order-rows.ts';
import { readFills } from './past-orders.ts';
import { schemaVersion, versionOf } from './schema.ts';

export interface Denied {
  readonly at: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly code: string;
  readonly facts: Readonly<Record<string, string | number>>;
  readonly draft: string;
  readonly reason: string;
  readonly times: number;
  readonly lastAt: number;
}

export interface HeldPosition {
  readonly strategy: string;
  readonly symbol: string;
  readonly instrument: InstrumentEntry;
  readonly position: Position;
  /** Stops and the like, as kept for a restart. */
  readonly protection: Readonly<Record<string, string>> | undefined;
}

/** Rows as the exchange showed them, oldest first. */
export interface Evidence {
  readonly orders: readonly Pick<
    VenueOrderEntry,
    'seenAt' | 'clientOrderId' | 'side' | 'type' | 'status' | 'executed'
  >[];
  readonly trades: readonly Pick<VenueTradeEntry, 'seenAt' | 'tradeId' | 'side' | 'price' | 'quantity'>[];
}

export interface JournalReader {
  readonly meta: ReadonlyMap<string, string>;
  orders(where?: string, ...values: readonly string[]): readonly OrderEntryRow[];
  fills(): readonly FillEntry[];
  fillCount(): number;
  fillsOf(clientOrderId: string): readonly FillEntry[];
  events(clientOrderId: string): readonly Omit<EventEntry, 'kind'>[];
  positions(): readonly HeldPosition[];
  /** The newest, also of a strategy alone; the newest first. */
  denials(limit: number, strategy?: string): readonly Denied[];
  /** The last signal of a strategy at or before a time. */
  signalBefore(strategy: string, symbol: string, at: number): Omit<SignalEntry, 'kind'> | undefined;
  kills(): readonly KillEntry[];
  /** Halts that were not lifted. */
  halts(): readonly KillEntry[];
  /** Steps above the standard limits, oldest first. */
  limits(): readonly LimitEntry[];
  /** What the risk rules remember over a restart, JSON by name. */
  memories(): ReadonlyMap<string, string>;
  /** What the exchange showed of an order: whose it said it is, and the trades in which it is named. */
  evidence(orderId: string): Evidence;
  /** Quarantined trades, decided ones too, oldest first. */
  quarantinedTrades(): readonly QuarantinedTradeEntry[];
  /** Every strategy that ever ran on it. */
  strategies(): readonly string[];
  /** The same by their numbers in client order ids. */
  strategyNumbers(): ReadonlyMap<number, string>;
  equity(): string | undefined;
  close(): void;
}

/** The file of a journal, read-only, and its schema; refuses one that is missing (exit 2), unreadable or newer than this program (exit 3). */
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
    const version = versionOf(db);
    if (version > schemaVersion)
      throw new Refusal(
        `${path} was written by a newer Sluice (schema ${version}, this one knows ${schemaVersion}): upgrade Sluice`,
        3,
      );
    return { db, path, version };
  } catch (error) {
    db.close();
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      `${path} cannot be read (${error instanceof Error ? oneLine(error.message) : String(error)}): restore a backup, or give another with --state DIR; nothing was changed`,
      3,
    );
  }
}

/** Opens the journal of a state directory for reading; refuses what `openToRead` does. */
export function openReader(dir: string): JournalReader {
  const { db } = openToRead(dir);
  const all = <T>(sql: string, ...values: readonly (string | number | null)[]): T[] =>
    db.prepare(sql).all(...values) as T[];
  const parsed = <T extends { signal: string }>(row: T): Omit<T, 'signal'> & { signal: SignalEntry['signal'] } => ({
    ...row,
    signal: JSON.parse(row.signal) as SignalEntry['signal'],
  });
  return {
    meta: new Map(
      all<{ key: string; value: string }>('SELECT key, value FROM meta').map((row) => [row.key, row.value]),
    ),
    orders: (where = '1 ORDER BY created_at', ...values) => readOrders(db, where, ...values),
    fills: () => readFills(db, '1'),
    fillCount: () => all<{ fills: number }>('SELECT count(*) AS fills FROM fills')[0]?.fills ?? 0,
    fillsOf: (clientOrderId) => readFills(db, 'client_order_id = ?', clientOrderId),
    events: (clientOrderId) =>
      all<Omit<EventEntry, 'kind' | 'detail'> & { detail: string }>(
        'SELECT at, client_order_id AS clientOrderId, event, detail FROM events WHERE client_order_id = ? ORDER BY seq',
        clientOrderId,
      ).map((row) => ({ ...row, detail: JSON.parse(row.detail) as EventEntry['detail'] })),
    positions: () => positionsIn(db),
    denials: (limit, strategy) =>
      all<Omit<Denied, 'facts'> & { facts: string }>(
        'SELECT at, strategy, symbol, code, facts, draft, reason, times, last_at AS lastAt FROM denials WHERE strategy = coalesce(?, strategy) ORDER BY seq DESC LIMIT ?',
        strategy ?? null,
        limit,
      ).map((row) => ({ ...row, facts: JSON.parse(row.facts) as Denied['facts'] })),
    signalBefore(strategy, symbol, at) {
      const rows = all<Omit<SignalEntry, 'kind' | 'signal'> & { signal: string }>(
        'SELECT at, decision, strategy, role, symbol, signal, quantity FROM signals WHERE strategy = ? AND symbol = ? AND at <= ? ORDER BY seq DESC LIMIT 1',
        strategy,
        symbol,
        at,
      );
      return rows[0] === undefined ? undefined : parsed(rows[0]);
    },
    halts: () => haltsInForce(all<KillEntry>('SELECT kind, at, strategy, by, reason FROM kills ORDER BY seq')),
    limits: () => readLimits(db),
    memories: () => readMemories(db),
    evidence: (orderId) => evidenceIn(db, orderId),
    quarantinedTrades: () => readQuarantinedTrades(db),
    kills: () => inForce(all<KillEntry>('SELECT kind, at, strategy, by, reason FROM kills ORDER BY seq')),
    strategies: () => all<{ id: string }>('SELECT id FROM strategies ORDER BY number').map(({ id }) => id),
    strategyNumbers: () =>
      new Map(
        all<{ id: string; number: number }>('SELECT id, number FROM strategies').map(({ id, number }) => [number, id]),
      ),
    equity: () => all<{ equity: string }>('SELECT equity FROM equity ORDER BY at DESC LIMIT 1')[0]?.equity,
    close: () => db.close(),
  };
}

function evidenceIn(db: Database.Database, orderId: string): Evidence {
  return {
    orders: db
      .prepare(
        'SELECT seen_at AS seenAt, client_order_id AS clientOrderId, side, type, status, executed FROM venue_orders WHERE order_id = ?',
      )
      .all(orderId) as Evidence['orders'],
    trades: db
      .prepare(
        `SELECT seen_at AS seenAt, trade_id AS tradeId, side, price, quantity FROM venue_trades, json_each(order_ids)
         WHERE json_each.value = ? ORDER BY seen_at, trade_id`,
      )
      .all(orderId) as Evidence['trades'],
  };
}

/** Positions from all fills, as the daemon books them. */
function positionsIn(db: Database.Database): readonly HeldPosition[] {
  const { past, instruments, protections } = load(db);
  const held = new Map<string, HeldPosition>();
  for (const fill of past.fills()) {
    const entry = instruments.find(({ symbol }) => symbol === fill.symbol);
    if (entry === undefined) continue;
    const at = finer(fill, instrument(entry));
    const key = `${fill.strategy}|${fill.symbol}`;
    const before = held.get(key)?.position ?? noPosition;
    const { evidence: _, ...row } = fill;
    const position = afterFill(
      before,
      { ...row, price: ticks(fill.price, at), quantity: lots(fill.quantity, at), fee: units(fill.fee) },
      at,
    );
    const saved = protections.find(({ strategy, symbol }) => strategy === fill.strategy && symbol === fill.symbol);
    const protection = saved === undefined ? undefined : (JSON.parse(saved.protection) as Record<string, string>);
    held.set(key, { strategy: fill.strategy, symbol: fill.symbol, instrument: entry, position, protection });
  }
  return [...held.values()];
}
