/** What a journal holds when a daemon starts on it: rows as written, to be read with the instruments at hand. */
import type { Database } from 'better-sqlite3';
import type { Precision } from '../domain/money.ts';
import type {
  AdjustmentEntry,
  FillEntry,
  ForeignEntry,
  InstrumentEntry,
  KillEntry,
  LimitEntry,
  OrderEntryRow,
  QuarantinedTradeEntry,
  SignalEntry,
  VenueTradeEntry,
} from './entries.ts';
import { readOrders } from './order-rows.ts';
import { noPast, type Past, pastIn } from './past-orders.ts';

export interface Loaded {
  /** Orders that are not closed, oldest first. */
  readonly orders: readonly OrderEntryRow[];
  /** Orders that ended, and fills: to be asked for. */
  readonly past: Past;
  readonly cursors: ReadonlyMap<string, readonly string[]>;
  readonly foreign: ReadonlySet<string>;
  /** Those of them of which nobody could say whose they are, each with its row. */
  readonly doubtful: readonly Omit<ForeignEntry, 'kind'>[];
  readonly protections: readonly { readonly strategy: string; readonly symbol: string; readonly protection: string }[];
  /** The last signal of each strategy and symbol. */
  readonly signals: readonly Omit<SignalEntry, 'kind'>[];
  /** Kills that were not lifted. */
  readonly kills: readonly KillEntry[];
  /** Halts that were not lifted. */
  readonly halts: readonly KillEntry[];
  /** Orders that ended without an id of the exchange, oldest first: it may show one of them yet. */
  readonly givenUp: readonly OrderEntryRow[];
  /** Trades of the account of which not every side is booked as a fill of an order of ours, oldest first. */
  readonly venueTrades: readonly VenueTradeEntry[];
  /** Quarantined trades, oldest first. */
  readonly quarantinedTrades: readonly QuarantinedTradeEntry[];
  readonly adjustments: readonly AdjustmentEntry[];
  /** The horizon, where it had to be raised, ms. */
  readonly horizonMs: number | undefined;
  /** Steps above the standard limits, oldest first. */
  readonly limits: readonly LimitEntry[];
  /** What the risk rules remembered, JSON by name. */
  readonly memories: ReadonlyMap<string, string>;
  readonly days: ReadonlyMap<number, string>;
  /** The newest points of the equity curve, oldest first. */
  readonly equity: readonly { readonly at: number; readonly equity: string }[];
  /** The first point of all. */
  readonly firstEquity: string | undefined;
  readonly instruments: readonly InstrumentEntry[];
  /** When the first order of all was created, UTC ms. */
  readonly firstOrderAt: number | undefined;
}

/** Steps above the standard limits, oldest first. */
export const readLimits = (db: Database): LimitEntry[] =>
  (
    db.prepare('SELECT at, what, name, value, by, reason FROM limits ORDER BY seq').all() as Omit<LimitEntry, 'kind'>[]
  ).map((row) => ({ ...row, kind: 'limit' }));

/** What the risk rules need after a restart, JSON by name. */
export const readMemories = (db: Database): ReadonlyMap<string, string> =>
  new Map(
    (db.prepare('SELECT name, value FROM memories').all() as { name: string; value: string }[]).map((row) => [
      row.name,
      row.value,
    ]),
  );

/** Orders that ended without an id and are kept in mind: past it the oldest are forgotten, and one of them that shows up is a HALT. */
export const mostGivenUp = 10_000;

/** Those of one order of ours whose fill is a row say nothing more, and are nearly all: they are left where they are. */
const readVenueTrades = (db: Database): VenueTradeEntry[] =>
  (
    db
      .prepare(
        `SELECT symbol, trade_id AS tradeId, order_ids AS orderIds, side, price, quantity, fee, fee_asset AS feeAsset, maker, time, seen_at AS seenAt
         FROM venue_trades WHERE NOT EXISTS (
           SELECT 1 FROM fills JOIN orders USING (client_order_id, order_id)
           WHERE fills.account IN ('spot', 'margin') AND fills.trade_id = venue_trades.trade_id
             AND fills.symbol = venue_trades.symbol AND '["' || fills.order_id || '"]' = venue_trades.order_ids
         ) ORDER BY time`,
      )
      .all() as (Omit<VenueTradeEntry, 'orderIds' | 'maker'> & { orderIds: string; maker: number })[]
  ).map((row) => ({
    ...row,
    kind: 'venueTrade',
    orderIds: JSON.parse(row.orderIds) as string[],
    maker: row.maker === 1,
  }));

/** Quarantined trades, decided ones too, oldest first. */
export const readQuarantinedTrades = (db: Database): QuarantinedTradeEntry[] =>
  (
    db
      .prepare(
        `SELECT symbol, trade_id AS tradeId, order_ids AS orderIds, side, price, quantity, fee, fee_asset AS feeAsset, maker, time, at, why,
           raw, can_be_accepted AS canBeAccepted, decision, decided_at AS decidedAt, by, reason FROM quarantined_trades ORDER BY at`,
      )
      .all() as (Omit<QuarantinedTradeEntry, 'kind' | 'orderIds' | 'maker' | 'canBeAccepted'> & {
      orderIds: string;
      maker: number;
      canBeAccepted: number;
    })[]
  ).map((row) => ({
    ...row,
    kind: 'quarantinedTrade',
    orderIds: JSON.parse(row.orderIds) as string[],
    maker: row.maker === 1,
    canBeAccepted: row.canBeAccepted === 1,
  }));

