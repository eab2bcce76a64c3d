/** How entries are stored: for each kind of entry its table and the fields that are its columns. */
import type { Database } from 'better-sqlite3';
import type { DenialEntry, Entry, KillEntry, OrderEntryRow } from './entries.ts';

interface Field {
  readonly name: string;
  readonly column: string;
  readonly format: string | undefined;
}

export interface Table {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** `fields`: their names, separated by blanks. `:json` is stored as JSON text, `:flag` as 0 or 1. A column is the name in snake case. */
const table = (name: string, fields: string): Table => ({
  name,
  fields: fields.split(' ').map((field) => {
    const [own = '', format] = field.split(':');
    return { name: own, column: own.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), format };
  }),
});

const trade = 'symbol tradeId orderIds:json side price quantity fee feeAsset maker:flag time';
const market = 'symbol side type quantity amount price expected purpose reason';
const progress = 'state filled executed venueStatus signedAt recvWindowMs bodyHash tradeFloor cancelRequested:flag';

export const tables = {
  signal: table('signals', 'at decision strategy role symbol signal:json quantity memory'),
  denied: table('denials', 'at strategy symbol code facts:json draft reason times lastAt'),
  order: table(
    'orders',
    `clientOrderId orderId decision strategy role account ${market} createdAt expiresAt ${progress} quarantineReason batch closedAt`,
  ),
  event: table('events', 'at clientOrderId event detail:json'),
  fill: table(
    'fills',
    'tradeId orderId clientOrderId strategy account symbol side price quantity fee feeAsset maker:flag time purpose evidence',
  ),
  cursor: table('cursors', 'symbol tradeIds:json'),
  foreign: table('foreign_orders', 'symbol orderId at why'),
  venueTrade: table('venue_trades', `${trade} seenAt`),
  quarantinedTrade: table('quarantined_trades', `${trade} at why raw canBeAccepted:flag decision decidedAt by reason`),
  venueOrder: table('venue_orders', 'symbol orderId clientOrderId side type status executed seenAt'),
  adjustment: table('adjustments', 'at what asset amount by reason'),
  protection: table('protections', 'strategy symbol protection:json'),
  kill: table('kills', 'kind everything:flag at strategy by reason'),
  limit: table('limits', 'at what name value by reason'),
  memory: table('memories', 'name value'),
  day: table('days', 'day equity'),
  equity: table('equity', 'at equity'),
  audit: table('audits', 'day at outcome differences:json held:json'),
  instrument: table('instruments', 'symbol base quote pricePrecision quantityPrecision'),
  notice: table('notices', 'at level text'),
} as const satisfies Partial<Record<Entry['kind'], Table>>;
export type Stored = keyof typeof tables;

/** A denial with how often it was repeated, and when last. */
export interface Denied extends DenialEntry {
  readonly times: number;
  readonly lastAt: number;
}

type EntryOf<Kind extends Stored> = Kind extends 'kill'
  ? KillEntry
  : Kind extends 'denied'
    ? Denied
    : Extract<Entry, { readonly kind: Kind }>;
type Value = string | number | null;

/** An entry's values in the order of its table's fields. */
export const valuesOf = (entry: object, { fields }: Table): Value[] =>
  fields.map(({ name, format }) => {
    const value = (entry as Readonly<Record<string, Value>>)[name] as Value;
    if (format === 'json') return JSON.stringify(value);
    return format === 'flag' ? Number(value) : value;
  });

/** Commands read a journal of schema 1 as it is: kills have no such column there, and each stopped exits, too. */
function killsIn(db: Database): string {
  const column = db.prepare("SELECT 1 FROM pragma_table_info('kills') WHERE name = 'everything'").get();
  return column === undefined ? '(SELECT *, 1 AS everything FROM kills)' : 'kills';
}

/** Rows as entries. `rest` is the SQL after the table's name, such as its conditions and order. */
export function readRows<Kind extends Stored>(
  db: Database,
  kind: Kind,
  rest: string,
  ...values: readonly Value[]
): EntryOf<Kind>[] {
  const { name, fields }: Table = tables[kind];
  const columns = fields.map((field) => `${field.column} AS ${field.name}`).join(', ');
  const from = kind === 'kill' ? killsIn(db) : name;
  const rows: unknown[] = db.prepare(`SELECT ${columns} FROM ${from} ${rest}`).all(...values);
  const formatted = fields.filter(({ format }) => format !== undefined);
  for (const row of rows as Record<string, unknown>[]) {
    row['kind'] ??= kind;
    for (const { name: field, format } of formatted)
      row[field] = format === 'json' ? (JSON.parse(row[field] as string) as unknown) : row[field] === 1;
  }
  return rows as EntryOf<Kind>[];
}

/** Orders by a condition of the table. */
export const readOrders = (db: Database, where: string, ...values: readonly Value[]): OrderEntryRow[] =>
  readRows(db, 'order', `WHERE ${where}`, ...values);

/** Which column of a table says when a row was written; the others hold what counts now. */
export const timeOf = (columns: readonly string[]): string | undefined =>
  ['at', 'time', 'created_at', 'seen_at', 'day'].find((name) => columns.includes(name));
