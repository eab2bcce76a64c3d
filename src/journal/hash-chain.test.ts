import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { btc, startTime } from '../../test/kit/builders.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from '../../test/kit/journal-rows.ts';
import type { Entry } from './entries.ts';
import { brokenHead, chainOf, commitIn, readHead, sumRows } from './hash-chain.ts';
import { backUpBeforeMigration } from './open.ts';
import { openForWriting } from './open-for-writing.ts';
import { migrate, released, schemaVersion, versionOf } from './schema.ts';
import { writer } from './writer.ts';

let root: string;
let path: string;
let db: Database.Database;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-chain-'));
  path = join(root, 'journal.db');
  db = openForWriting(path);
  migrate(db);
});
afterEach(() => {
  db.close();
  rmSync(root, { recursive: true, force: true });
});

const broken = (): string | undefined => brokenHead(db, sumRows(db));
/** Does something to the file as another program would: by a connection without the chain's triggers. */
function elsewhere(sql: string): void {
  const other = new Database(path);
  other.exec(sql);
  other.close();
}

/** One of everything that comes, is replaced and goes. */
const everything: readonly Entry[] = [
  orderRowOf(),
  orderRowOf({ clientOrderId: 'c2', state: 'open' }),
  eventOf('sending'),
  eventOf('accepted', { detail: { orderId: '1', said: 'two\nlines' } }),
  eventOf('closed', { clientOrderId: 'c2' }),
  fillRowOf(),
  fillRowOf(),
  denialOf(),
  denialOf({ at: startTime + 1 }),
  { kind: 'cursor', symbol: btc.symbol, tradeIds: ['1', '2'] },
  { kind: 'protection', strategy: 's', symbol: btc.symbol, protection: { stop: '90' } },
  { kind: 'protection', strategy: 's', symbol: btc.symbol, protection: null },
  { kind: 'day', day: 1, equity: '100' },
  { kind: 'resume', everything: false, at: 2, strategy: null, by: 'operator', reason: 'r' },
  { kind: 'horizon', ms: 120_000 },
  { kind: 'notice', at: 3, level: 'info', text: 'a “quoted” text, \n two lines and 👍' },
];

describe('the chain of a journal', () => {
  test('holds after rows came, were replaced and went, whoever’s statement it was', () => {
    const write = writer(db, 1);
    for (const entry of everything) write([entry]);
    write(everything);
    write([orderRowOf({ state: 'filled', closedAt: 9 })]);
    commitIn(db, () => db.prepare("INSERT INTO meta VALUES ('a', 'b')").run());
    expect(broken()).toBeUndefined();
    expect(readHead(db)).toEqual(chainOf(db)?.head);
  });

  test('has one link more with each commit, and none is like another', () => {
    const write = writer(db, 1);
    const heads = [readHead(db)];
    // The same rows before and after: the commit itself is in the chain.
    for (let times = 0; times < 3; times++) {
      write([orderRowOf()]);
      heads.push(readHead(db));
    }
    expect(heads.map((head) => head?.links)).toEqual([1, 2, 3, 4]);
    expect(new Set(heads.map((head) => head?.link)).size).toBe(4);
    expect(heads[2]?.total).toBe(heads[3]?.total);
  });

  test('stays as it was when a commit is rolled back', () => {
    const write = writer(db, 1);
    write([orderRowOf()]);
    const before = readHead(db);
    const wrong = { ...fillRowOf(), price: null } as unknown;
    expect(() => write([eventOf('sending'), wrong as Entry])).toThrow(/NOT NULL/);
    expect(readHead(db)).toEqual(before);
    write([eventOf('sending')]);
    expect(broken()).toBeUndefined();
  });

  test('goes on in the next opening', () => {
    writer(db, 1)(everything);
    db.close();
    db = openForWriting(path);
    writer(db, 2)([orderRowOf({ state: 'open' }), eventOf('accepted')]);
    expect(readHead(db)?.links).toBe(3);
    expect(broken()).toBeUndefined();
  });

  test.each([
    ['a row is changed', "UPDATE fills SET price = '100.1'"],
    ['a number is changed', 'UPDATE orders SET created_at = created_at + 1'],
    ['a row is removed', 'DELETE FROM events'],
    ['a row is added', "INSERT INTO notices (at, level, text) VALUES (1, 'info', 'x')"],
    ['two rows change places', "UPDATE orders SET reason = CASE client_order_id WHEN 'c1' THEN 'b' ELSE 'a' END"],
    ['text becomes a number', 'UPDATE fills SET evidence = 1'],
    ['an index hides rows', 'DROP INDEX orders_open; CREATE INDEX orders_open ON orders (state) WHERE closed_at = 5'],
    ['a table is added', 'CREATE TABLE more (a)'],
    ['its head is set back', 'UPDATE chain SET links = links - 1'],
    ['its head is taken away', 'DELETE FROM chain'],
    ['its sum is made to fit nothing', "UPDATE chain SET total = 'x'"],
  ])('is broken when %s by another program', (_, sql) => {
    const write = writer(db, 1);
    write(everything);
    write([orderRowOf({ reason: 'a' }), orderRowOf({ clientOrderId: 'c2', reason: 'b' })]);
    expect(broken()).toBeUndefined();
    elsewhere(sql);
    expect(broken()).toEqual(expect.any(String));
    // Going on does not heal it.
    if (sql.includes('chain')) expect(() => write([eventOf('closed')])).toThrow('changed by another program');
    else write([eventOf('closed')]);
    expect(broken()).toEqual(expect.any(String));
  });

  test('is broken when another program adds a row to any table', () => {
    const other = new Database(path);
    const tables = other
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('chain', 'sqlite_sequence')")
      .pluck()
      .all() as string[];
    expect(tables).toContain('limits');
    for (const table of tables) {
      const columns = other.pragma(`table_info(${table})`) as { type: string }[];
      const values = columns.map(({ type }) => (type === 'INTEGER' ? 7 : "'x'"));
      other.exec('BEGIN');
      other.exec(`INSERT INTO "${table}" VALUES (${values.join()})`);
      expect(brokenHead(other, sumRows(other)), table).toEqual(expect.any(String));
      other.exec('ROLLBACK');
    }
    other.close();
    expect(broken()).toBeUndefined();
  });

  test('is none in memory, where nothing outlives the process', () => {
    const memory = new Database(':memory:');
    migrate(memory);
    expect(chainOf(memory)).toBeUndefined();
    writer(memory)(everything);
    memory.close();
  });
});

