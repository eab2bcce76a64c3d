/** How the rows of a file are laid out, and the layouts of known sources. */
import type { Interval } from '../../domain/interval.ts';
import type { Kind } from '../catalogue/kinds.ts';
import type { Repair } from '../check/finding.ts';
import type { CsvLayout } from './csv-reader.ts';
import type { DepthLayout } from './depth-reader.ts';
import type { ObjectLayout } from './line-reader.ts';

export interface Layout {
  readonly kind: Kind;
  /** In words, such as `klines, one JSON object a line`. */
  readonly about: string;
  readonly form:
    | ({ readonly is: 'csv' | 'arrays' } & CsvLayout)
    | ({ readonly is: 'objects' } & ObjectLayout)
    /** `symbol`: the column, or key, that names the symbol of each row. */
    | { readonly is: 'depth'; readonly layout: DepthLayout; readonly symbol?: string | undefined }
    | { readonly is: 'parquet' };
  readonly symbol?: string | undefined;
  readonly interval?: Interval | undefined;
  readonly source?: string | undefined;
  readonly newestFirst: boolean;
  /** Times are those at which klines close. */
  readonly endStamps: boolean;
  /** Times name no zone. */
  readonly isLocal?: boolean;
  /** Assumptions that the user should know. */
  readonly notes: readonly string[];
}

/** What the user states about a file. */
export interface LayoutOptions {
  readonly kind?: Kind;
  readonly symbol?: string;
  readonly interval?: Interval | undefined;
  readonly source?: string;
  /** Names of the columns in their order, `-` for one to leave out. */
  readonly columns?: readonly string[];
  /** Of times that name none: `UTC`, `Europe/Berlin`, `+02:00`. */
  readonly zone?: string;
  /** Times are those at which klines close. */
  readonly endStamps?: boolean;
  readonly repair?: ReadonlySet<Repair>;
}

const klines = (source: string | undefined, columns: string, more: LayoutOptions = {}): LayoutOptions => ({
  ...{ kind: 'klines', columns: columns.split(','), ...more },
  ...(source !== undefined && { source }),
});
const trades = (source: string | undefined, columns: string): LayoutOptions =>
  klines(source, columns, { kind: 'trades' });

/**
 * Files of known sources, for `--format`: most have no header, or a misleading one. Volumes and quantities are those in the base asset;
 * where a source counts contracts, a column beside them.
 */
export const formats: Readonly<Record<string, LayoutOptions>> = {
  'binance-klines': klines('binance', 'time,open,high,low,close,volume'),
  'binance-coin-klines': klines('binance', 'time,open,high,low,close,-,-,volume'),
  'binance-trades': trades('binance', '-,price,quantity,-,time,is_buyer_maker'),
  'binance-coin-trades': trades('binance', '-,price,-,quantity,time,is_buyer_maker'),
  'binance-aggtrades': trades('binance', '-,price,quantity,-,-,time,is_buyer_maker'),
  'bitfinex-klines': klines('bitfinex', 'time,open,close,high,low,volume'),
  // timestamp,symbol,open,high,low,close,trades,volume,vwap,lastSize,turnover,homeNotional,foreignNotional
  'bitmex-klines': klines('bitmex', 'time,-,open,high,low,close,-,-,-,-,-,volume', { endStamps: true }),
  // timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional
  'bitmex-trades': trades('bitmex', 'time,-,side,-,price,-,-,-,quantity'),
  'bybit-trades': trades('bybit', 'time,-,side,quantity,price'),
  'bybit-inverse-trades': trades('bybit', 'time,-,side,-,price,-,-,-,-,quantity'),
  'coinbase-klines': klines('coinbase', 'time,low,high,open,close,volume'),
  'freqtrade-klines': klines(undefined, 'time,open,high,low,close,volume'),
  'freqtrade-trades': trades(undefined, 'time,-,-,side,price,quantity'),
  'gateio-klines': klines('gateio', 'time,volume,close,high,low,open'),
  'kraken-klines': klines('kraken', 'time,open,high,low,close,volume'),
  'kraken-api-klines': klines('kraken', 'time,open,high,low,close,-,volume'),
  'okx-klines': klines('okx', 'time,open,high,low,close,volume'),
  'okx-swap-klines': klines('okx', 'time,open,high,low,close,-,volume'),
};
