/**
 * The hash chain that shows whether anything but Sluice changed a journal. It has a sum of one SHA-256 for each row. Each commit adds a
 * link: the SHA-256 of the last link, its number and the sum. Replaced and deleted rows are subtracted from the sum, so rows may change
 * while the chain still proves all of them.
 */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** The chain's state after a commit. */
export interface Head {
  /** Commits so far. */
  readonly links: number;
  /** The sum over all rows, hexadecimal. */
  readonly total: string;
  readonly link: string;
}

/** A sum of hashes modulo 2^32 in each of eight lanes: hashes can be added and subtracted in any order. */
export type Total = Uint32Array;
const lanes = 8;

/** The link before the first one. */
const noLink = '0'.repeat(64);

export const emptyTotal = (): Total => new Uint32Array(lanes);

/** Adds or subtracts the hash of a row. The digest is text: a buffer for each of a million rows would take twice as long. */
function count(total: Total, row: string, sign: 1 | -1): void {
  const digest = hash('sha256', row, 'binary');
  for (let lane = 0, byte = 0; lane < lanes; lane++, byte += 4) {
    const low = digest.charCodeAt(byte) | (digest.charCodeAt(byte + 1) << 8);
    const high = digest.charCodeAt(byte + 2) | (digest.charCodeAt(byte + 3) << 8);
    total[lane] = (total[lane] as number) + sign * (low + high * 65_536);
  }
}

export function addTotal(total: Total, other: Total): Total {
  for (let lane = 0; lane < lanes; lane++) total[lane] = (total[lane] as number) + (other[lane] as number);
  return total;
}

export const totalText = (total: Total): string =>
  Buffer.from(total.buffer, total.byteOffset, total.byteLength).toString('hex');

/** Reads a written sum; zero for an invalid text, to which no rows add up by chance. */
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

/** The tables whose rows are in the sum: all but the chain itself. */
export const chainedTables = (db: Database): readonly string[] =>
  db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'chain' ORDER BY name",
    )
    .pluck()
    .all() as string[];

export const columnsOf = (db: Database, table: string): readonly string[] =>
  (db.pragma(`main.table_info(${table})`) as { name: string }[]).map(({ name }) => name);

/** A row as text, the same in a trigger and in a query. */
const rowText = (table: string, columns: readonly string[], of = ''): string =>
  `'${table}' || json_array(${columns.map((name) => `${of}"${name}"`).join(', ')})`;

/** The schema is in the sum as well: a changed condition of an index could hide rows. */
const schemaText = "SELECT 'sqlite_schema' || json_array(type, name, tbl_name, sql) AS text FROM main.sqlite_schema";

/** Tables whose rows are hashed in groups, with the column of the group: an order has few events. */
const grouped: Readonly<Record<string, string>> = { events: 'client_order_id' };

/** A sum to which this connection adds what is given to `chain_sum`. */
function summing(db: Database): Total {
  const total = emptyTotal();
  // SQLite calls this for each row or group, one line a row (JSON has no line breaks). Reading the rows one by one would take twice as long.
  db.function('chain_sum', (rows: unknown) => {
    for (const row of String(rows).split('\n')) count(total, row, 1);
    return 1;
  });
  return total;
}

/** The sum over some rows of a table, wherever they are: `from` is SQL after FROM. */
export function sumRowsOf(db: Database, table: string, from: string, ...values: readonly unknown[]): Total {
  const total = summing(db);
  db.prepare(`SELECT count(chain_sum(${rowText(table, columnsOf(db, table))})) FROM ${from}`).get(...values);
  return total;
}

/** The sum over the rows of some tables, with `meta` also over the schema. It reads the tables, not their indices. */
export function sumRows(db: Database, tables: readonly string[] = chainedTables(db)): Total {
  const total = summing(db);
  if (tables.includes('meta')) db.prepare(`SELECT count(chain_sum(text)) FROM (${schemaText})`).get();
  for (const table of tables) {
    const text = rowText(table, columnsOf(db, table));
    const group = grouped[table];
    db.prepare(
      group === undefined
        ? `SELECT count(chain_sum(${text})) FROM main."${table}" NOT INDEXED`
        : `SELECT count(chain_sum(rows)) FROM (SELECT group_concat(${text}, char(10)) AS rows FROM main."${table}" NOT INDEXED GROUP BY ${group})`,
    ).get();
  }
  return total;
}

