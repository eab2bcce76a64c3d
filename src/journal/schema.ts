/** The tables and their migrations. `user_version` is the number of a journal's migrations. */
import type { Database } from 'better-sqlite3';
import { Refusal } from '../domain/refusal.ts';
import { brokenHead, rechain, sumRows } from './hash-chain.ts';

/** Each migrates a journal to the next version. A released one never changes: add another. */
export const released: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE strategies (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
  CREATE TABLE instruments (
    symbol TEXT PRIMARY KEY, base TEXT NOT NULL, quote TEXT NOT NULL,
    price_precision INTEGER NOT NULL, quantity_precision INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE signals (
    seq INTEGER NOT NULL, at INTEGER NOT NULL, decision INTEGER NOT NULL, strategy TEXT NOT NULL, role TEXT NOT NULL,
    symbol TEXT NOT NULL, signal TEXT NOT NULL, quantity TEXT, memory TEXT, PRIMARY KEY (strategy, symbol, seq)
  ) WITHOUT ROWID;
  CREATE TABLE denials (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, strategy TEXT NOT NULL, symbol TEXT NOT NULL, code TEXT NOT NULL,
    facts TEXT NOT NULL, draft TEXT NOT NULL, reason TEXT NOT NULL, times INTEGER NOT NULL DEFAULT 1, last_at INTEGER NOT NULL
  );
  CREATE TABLE orders (
    client_order_id TEXT PRIMARY KEY, order_id TEXT, decision INTEGER NOT NULL, strategy TEXT NOT NULL, role TEXT NOT NULL,
    account TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL, type TEXT NOT NULL, quantity TEXT, amount TEXT, price TEXT,
    expected TEXT NOT NULL, purpose TEXT NOT NULL, reason TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    state TEXT NOT NULL, filled TEXT NOT NULL, executed TEXT, venue_status TEXT, signed_at INTEGER, recv_window_ms INTEGER,
    body_hash TEXT, trade_floor TEXT, cancel_requested INTEGER NOT NULL, quarantine_reason TEXT, batch TEXT, closed_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX orders_by_id ON orders (order_id) WHERE order_id IS NOT NULL;
  CREATE INDEX orders_open ON orders (state) WHERE closed_at IS NULL;
  CREATE INDEX orders_given_up ON orders (created_at) WHERE order_id IS NULL AND closed_at IS NOT NULL;
  CREATE TABLE events (
    seq INTEGER NOT NULL, at INTEGER NOT NULL, client_order_id TEXT NOT NULL, event TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (client_order_id, seq)
  ) WITHOUT ROWID;
  CREATE TABLE fills (
    seq INTEGER PRIMARY KEY, trade_id TEXT NOT NULL, order_id TEXT NOT NULL, client_order_id TEXT NOT NULL, strategy TEXT NOT NULL,
    account TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL, price TEXT NOT NULL, quantity TEXT NOT NULL,
    fee TEXT NOT NULL, fee_asset TEXT NOT NULL, maker INTEGER NOT NULL, time INTEGER NOT NULL, purpose TEXT NOT NULL,
    evidence TEXT, UNIQUE (account, trade_id, order_id)
  );
  CREATE TABLE cursors (symbol TEXT PRIMARY KEY, trade_ids TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE foreign_orders (
    order_id TEXT PRIMARY KEY, symbol TEXT NOT NULL, at INTEGER NOT NULL, why TEXT
  ) WITHOUT ROWID;
  CREATE TABLE protections (strategy TEXT NOT NULL, symbol TEXT NOT NULL, protection TEXT NOT NULL, PRIMARY KEY (strategy, symbol)) WITHOUT ROWID;
  CREATE TABLE kills (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, strategy TEXT, by TEXT NOT NULL, reason TEXT NOT NULL
  );
  CREATE TABLE days (day INTEGER PRIMARY KEY, equity TEXT NOT NULL);
  CREATE TABLE equity (at INTEGER PRIMARY KEY, equity TEXT NOT NULL);
  CREATE TABLE notices (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL);
  CREATE TABLE venue_trades (
    symbol TEXT NOT NULL, trade_id TEXT NOT NULL, order_ids TEXT NOT NULL, side TEXT NOT NULL, price TEXT NOT NULL,
    quantity TEXT NOT NULL, fee TEXT NOT NULL, fee_asset TEXT NOT NULL, maker INTEGER NOT NULL, time INTEGER NOT NULL,
    seen_at INTEGER NOT NULL, PRIMARY KEY (symbol, trade_id, order_ids, side)
  ) WITHOUT ROWID;
  CREATE TABLE venue_orders (
    order_id TEXT PRIMARY KEY, symbol TEXT NOT NULL, client_order_id TEXT, side TEXT NOT NULL, type TEXT NOT NULL,
    status TEXT NOT NULL, executed TEXT NOT NULL, seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE quarantined_trades (
    symbol TEXT NOT NULL, trade_id TEXT NOT NULL, order_ids TEXT NOT NULL, side TEXT NOT NULL, price TEXT NOT NULL,
    quantity TEXT NOT NULL, fee TEXT NOT NULL, fee_asset TEXT NOT NULL, maker INTEGER NOT NULL, time INTEGER NOT NULL,
    at INTEGER NOT NULL, why TEXT NOT NULL, raw TEXT NOT NULL, can_be_accepted INTEGER NOT NULL,
    decision TEXT, decided_at INTEGER, by TEXT, reason TEXT, PRIMARY KEY (symbol, trade_id, side)
  ) WITHOUT ROWID;
  CREATE TABLE adjustments (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, what TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL,
    by TEXT NOT NULL, reason TEXT NOT NULL
  );
  CREATE TABLE audits (
    day INTEGER NOT NULL, outcome TEXT NOT NULL, differences TEXT NOT NULL, at INTEGER NOT NULL, held TEXT NOT NULL,
    PRIMARY KEY (day, outcome, differences)
  ) WITHOUT ROWID;
  CREATE TABLE limits (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    by TEXT NOT NULL, reason TEXT NOT NULL
  );
  CREATE TABLE memories (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE chain (
    one INTEGER PRIMARY KEY CHECK (one = 1), links INTEGER NOT NULL, total TEXT NOT NULL, link TEXT NOT NULL, before TEXT NOT NULL
  );
  CREATE TABLE openings (
    epoch INTEGER PRIMARY KEY, at INTEGER NOT NULL, mark TEXT NOT NULL, host TEXT, links INTEGER NOT NULL, link TEXT NOT NULL, accepted TEXT
  );
  `,
  // Earlier kills stopped exits, too.
  `
  ALTER TABLE kills ADD COLUMN everything INTEGER NOT NULL DEFAULT 1;
  CREATE TABLE archives (
    file TEXT PRIMARY KEY, of_table TEXT NOT NULL, rows INTEGER NOT NULL, sha256 TEXT NOT NULL, total TEXT NOT NULL,
    until INTEGER NOT NULL, links INTEGER NOT NULL, link TEXT NOT NULL, signature TEXT NOT NULL
  ) WITHOUT ROWID;
  `,
];

export const schemaVersion = released.length;

/** What a journal says of itself, by name. */
export const metaOf = (db: Database): ReadonlyMap<string, string> =>
  new Map(db.prepare('SELECT key, value FROM meta').raw().all() as [string, string][]);

/** The schema version of a journal; 0 when it is new. */
export const versionOf = (db: Database): number => Number(db.pragma('user_version', { simple: true }));

/** Refuses (exit 3) a journal that a newer version wrote: its rows may mean what this one does not know. */
export function refuseNewer(path: string, version: number): void {
  if (version > schemaVersion)
    throw new Refusal(
      `${path} was written by a newer Sluice (schema ${version}, this one knows ${schemaVersion}): upgrade Sluice, or restore a backup made before its upgrade (docs/how-to/upgrade.md); nothing was changed`,
      3,
    );
}

/**
 * Migrates a journal to the newest schema in one transaction, and begins or continues its chain. The caller has refused newer ones. Refuses
 * a journal with a broken chain, which a migration would hide.
 */
export function migrate(db: Database, migrations = released): void {
  if (versionOf(db) >= migrations.length) return;
  db.transaction(() => {
    const broken = versionOf(db) === 0 || db.memory ? undefined : brokenHead(db, sumRows(db));
    if (broken !== undefined)
      throw new Refusal(
        `${db.name} was changed by something other than Sluice (${broken}): restore a backup; nothing was changed`,
        3,
      );
    for (const [version, statements] of migrations.entries()) if (version >= versionOf(db)) db.exec(statements);
    db.pragma(`user_version = ${migrations.length}`);
    if (!db.memory) rechain(db);
  })();
}

/** Tables that identify a journal of Sluice. */
const ours = ['meta', 'orders', 'events', 'fills', 'kills', 'venue_trades', 'chain'];

/** Whether a database is a journal of Sluice. */
export function isOurs(db: Database): boolean {
  const tables = new Set(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all());
  return versionOf(db) > 0 && ours.every((name) => tables.has(name));
}
