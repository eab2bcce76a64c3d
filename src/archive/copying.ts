/** What the thread that reads the archive is given. Apart, because that thread needs nothing else of `attach.ts`. */

/** The thread's parameters. `done` is set and notified at the end; `result` then has an error as text, or nothing. */
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
  readonly done: SharedArrayBuffer;
  readonly result: SharedArrayBuffer;
}

/** The column that says of which file a row is. */
export const fileColumn = 'archive_file';