describe('a migration', () => {
  /** A version that is still to come. */
  const next = [...released, 'ALTER TABLE notices ADD COLUMN source TEXT'];

  test('keeps all rows, goes on with the chain, and is not done twice', () => {
    writer(db, 1)(everything);
    const links = readHead(db)?.links ?? 0;
    const fills = db.prepare('SELECT * FROM fills').all();
    for (let times = 0; times < 2; times++) migrate(db, next);
    expect(versionOf(db)).toBe(schemaVersion + 1);
    expect(db.prepare('SELECT * FROM fills').all()).toEqual(fills);
    expect(db.prepare('SELECT source FROM notices').all()).not.toEqual([]);
    expect(readHead(db)?.links).toBe(links + 1);
    expect(broken()).toBeUndefined();
    elsewhere("UPDATE fills SET price = '1'");
    expect(broken()).toEqual(expect.any(String));
  });

  test('refuses a journal whose chain is broken, and leaves it as it is', () => {
    writer(db, 1)(everything);
    elsewhere("UPDATE fills SET price = '1'");
    expect(() => migrate(db, next)).toThrow(/changed by something other than Sluice/);
    expect(versionOf(db)).toBe(schemaVersion);
  });

  test('is preceded by a copy, also after one that was cut off', () => {
    writer(db, 1)(everything);
    const copy = `${path}.before-${schemaVersion + 1}`;
    writeFileSync(copy, 'half a copy');
    backUpBeforeMigration(db, path, schemaVersion + 1);
    const kept = new Database(copy, { readonly: true });
    expect(versionOf(kept)).toBe(schemaVersion);
    expect(kept.prepare('SELECT count(*) AS fills FROM fills').get()).toEqual(
      db.prepare('SELECT count(*) AS fills FROM fills').get(),
    );
    kept.close();
  });
});

test('the log beside a journal does not grow with what is written', () => {
  const write = writer(db, 1);
  const detail = { text: 'x'.repeat(1_000) };
  for (let commits = 0; commits < 40; commits++)
    write(Array.from({ length: 500 }, () => eventOf('resolving', { detail })));
  db.pragma('wal_checkpoint(PASSIVE)');
  expect(statSync(path).size).toBeGreaterThan(20 * 1_048_576);
  expect(statSync(`${path}-wal`).size).toBeLessThan(12 * 1_048_576);
});
