/**
 * The chain that shows whether anything but Sluice changed a journal: a sum of one sha-256 for each row, and with each commit a
 * link, the sha-256 of the link before it, its number and the sum. Rows that are replaced or deleted leave the sum again, so
 * that tables may change while what they hold is still proven whole. Order protocol §6.
 */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** Where a chain stands after a commit. */
export interface Head {
  /** Commits so far. */
  readonly links: number;
  /** The sum over all rows, hexadecimal. */
  readonly total: string;
  readonly link: string;
}

/** A sum of hashes modulo 2^32 in each of eight lanes: what is added in any order can be taken out again. */
export type Total = Uint32Array;
const lanes = 8;

/** The first link has none before it. */
const noLink = '0'.repeat(64);

export const nothing = (): Total => new Uint32Array(lanes);

/** Adds the hash of a row, or takes it out. Asked for as text: a buffer for each of a million rows would take twice as long. */
function count(total: Total, row: string, sign: 1 | -1): void {
  const digest = hash('sha256', row, 'binary');
  for (let lane = 0, at = 0; lane < lanes; lane++, at += 4) {
    const low = digest.charCodeAt(at) | (digest.charCodeAt(at + 1) << 8);
    const high = digest.charCodeAt(at + 2) | (digest.charCodeAt(at + 3) << 8);
    total[lane] = (total[lane] as number) + sign * (low + high * 65_536);
  }
}

export function addTotal(total: Total, other: Total): Total {
  for (let lane = 0; lane < lanes; lane++) total[lane] = (total[lane] as number) + (other[lane] as number);
  return total;
}

export const totalText = (total: Total): string =>
  Buffer.from(total.buffer, total.byteOffset, total.byteLength).toString('hex');

/** A sum as it is written down; anything else is one that nothing adds up to by chance. */
export function totalOf(text: string): Total {
  const bytes = Buffer.from(text, 'hex');
  return Uint32Array.from({ length: lanes }, (_, lane) =>
    bytes.length === lanes * 4 ? bytes.readUInt32LE(lane * 4) : 0,
  );
}

/** The head after one more commit. */
function next({ links, link }: Pick<Head, 'links' | 'link'>, total: string): Head {
  return { links: links + 1, total, link: hash('sha256', `${link} ${links + 1} ${total}`) };
}

/** Every table whose rows are in the sum: all but the chain's own. */
export const chainedTables = (db: Database): readonly string[] =>
  db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'chain' ORDER BY name",
    )
    .pluck()
    .all() as string[];

const columnsOf = (db: Database, table: string): readonly string[] =>
  (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);

/** A row as text, the same in a trigger and in a query. */
const rowText = (table: string, columns: readonly string[], of = ''): string =>
  `'${table}' || json_array(${columns.map((name) => `${of}"${name}"`).join(', ')})`;

/** What the tables and indices are is in the sum as well: a changed condition of an index would hide rows. */
const schemaText = "SELECT 'sqlite_schema' || json_array(type, name, tbl_name, sql) AS text FROM sqlite_schema";

/** Tables of which rows that lie side by side are handed over together, and by what they belong together: an order has few steps. */
const sideBySide: Readonly<Record<string, string>> = { events: 'client_order_id' };

/** The sum over the rows of some tables, and with `meta` over what they are, as they stand; it reads the tables themselves, not what indices say of them. */
export function sumRows(db: Database, tables: readonly string[] = chainedTables(db)): Total {
  const total = nothing();
  // SQLite calls for each row, or for several with a line each, of which JSON has none: taking them out of it one by one would take twice as long.
  db.function('chain_sum', (rows: unknown) => {
    for (const row of String(rows).split('\n')) count(total, row, 1);
    return 1;
  });
  if (tables.includes('meta')) db.prepare(`SELECT count(chain_sum(text)) FROM (${schemaText})`).get();
  for (const table of tables) {
    const text = rowText(table, columnsOf(db, table));
    const together = sideBySide[table];
    db.prepare(
      together === undefined
        ? `SELECT count(chain_sum(${text})) FROM "${table}" NOT INDEXED`
        : `SELECT count(chain_sum(rows)) FROM (SELECT group_concat(${text}, char(10)) AS rows FROM "${table}" NOT INDEXED GROUP BY ${together})`,
    ).get();
  }
  return total;
}

const hasChain = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'chain'").get() !== undefined;

