/** How a file is laid out: which rows it holds, where each value stands, what its name and its first rows say. */
import type { Interval } from '../../domain/interval.ts';
import type { Kind } from '../catalogue/kinds.ts';
import type { Repair } from '../check/finding.ts';
import type { CsvLayout } from './csv-rows.ts';
import type { ObjectLayout } from './json-rows.ts';

export interface Layout {
  readonly kind: Kind;
  /** In words, such as `Binance klines`. */
  readonly about: string;
  readonly form:
    | ({ readonly is: 'csv' | 'arrays' } & CsvLayout)
    | ({ readonly is: 'objects' } & ObjectLayout)
    | { readonly is: 'books' | 'levels' | 'bands' | 'snapshots' | 'differences' }
    | { readonly is: 'parquet' };
  readonly symbol?: string;
  /** The column of a text whose cells name the symbol of each row. */
  readonly symbols?: {
    readonly at: number;
    readonly separator: string;
    /** Columns of a row. */
    readonly width: number;
    readonly skipLines: number;
  };
  /** The same of JSON, one object a line. */
  readonly symbolKey?: string;
  readonly interval?: Interval;
  readonly source?: string;
  readonly newestFirst: boolean;
  /** The column of times holds the ends of klines. */
  readonly endStamps: boolean;
  /** Times are moments that name no zone: what the clocks of some place, or of UTC, showed. */
  readonly isLocal?: boolean;
  /** What was assumed and the user should know. */
  readonly notes: readonly string[];
}

/** What the user said, which counts before any guess. */
export interface Told {
  readonly kind?: Kind;
  readonly symbol?: string;
  readonly interval?: Interval;
  readonly source?: string;
  /** Names of the columns in their order, `-` for one to leave out. */
  readonly columns?: readonly string[];
  /** Of moments that name none: `UTC`, `Europe/Berlin`, `+02:00`. */
  readonly zone?: string;
  /** Times of klines are those of their ends. */
  readonly endStamps?: boolean;
  readonly repair?: ReadonlySet<Repair>;
}
