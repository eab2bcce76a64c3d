/**
 * Keeps accounts, orders, trades and market time in one SQLite file. `save` is called before anything that shows the change
 * leaves, so a kill -9 loses nothing that anybody saw. WAL with `synchronous=NORMAL`: a power cut may lose the last moments,
 * which a simulator may.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { Instrument } from '../../domain/instrument.ts';
import type { Lots, Ticks, Units } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Changes, Exchange } from '../core/exchange.ts';
import type { Leg, SimOrder, SimTrade } from '../core/order.ts';

const schemaVersion = 1;
const storeFile = 'exchange.db';
const precisionKey = 'precision ';

export interface Store {
  /** Exchange time at which the saved market stood; undefined in a new store. */
  readonly savedAt: number | undefined;
  /** Exchange time at which the market first opened. */
  readonly anchor: number;
  /** Every saved trade, the oldest first. */
  trades(): SimTrade[];
  /** Puts saved accounts, orders and trades back into a new exchange. */
  restore(exchange: Exchange): void;
  /** Saves what changed and the time, in one transaction. */
  save(exchange: Exchange, changes: Changes): void;
  close(): void;
}

/** Opens the store in `dir`, made when missing; throws one clear error when it is in use, or of other instruments. */
export function openStore(dir: string, instruments: readonly Instrument[], startAt: number): Store {
  const file = join(dir, storeFile);
  const db = openAlone(file);
  const meta = metaOf(db);
  try {
    checkShape(file, meta, instruments);
  } catch (error) {
    db.close();
    throw error;
  }
  const anchor = Number(meta.get('anchor') ?? startAt);
  meta.set('anchor', String(anchor));
  const savedAt = meta.get('now');
  const write = writer(db);
  const trades = (): SimTrade[] =>
    db
      .prepare<[], { body: string }>('SELECT body FROM trades ORDER BY id')
      .all()
      .map(({ body }) => tradeFrom(body));
  return {
    savedAt: savedAt === undefined ? undefined : Number(savedAt),
    anchor,
    trades,
    restore: (exchange) => restore(db, exchange, trades()),
    save: write,
    close: () => db.close(),
  };
}

/** Takes away what is kept in `dir`, and nothing else that lies there; throws one clear error when it is in use. */
export function discardStore(dir: string): void {
  const file = join(dir, storeFile);
  if (!existsSync(file)) return;
  openAlone(file).close();
  for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true });
}

/** Opens the file for this process alone: two exchanges on one state would give out the same ids twice. */
function openAlone(file: string): Database.Database {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const db = new Database(file, { timeout: 200 });
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.exec(`
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS balances (uid TEXT, asset TEXT, free TEXT NOT NULL, locked TEXT NOT NULL,
        PRIMARY KEY (uid, asset)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS trades (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    `);
    return db;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(`cannot keep the exchange's state in ${file}: ${why} (is another simulator running on it?)`, 1);
  }
}

interface Meta {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  /** Those that begin so. */
  keys(prefix: string): string[];
}

function metaOf(db: Database.Database): Meta {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const set = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  const keys = db.prepare<[], { key: string }>('SELECT key FROM meta');
  return {
    get: (key) => get.get(key)?.value,
    set: (key, value) => set.run(key, value),
    keys: (prefix) =>
      keys
        .all()
        .map(({ key }) => key)
        .filter((key) => key.startsWith(prefix)),
  };
}

/** Saved quantities are whole steps of their instrument, so other precisions would change what they mean. */
function checkShape(file: string, meta: Meta, instruments: readonly Instrument[]): void {
  const version = meta.get('version') ?? String(schemaVersion);
  if (version !== String(schemaVersion))
    throw new Refusal(`${file} was written by another version (schema ${version}); use another directory`);
  meta.set('version', version);
  const here = new Set(instruments.map(({ symbol }) => `${precisionKey}${symbol}`));
  const strange = meta.keys(precisionKey).find((key) => !here.has(key));
  if (strange !== undefined)
    throw new Refusal(
      `${file} keeps ${strange.slice(precisionKey.length)}, which is not traded now; use another directory`,
    );
  for (const { symbol, pricePrecision, quantityPrecision } of instruments) {
    const shape = `${pricePrecision},${quantityPrecision}`;
    const saved = meta.get(precisionKey + symbol) ?? shape;
    if (saved !== shape)
      throw new Refusal(`${file} keeps ${symbol} at precisions ${saved}, not ${shape}; use another directory`);
    meta.set(precisionKey + symbol, shape);
  }
}