const hasChain = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'chain'").get() !== undefined;

/** The written head; undefined in a journal without a chain. */
export function readHead(db: Database): Head | undefined {
  if (!hasChain(db)) return undefined;
  return db.prepare('SELECT links, total, link FROM chain WHERE one = 1').get() as Head | undefined;
}

const writeHead = (db: Database, head: Head & { readonly before: string }): void => {
  db.prepare('INSERT OR REPLACE INTO chain VALUES (1, @links, @total, @link, @before)').run(head);
};

/** Why the head does not match the rows, or undefined. */
export function brokenHead(db: Database, total: Total): string | undefined {
  const row = db.prepare('SELECT links, total, link, before FROM chain WHERE one = 1').get() as
    | (Head & { readonly before: string })
    | undefined;
  if (row === undefined) return 'its chain has no head';
  if (next({ links: row.links - 1, link: row.before }, row.total).link !== row.link)
    return 'the head of its chain does not follow';
  return row.total === totalText(total) ? undefined : 'its rows do not add up to the head of its chain';
}

/** Begins a chain over the rows of a journal, or continues it after a migration changed them. The caller has checked the chain. */
export function rechain(db: Database): void {
  if (!hasChain(db)) return;
  const before = readHead(db) ?? { links: 0, link: noLink };
  writeHead(db, { ...next(before, totalText(sumRows(db))), before: before.link });
}

export type Chain = ReturnType<typeof attach>;

const chains = new WeakMap<Database, Chain>();

/** The chain of an open journal file, through whose `commit` every change must go. Undefined in memory. */
export function chainOf(db: Database): Chain | undefined {
  const known = chains.get(db);
  if (known !== undefined) return known;
  if (db.memory || !hasChain(db)) return undefined;
  const chain = attach(db);
  chains.set(db, chain);
  return chain;
}

/** Adds temporary triggers, which see every inserted and deleted row of this connection. */
function attach(db: Database) {
  const change = emptyTotal();
  db.function('chain_in', (row: unknown) => count(change, String(row), 1));
  db.function('chain_out', (row: unknown) => count(change, String(row), -1));
  // Without it a replaced row would not fire its delete trigger.
  db.pragma('recursive_triggers = ON');
  for (const table of chainedTables(db)) {
    const columns = columnsOf(db, table);
    const [added, removed] = [rowText(table, columns, 'NEW.'), rowText(table, columns, 'OLD.')];
    db.exec(`
      CREATE TEMP TRIGGER "chain_${table}_in" AFTER INSERT ON main."${table}" BEGIN SELECT chain_in(${added}); END;
      CREATE TEMP TRIGGER "chain_${table}_out" AFTER DELETE ON main."${table}" BEGIN SELECT chain_out(${removed}); END;
      CREATE TEMP TRIGGER "chain_${table}_new" AFTER UPDATE ON main."${table}" BEGIN SELECT chain_out(${removed}), chain_in(${added}); END;
    `);
  }
  const write = db.prepare(
    'UPDATE chain SET links = ?, total = ?, link = ?, before = ? WHERE one = 1 AND links = ? AND total = ? AND link = ?',
  );
  let head = readHead(db) ?? { links: 0, total: totalText(emptyTotal()), link: noLink };
  // Created once: each order waits for a commit.
  const inOne = db.transaction((work: () => unknown): readonly [unknown, Head] => {
    change.fill(0);
    const result = work();
    const now = next(head, totalText(addTotal(totalOf(head.total), change)));
    const { changes } = write.run(now.links, now.total, now.link, head.link, head.links, head.total, head.link);
    // There is one writer: going on would hide another one.
    if (changes !== 1) throw new Error(`${db.name} was changed by another program while it was open`);
    return [result, now];
  });
  return {
    /** Does work in one transaction and adds its link. If the work throws, the chain stays as it was. */
    commit<T>(work: () => T): T {
      const [result, after] = inOne(work) as readonly [T, Head];
      head = after;
      return result;
    },
    /** The head after the last commit of this connection. */
    get head(): Head {
      return head;
    },
  };
}

/** Runs work in one transaction, with a link if there is a chain. */
export const commitIn = <T>(db: Database, work: () => T): T => {
  const chain = chainOf(db);
  return chain === undefined ? db.transaction(work)() : chain.commit(work);
};
