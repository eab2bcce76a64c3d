/** Files of a journal's archive, and the rows that leave the journal for them. */

/** Tables whose old rows move to the archive. */
export const archivedTables = [
  'events',
  'venue_orders',
  'venue_trades',
  'signals',
  'denials',
  'notices',
  'equity',
] as const;
export type ArchivedTable = (typeof archivedTables)[number];

/** A file of the archive, as its journal row says it. */
export interface Archive {
  /** Its name in the archive's folder. */
  readonly file: string;
  readonly table: ArchivedTable;
  readonly rows: number;
  /** Of the file. */
  readonly sha256: string;
  /** The sum of the rows' hashes, as the chain counts them. */
  readonly total: string;
  /** UTC ms: its rows are older. */
  readonly until: number;
  /** The head of the chain from which the rows were taken. */
  readonly links: number;
  readonly link: string;
  /** HMAC-SHA-256 of all of this under the key of the checkpoints. */
  readonly signature: string;
}

/** The values of the key of a row. */
export type RowKey = readonly (string | number)[];
