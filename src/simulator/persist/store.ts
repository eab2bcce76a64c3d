/**
 * Keeps accounts, orders, trades, withdrawals, changes of keys and market time in one SQLite file. `save` is called before anything that shows the change
 * leaves, so a kill -9 loses nothing that anybody saw. WAL with `synchronous=NORMAL`: a power cut may lose the last moments,
 * which a simulator may.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import type { Instrument } from '../../domain/instrument.ts';
import type { Units } from '../../domain/money.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import type { Accounts, ClearingAccount, Holding } from '../core/accounts.ts';
import type { Changes, Exchange } from '../core/exchange.ts';
import type { Credentials } from '../core/keys.ts';
import type { MarketPast } from '../market/market.ts';
import { marketPast, marketTables, marketWriter, rowFrom, textOf } from './market-past.ts';

const schemaVersion = 1;
const storeFile = 'exchange.db';
const precisionKey = 'precision ';
const delistedKey = 'delisted ';
const termsKey = 'terms ';

export type Store = ReturnType<typeof openStore>;

/** Opens the store at `path`, a directory or a file that ends with `.db`, made when missing; throws one clear error when it is in use, or of other instruments. */
export function openStore(path: string, instruments: readonly Instrument[], startAt: number) {
  const file = fileOf(path);
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
  const forgotten = { orders: [] as string[], trades: [] as string[] };
  return {
    /** Exchange time of the saved market; undefined in a new store. */
    savedAt: savedAt === undefined ? undefined : Number(savedAt),
    /** Exchange time at which the market first opened. */
    anchor,
    /** The prints of a market that is made of prints; undefined without any. */
    past: (symbol: string): MarketPast | undefined => marketPast(db, symbol),
    /** Deletes an old order or trade with the next save. */
    forget: (rows: 'orders' | 'trades', id: string): void => void forgotten[rows].push(id),
    /** Restores accounts, orders and trades into a new exchange. */
    restore: (exchange: Exchange): void => restore(db, exchange),
    /** Saves the changes and the time in one transaction. */
    save: writer(db, forgotten),
    close: (): void => void db.close(),
  };
}

/** Takes away what is kept at `path`, and nothing else that lies there; throws one clear error when it is in use. */
export function discardStore(path: string): void {
  const file = fileOf(path);
  if (!existsSync(file)) return;
  openAlone(file).close();
  for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true });
}

const fileOf = (path: string): string => (path.endsWith('.db') ? path : join(path, storeFile));

/** Step by step: Node's own way never returns where, as in /proc, none can be made. */
function makeDirs(dir: string): void {
  const missing: string[] = [];
  for (let at = resolve(dir); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const at of missing.reverse()) mkdirSync(at, { mode: 0o700 });
}

/** Opens the file for this process alone: two exchanges on one state would give out the same ids twice. */
function openAlone(file: string): Database.Database {
  try {
    makeDirs(dirname(file));
    const db = new Database(file, { timeout: 200 });
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.exec(`
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS balances (holder TEXT, asset TEXT, free TEXT NOT NULL, locked TEXT NOT NULL,
        paidIn TEXT NOT NULL, traded TEXT NOT NULL, fees TEXT NOT NULL, PRIMARY KEY (holder, asset)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS house (asset TEXT PRIMARY KEY, outside TEXT NOT NULL, market TEXT NOT NULL,
        fees TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS withdrawals (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS trades (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    `);
    db.exec(marketTables);
    return db;
  } catch (error) {
    const why = causeOf(error);
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new Refusal(
        `another simulator is running on ${dirname(file)}: end it, or give this one a directory of its own (--state DIR)`,
        3,
      );
    throw new Refusal(`cannot keep the exchange's state in ${file}: ${why}`, 1);
  }
}

type Meta = ReturnType<typeof metaOf>;