function writer(db: Database.Database): Store['save'] {
  const setMeta = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  const setBalance = db.prepare<[string, string, string, string]>(
    'INSERT OR REPLACE INTO balances VALUES (?, ?, ?, ?)',
  );
  const setOrder = db.prepare<[bigint, string]>('INSERT OR REPLACE INTO orders VALUES (?, ?)');
  const addTrade = db.prepare<[bigint, string]>('INSERT INTO trades VALUES (?, ?)');
  const all = db.transaction((exchange: Exchange, { orders, queues, trades }: Changes) => {
    const { accounts } = exchange;
    for (const order of new Set([...orders, ...queues])) setOrder.run(BigInt(order.orderId), textOf(order));
    for (const trade of trades) addTrade.run(BigInt(trade.tradeId), textOf(trade));
    for (const uid of accounts.changed) {
      for (const [asset, { free, locked }] of accounts.holdings(uid))
        setBalance.run(uid, asset, free.toString(), locked.toString());
    }
    if (accounts.changed.size > 0) {
      for (const [asset, amount] of accounts.house()) setBalance.run(houseUid, asset, amount.toString(), '0');
    }
    setMeta.run('now', String(exchange.now));
    setMeta.run('orderCount', String(exchange.orderCount));
    setMeta.run('tradeCount', String(exchange.tradeCount));
  });
  return (exchange, changes) => {
    const { orders, queues, trades } = changes;
    if (orders.size + queues.size + trades.length + exchange.accounts.changed.size > 0) all(exchange, changes);
    else setMeta.run('now', String(exchange.now));
    exchange.accounts.changed.clear();
  };
}

const houseUid = 'house';

function restore(db: Database.Database, exchange: Exchange, trades: readonly SimTrade[]): void {
  const meta = metaOf(db);
  exchange.orderCount = Number(meta.get('orderCount') ?? exchange.orderCount);
  exchange.tradeCount = Number(meta.get('tradeCount') ?? exchange.tradeCount);
  const balances = db.prepare<[], { uid: string; asset: string; free: string; locked: string }>(
    'SELECT * FROM balances',
  );
  for (const { uid, asset, free, locked } of balances.all()) {
    if (uid === houseUid) exchange.accounts.restoreHouse(asset, unitsFrom(free));
    else exchange.accounts.restore(uid, asset, { free: unitsFrom(free), locked: unitsFrom(locked) });
  }
  for (const trade of trades) exchange.restoreTrade(trade);
  const orders = db.prepare<[], { body: string }>('SELECT body FROM orders ORDER BY id');
  for (const { body } of orders.all()) exchange.restoreOrder(orderFrom(body));
}

const unitsFrom = (text: string): Units => BigInt(text) as Units;

/** JSON with whole steps as text; the readers below know which fields those are. */
const textOf = (row: SimOrder | SimTrade): string =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

type AsText<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] };

function orderFrom(body: string): SimOrder {
  const row = JSON.parse(body) as AsText<SimOrder>;
  return {
    ...row,
    price: BigInt(row.price) as Ticks,
    quantity: BigInt(row.quantity) as Lots,
    amount: unitsFrom(row.amount),
    executed: BigInt(row.executed) as Lots,
    spent: unitsFrom(row.spent),
    locked: unitsFrom(row.locked),
    queueAhead: BigInt(row.queueAhead) as Lots,
  };
}

function tradeFrom(body: string): SimTrade {
  const row = JSON.parse(body) as Omit<AsText<SimTrade>, 'buyer' | 'seller'> & {
    buyer?: AsText<Leg>;
    seller?: AsText<Leg>;
  };
  const leg = (saved: AsText<Leg> | undefined): Leg | undefined => saved && { ...saved, fee: unitsFrom(saved.fee) };
  return {
    ...row,
    price: BigInt(row.price) as Ticks,
    quantity: BigInt(row.quantity) as Lots,
    buyer: leg(row.buyer),
    seller: leg(row.seller),
  };
}