/** The head as it is written down; undefined in a journal that has no chain yet. */
export function readHead(db: Database): Head | undefined {
  if (!hasChain(db)) return undefined;
  return db.prepare('SELECT links, total, link FROM chain WHERE one = 1').get() as Head | undefined;
}

const writeHead = (db: Database, head: Head & { readonly before: string }): void => {
  db.prepare('INSERT OR REPLACE INTO chain (one, links, total, link, before) VALUES (1, ?, ?, ?, ?)').run(
    head.links,
    head.total,
    head.link,
    head.before,
  );
};

/** Why a head does not go with the rows; undefined when it does. */
export function brokenHead(db: Database, total: Total): string | undefined {
  const row = db.prepare('SELECT links, total, link, before FROM chain WHERE one = 1').get() as
    | (Head & { readonly before: string })
    | undefined;
  if (row === undefined) return 'its chain has no head';
  if (next({ links: row.links - 1, link: row.before }, row.total).link !== row.link)
    return 'the head of its chain does not follow';
  return row.total === totalText(total) ? undefined : 'its rows do not add up to the head of its chain';
}

/** Begins a chain over what a journal holds, or, after a migration changed its rows, goes on with it. The caller has checked it. */
export function rechain(db: Database): void {
  if (!hasChain(db)) return;
  const before = readHead(db) ?? { links: 0, link: noLink };
  writeHead(db, { ...next(before, totalText(sumRows(db))), before: before.link });
}

export interface Chain {
  /** Does some work in one transaction and adds its link; what throws leaves the chain as it was. */
  commit<T>(work: () => T): T;
  /** Where the chain stood after the last commit of this connection. */
  readonly head: Head;
}

const chains = new WeakMap<Database, Chain>();

/** The chain of an open journal file; every change to it goes through `commit`. Undefined in memory, where nothing outlives the process. */
export function chainOf(db: Database): Chain | undefined {
  const known = chains.get(db);
  if (known !== undefined) return known;
  if (db.memory || !hasChain(db)) return undefined;
  const chain = attach(db);
  chains.set(db, chain);
  return chain;
}

/** Triggers of this connection alone see each row that comes and goes, whoever's statement it is. */
function attach(db: Database): Chain {
  const change = nothing();
  db.function('chain_in', (row: unknown) => count(change, String(row), 1));
  db.function('chain_out', (row: unknown) => count(change, String(row), -1));
  // Without it a row that is replaced goes without its trigger.
  db.pragma('recursive_triggers = ON');
  for (const table of chainedTables(db)) {
    const columns = columnsOf(db, table);
    const [came, went] = [rowText(table, columns, 'NEW.'), rowText(table, columns, 'OLD.')];
    db.exec(`
      CREATE TEMP TRIGGER "chain_${table}_in" AFTER INSERT ON main."${table}" BEGIN SELECT chain_in(${came}); END;
      CREATE TEMP TRIGGER "chain_${table}_out" AFTER DELETE ON main."${table}" BEGIN SELECT chain_out(${went}); END;
      CREATE TEMP TRIGGER "chain_${table}_new" AFTER UPDATE ON main."${table}" BEGIN SELECT chain_out(${went}), chain_in(${came}); END;
    `);
  }
  const write = db.prepare(
    'UPDATE chain SET links = ?, total = ?, link = ?, before = ? WHERE one = 1 AND links = ? AND total = ? AND link = ?',
  );
  let head = readHead(db) ?? { links: 0, total: totalText(nothing()), link: noLink };
  // Made once: each order waits for a commit.
  const inOne = db.transaction((work: () => unknown): readonly [unknown, Head] => {
    change.fill(0);
    const result = work();
    const now = next(head, totalText(addTotal(totalOf(head.total), change)));
    const { changes } = write.run(now.links, now.total, now.link, head.link, head.links, head.total, head.link);
    // There is one writer: whoever else writes would be covered up by going on.
    if (changes !== 1) throw new Error(`${db.name} was changed by another program while it was open`);
    return [result, now];
  });
  return {
    commit<T>(work: () => T): T {
      const [done, after] = inOne(work) as readonly [T, Head];
      head = after;
      return done;
    },
    get head() {
      return head;
    },
  };
}

/** Runs work in one transaction, with its link where there is a chain. */
export const commitIn = <T>(db: Database, work: () => T): T => {
  const chain = chainOf(db);
  return chain === undefined ? db.transaction(work)() : chain.commit(work);
};