function metaOf(db: Database.Database) {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const set = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)');
  const keys = db.prepare<[], { key: string }>('SELECT key FROM meta');
  return {
    get: (key: string): string | undefined => get.get(key)?.value,
    set: (key: string, value: string): void => void set.run(key, value),
    /** Those that begin so. */
    keys: (prefix: string): string[] =>
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

function writer(db: Database.Database, forgotten: Record<'orders' | 'trades', string[]>) {
  const meta = metaOf(db);
  const setRow = (table: 'orders' | 'withdrawals') =>
    db.prepare<[bigint, string]>(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`);
  const [setOrder, setWithdrawal] = [setRow('orders'), setRow('withdrawals')];
  const addTrade = db.prepare<[bigint, string]>('INSERT INTO trades VALUES (?, ?)');
  const remove = {
    orders: db.prepare<[bigint]>('DELETE FROM orders WHERE id = ?'),
    trades: db.prepare<[bigint]>('DELETE FROM trades WHERE id = ?'),
  };
  const setKey = db.prepare<[string, string]>('INSERT OR REPLACE INTO keys VALUES (?, ?)');
  const [saveAccounts, saveMarkets] = [accountsWriter(db), marketWriter(db)];
  const all = db.transaction((exchange: Exchange, changes: Changes) => {
    for (const order of new Set([...changes.orders, ...changes.queues]))
      setOrder.run(BigInt(order.orderId), textOf(order));
    for (const trade of changes.trades) addTrade.run(BigInt(trade.tradeId), textOf(trade));
    for (const { tradeId } of changes.busted) remove.trades.run(BigInt(tradeId));
    for (const what of ['orders', 'trades'] as const)
      for (const id of forgotten[what].splice(0)) remove[what].run(BigInt(id));
    saveMarkets(exchange, changes.prints);
    for (const symbol of changes.delisted) meta.set(delistedKey + symbol, '');
    for (const symbol of changes.terms) meta.set(termsKey + symbol, textOf(exchange.instruments.get(symbol) ?? {}));
    for (const one of changes.withdrawals) setWithdrawal.run(BigInt(one.id), textOf(one));
    for (const [key, credentials] of exchange.keys.takeChanged()) setKey.run(key, JSON.stringify(credentials ?? null));
    saveAccounts(exchange.accounts);
    meta.set('now', String(exchange.now));
    for (const name of counters) meta.set(name, String(exchange[name]));
  });
  return (exchange: Exchange, changes: Changes): void => {
    const { orders, queues, trades, busted, delisted, terms, withdrawals } = changes;
    const { accounts, keys } = exchange;
    const gone = busted.length + forgotten.orders.length + forgotten.trades.length;
    const changed = orders.size + queues.size + trades.length + gone + withdrawals.size + changes.prints.size;
    if (changed + delisted.size + terms.size + accounts.changed.size + keys.changed.size > 0) all(exchange, changes);
    else for (const name of ['now', 'printCount'] as const) meta.set(name, String(exchange[name]));
    accounts.changed.clear();
  };
}

/** Numbers that ids are made of: they go on after a restart. */
const counters = ['orderCount', 'tradeCount', 'printCount'] as const;

function accountsWriter(db: Database.Database): (accounts: Accounts) => void {
  const setBalance = db.prepare<string[]>('INSERT OR REPLACE INTO balances VALUES (?, ?, ?, ?, ?, ?, ?)');
  const setHouse = db.prepare<string[]>('INSERT OR REPLACE INTO house VALUES (?, ?, ?, ?)');
  return (accounts) => {
    for (const holder of accounts.changed) {
      for (const [asset, { free, locked, paidIn, traded, fees }] of accounts.holdings(holder))
        setBalance.run(holder, asset, ...[free, locked, paidIn, traded, fees].map(String));
    }
    if (accounts.changed.size === 0) return;
    for (const [asset, { outside, market, fees }] of accounts.houses())
      setHouse.run(asset, ...[outside, market, fees].map(String));
  };
}

function restore(db: Database.Database, exchange: Exchange): void {
  const meta = metaOf(db);
  for (const name of counters) exchange[name] = Number(meta.get(name) ?? exchange[name]);
  for (const key of meta.keys(delistedKey)) exchange.delisted.add(key.slice(delistedKey.length));
  for (const key of meta.keys(termsKey)) exchange.list(rowFrom(meta.get(key) ?? '{}'));
  const { accounts, withdrawals, keys } = exchange;
  for (const { holder, asset, ...rest } of rows<BalanceRow>(db, 'balances'))
    accounts.restore(holder, asset, unitsOf(rest));
  for (const { asset, ...rest } of rows<HouseRow>(db, 'house')) accounts.restoreHouse(asset, unitsOf(rest));
  for (const { id, body } of rows<{ id: string; body: string }>(db, 'keys'))
    keys.restore(id, (JSON.parse(body) as Credentials | null) ?? undefined);
  for (const { body } of rows<{ body: string }>(db, 'withdrawals')) withdrawals.restore(rowFrom(body));
  for (const { body } of rows<{ body: string }>(db, 'trades')) exchange.orders.addTrade(rowFrom(body));
  for (const { body } of rows<{ body: string }>(db, 'orders')) exchange.restoreOrder(rowFrom(body));
}

type AsText<T> = { readonly [K in keyof T]: string };
type BalanceRow = AsText<Holding> & { readonly holder: string; readonly asset: string };
type HouseRow = AsText<ClearingAccount> & { readonly asset: string };

const rows = <T>(db: Database.Database, table: string): T[] =>
  db.prepare<[], T>(`SELECT * FROM ${table} ORDER BY 1`).all();

const unitsOf = <K extends string>(texts: Readonly<Record<K, string>>): Record<K, Units> =>
  Object.fromEntries(Object.entries<string>(texts).map(([name, text]) => [name, BigInt(text)])) as Record<K, Units>;
