/** What the process that reads the archive is given. Apart, because it needs nothing else of `attach.ts`. */

/** Its standard input, as JSON. It exits with 1 after an error, which is its output. */
export interface Copying {
  readonly files: readonly {
    readonly path: string;
    readonly file: string;
    readonly table: string;
    /** The columns of the table's key. */
    readonly keys: readonly string[];
  }[];
  /** The database to make. */
  readonly to: string;
}

/** The column that says of which file a row is. */
export const fileColumn = 'archive_file';