/** What there is, with the past to be asked for in `past`: by the connection itself, where it stays open. */
export function load(db: Database, past = pastIn(() => db)): Loaded {
  const rows = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  const kills = rows<KillEntry>('SELECT kind, at, strategy, by, reason FROM kills ORDER BY seq');
  return {
    orders: readOrders(db, 'closed_at IS NULL ORDER BY created_at'),
    past,
    cursors: new Map(
      rows<{ symbol: string; ids: string }>('SELECT symbol, trade_ids AS ids FROM cursors').map((row) => [
        row.symbol,
        JSON.parse(row.ids) as string[],
      ]),
    ),
    ...foreignIn(rows),
    protections: rows('SELECT strategy, symbol, protection FROM protections'),
    signals: rows<Omit<SignalEntry, 'kind' | 'signal'> & { signal: string }>(
      'SELECT max(seq), at, decision, strategy, role, symbol, signal, quantity FROM signals GROUP BY strategy, symbol',
    ).map(({ at, decision, strategy, role, symbol, signal, quantity }) => ({
      at,
      decision,
      strategy,
      role,
      symbol,
      quantity,
      signal: JSON.parse(signal) as SignalEntry['signal'],
    })),
    kills: inForce(kills),
    halts: haltsInForce(kills),
    givenUp: readOrders(
      db,
      'order_id IS NULL AND closed_at IS NOT NULL ORDER BY created_at DESC LIMIT ?',
      mostGivenUp,
    ).reverse(),
    venueTrades: readVenueTrades(db),
    quarantinedTrades: readQuarantinedTrades(db),
    adjustments: rows<Omit<AdjustmentEntry, 'kind'>>(
      'SELECT at, what, asset, amount, by, reason FROM adjustments ORDER BY seq',
    ).map((row) => ({ ...row, kind: 'adjustment' })),
    limits: readLimits(db),
    memories: readMemories(db),
    horizonMs: horizonIn(rows<{ value: string }>("SELECT value FROM meta WHERE key = 'horizonMs'")[0]?.value),
    days: new Map(
      rows<{ day: number; equity: string }>('SELECT day, equity FROM days ORDER BY day DESC LIMIT 2').map((row) => [
        row.day,
        row.equity,
      ]),
    ),
    equity: rows<{ at: number; equity: string }>('SELECT at, equity FROM equity ORDER BY at DESC LIMIT 2000').reverse(),
    firstEquity: rows<{ equity: string }>('SELECT equity FROM equity ORDER BY at LIMIT 1')[0]?.equity,
    instruments: rows<Omit<InstrumentEntry, 'kind'>>(
      'SELECT symbol, base, quote, price_precision AS pricePrecision, quantity_precision AS quantityPrecision FROM instruments',
    ).map((row) => ({ ...row, kind: 'instrument' })),
    firstOrderAt: rows<{ at: number | null }>('SELECT min(created_at) AS at FROM orders')[0]?.at ?? undefined,
  };
}

/** Orders that are not ours, and those of them that could be. */
function foreignIn(rows: <T>(sql: string) => T[]): Pick<Loaded, 'foreign' | 'doubtful'> {
  const all = rows<Omit<ForeignEntry, 'kind'>>(
    "SELECT order_id AS orderId, symbol, at, why FROM foreign_orders WHERE why IS NOT 'ours'",
  );
  return { foreign: new Set(all.map(({ orderId }) => orderId)), doubtful: all.filter((row) => row.why !== null) };
}

const horizonIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

const decimalsOf = (text: string): number => (text.includes('.') ? text.length - text.indexOf('.') - 1 : 0);

/** The instrument in which a row can be read: it may have more decimals than the exchange takes now. */
export function finer<T extends Precision>(row: Pick<FillEntry, 'price' | 'quantity'>, at: T): T {
  const pricePrecision = Math.max(at.pricePrecision, decimalsOf(row.price));
  const quantityPrecision = Math.max(at.quantityPrecision, decimalsOf(row.quantity));
  const fits = pricePrecision === at.pricePrecision && quantityPrecision === at.quantityPrecision;
  return fits ? at : { ...at, pricePrecision, quantityPrecision };
}

/** A resume lifts every earlier kill of its scope; one without a strategy lifts all. */
export function inForce(kills: readonly KillEntry[]): readonly KillEntry[] {
  let standing: KillEntry[] = [];
  for (const entry of kills) {
    if (entry.kind === 'kill') standing.push(entry);
    else if (entry.kind === 'resume')
      standing = entry.strategy === null ? [] : standing.filter((kill) => kill.strategy !== entry.strategy);
  }
  return standing;
}

/** Only a resume of everything lifts a halt: it is never one strategy's. */
export function haltsInForce(kills: readonly KillEntry[]): readonly KillEntry[] {
  const lifted = kills.findLastIndex(({ kind, strategy }) => kind === 'resume' && strategy === null);
  return kills.slice(lifted + 1).filter(({ kind }) => kind === 'halt');
}

/** What a journal in memory begins with. */
export const emptyLoaded: Loaded = {
  orders: [],
  past: noPast,
  cursors: new Map(),
  foreign: new Set(),
  doubtful: [],
  protections: [],
  signals: [],
  kills: [],
  halts: [],
  givenUp: [],
  venueTrades: [],
  quarantinedTrades: [],
  adjustments: [],
  limits: [],
  memories: new Map(),
  horizonMs: undefined,
  days: new Map(),
  equity: [],
  firstEquity: undefined,
  instruments: [],
  firstOrderAt: undefined,
};
