/** Merges the journals of several runs. Their ids are unique over all runs. */
import type { Database } from 'better-sqlite3';

/** What a run writes; which columns hold ids of orders and trades, and which count rows by themselves. */
const tables: readonly { readonly name: string; readonly ids: readonly string[]; readonly counts: boolean }[] = [
  { name: 'signals', ids: [], counts: false },
  { name: 'denials', ids: [], counts: true },
  { name: 'orders', ids: ['client_order_id', 'order_id'], counts: false },
  { name: 'fills', ids: ['client_order_id', 'order_id', 'trade_id'], counts: true },
  { name: 'kills', ids: [], counts: true },
  { name: 'adjustments', ids: [], counts: true },
];

/** Moves every row into the first journal, which is given back; the others are closed. */
export function mergedJournal(parts: readonly { readonly name: string; readonly db: Database }[]): Database {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error('there is no journal');
  for (const { name, ids } of tables)
    for (const id of ids) first.db.prepare(`UPDATE ${name} SET ${id} = ? || ${id}`).run(`${first.name}-`);
  for (const other of others) {
    for (const table of tables) copy(other, first.db, table);
    other.db.close();
  }
  return first.db;
}

function copy(
  { name: prefix, db }: { readonly name: string; readonly db: Database },
  into: Database,
  { name, ids, counts }: (typeof tables)[number],
): void {
  for (const row of db.prepare(`SELECT * FROM ${name}`).all() as Readonly<Record<string, unknown>>[]) {
    const columns = Object.keys(row).filter((column) => !(counts && column === 'seq'));
    const values = columns.map((column) =>
      ids.includes(column) && typeof row[column] === 'string' ? `${prefix}-${row[column]}` : row[column],
    );
    into
      .prepare(`INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(values);
  }
}
