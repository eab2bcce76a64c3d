/** Reads from a journal what a daemon needs at its start. */
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
import { noPast, type Past, pastIn } from './past-orders.ts';
import { readOrders, readRows } from './rows.ts';

export interface Loaded {
  /** Orders that are not closed, oldest first. */
  readonly orders: readonly OrderEntryRow[];
  /** Closed orders and fills, read on demand. */
  readonly past: Past;
  readonly cursors: ReadonlyMap<string, readonly string[]>;
  /** Exchange ids of orders that are not ours. */
  readonly foreign: ReadonlySet<string>;
  /** Those of them whose owner could not be proven. */
  readonly doubtful: readonly Omit<ForeignEntry, 'kind'>[];
  readonly protections: readonly { readonly strategy: string; readonly symbol: string; readonly protection: string }[];
  /** The last signal of each strategy and symbol. */
  readonly signals: readonly Omit<SignalEntry, 'kind'>[];
  /** Kills and pauses in force, and halts. */
  readonly kills: readonly KillEntry[];
  readonly halts: readonly KillEntry[];
  /** Orders that ended without an exchange id, oldest first: the exchange may still show one of them. */
  readonly givenUp: readonly OrderEntryRow[];
  /** Trades of the account whose sides are not all booked as our fills, oldest first. */
  readonly venueTrades: readonly VenueTradeEntry[];
  /** Quarantined trades, oldest first. */
  readonly quarantinedTrades: readonly QuarantinedTradeEntry[];
  readonly adjustments: readonly AdjustmentEntry[];
  /** The horizon after late orders raised it, ms. */
  readonly horizonMs: number | undefined;
  /** Raised limits, released versions and configurations, oldest first. */
  readonly limits: readonly LimitEntry[];
  /** Memory of the risk rules, JSON by name. */
  readonly memories: ReadonlyMap<string, string>;
  readonly days: ReadonlyMap<number, string>;
  /** The newest points of the equity curve, oldest first. */
  readonly equity: readonly { readonly at: number; readonly equity: string }[];
  /** The first point of the curve. */
  readonly firstEquity: string | undefined;
  readonly instruments: readonly InstrumentEntry[];
  /** When the first order was created, UTC ms. */
  readonly firstOrderAt: number | undefined;
}

/** Memory of the risk rules, JSON by name. */
export const readMemories = (db: Database): ReadonlyMap<string, string> =>
  new Map(readRows(db, 'memory', '').map(({ name, value }) => [name, value]));

/** Orders that ended without an id and stay in memory. Past this number the oldest are dropped; if one of them appears, trading halts. */
export const maxGivenUp = 10_000;

/** Nearly all trades are of one order of ours and have a fill row. They add nothing, so they are not read. */
const unbookedTrades = `WHERE NOT EXISTS (
  SELECT 1 FROM fills JOIN orders USING (client_order_id, order_id)
  WHERE fills.account IN ('spot', 'margin') AND fills.trade_id = venue_trades.trade_id
    AND fills.symbol = venue_trades.symbol AND '["' || fills.order_id || '"]' = venue_trades.order_ids
) ORDER BY time`;

/** Trades of the account whose sides are not all booked as our fills, oldest first. */
const readOtherTrades = (db: Database): VenueTradeEntry[] => readRows(db, 'venueTrade', unbookedTrades);

/** Quarantined trades, decided ones too, oldest first. */
export const readQuarantinedTrades = (db: Database): QuarantinedTradeEntry[] =>
  readRows(db, 'quarantinedTrade', 'ORDER BY at');

export const readKills = (db: Database): KillEntry[] => readRows(db, 'kill', 'ORDER BY seq');

/** Everything in a journal. `past` reads closed orders and fills later, through this connection if left out. */
export function load(db: Database, past = pastIn(() => db)): Loaded {
  const rows = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  const kills = readKills(db);
  // One that was taken for foreign and proved to be ours is neither.
  const foreign = readRows(db, 'foreign', "WHERE why IS NOT 'ours'");
  const [horizon] = rows<{ value: string }>("SELECT value FROM meta WHERE key = 'horizonMs'");
  return {
    orders: readOrders(db, 'closed_at IS NULL ORDER BY created_at'),
    past,
    cursors: new Map(readRows(db, 'cursor', '').map(({ symbol, tradeIds }) => [symbol, tradeIds])),
    foreign: new Set(foreign.map(({ orderId }) => orderId)),
    doubtful: foreign.filter(({ why }) => why !== null),
    protections: rows('SELECT strategy, symbol, protection FROM protections'),
    signals: readRows(
      db,
      'signal',
      'WHERE (strategy, symbol, seq) IN (SELECT strategy, symbol, max(seq) FROM signals GROUP BY strategy, symbol) ORDER BY strategy, symbol',
    ),
    kills: inForce(kills),
    halts: haltsInForce(kills),
    givenUp: readOrders(
      db,
      'order_id IS NULL AND closed_at IS NOT NULL ORDER BY created_at DESC LIMIT ?',
      maxGivenUp,
    ).reverse(),
    venueTrades: readOtherTrades(db),
    quarantinedTrades: readQuarantinedTrades(db),
    adjustments: readRows(db, 'adjustment', 'ORDER BY seq'),
    limits: readRows(db, 'limit', 'ORDER BY seq'),
    memories: readMemories(db),
    horizonMs: horizon && Number(horizon.value),
    days: new Map(readRows(db, 'day', 'ORDER BY day DESC LIMIT 2').map(({ day, equity }) => [day, equity])),
    equity: readRows(db, 'equity', 'ORDER BY at DESC LIMIT 2000').reverse(),
    firstEquity: readRows(db, 'equity', 'ORDER BY at LIMIT 1')[0]?.equity,
    instruments: readRows(db, 'instrument', ''),
    firstOrderAt: rows<{ at: number | null }>('SELECT min(created_at) AS at FROM orders')[0]?.at ?? undefined,
  };
}

const decimalsOf = (text: string): number => (text.includes('.') ? text.length - text.indexOf('.') - 1 : 0);

/** An instrument with enough decimals to read a row, which may have more than the exchange takes now. */
export function finer<T extends Precision>(row: Pick<FillEntry, 'price' | 'quantity'>, instrument: T): T {
  const pricePrecision = Math.max(instrument.pricePrecision, decimalsOf(row.price));
  const quantityPrecision = Math.max(instrument.quantityPrecision, decimalsOf(row.quantity));
  const fits = pricePrecision === instrument.pricePrecision && quantityPrecision === instrument.quantityPrecision;
  return fits ? instrument : { ...instrument, pricePrecision, quantityPrecision };
}

/** Kills and pauses in force. A resume lifts every earlier one of its scope; one without a strategy lifts all. */
export function inForce(kills: readonly KillEntry[]): readonly KillEntry[] {
  let active: KillEntry[] = [];
  for (const entry of kills) {
    if (entry.kind === 'kill' || entry.kind === 'pause') active.push(entry);
    else if (entry.kind === 'resume')
      active = entry.strategy === null ? [] : active.filter((kill) => kill.strategy !== entry.strategy);
  }
  return active;
}

/** Only a resume of all strategies lifts a halt. */
export function haltsInForce(kills: readonly KillEntry[]): readonly KillEntry[] {
  const lifted = kills.findLastIndex(({ kind, strategy }) => kind === 'resume' && strategy === null);
  return kills.slice(lifted + 1).filter(({ kind }) => kind === 'halt');
}

/** The contents of a new journal. */
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
