/** Trades and depth of the catalogue for a run. */
import { type Notes, together } from '../data-warnings.ts';
import { booksOf, depthColumns, type Tape, tradeColumns } from '../tape.ts';
import { seriesHash } from './derived-series.ts';
import { ledgerOf } from './gap-ledger.ts';
import type { Kind, SeriesKey } from './kinds.ts';
import { refuseFine } from './klines.ts';
import { loadSeries, type Span } from './load.ts';
import { listSeries } from './manifest.ts';
import { readAgain } from './retry-read.ts';
import { seriesNotes } from './series-warnings.ts';

export interface StoredTape extends Tape, Notes {
  /** Of the stored months of trades and depth, hex. */
  readonly sha256: readonly string[];
}

interface TapeQuery extends Span {
  readonly symbol: string;
  readonly pricePrecision: number;
  readonly kinds: readonly Kind[];
}

/** Loads the stored series of these kinds. */
export const storedTape = (dir: string, query: TapeQuery): Promise<StoredTape> =>
  readAgain(dir, () => tapeNow(dir, query));

async function tapeNow(dir: string, query: TapeQuery): Promise<StoredTape> {
  const isAsked = (one: Pick<SeriesKey, 'kind' | 'symbol'>): boolean =>
    one.symbol === query.symbol && query.kinds.includes(one.kind);
  const stored = listSeries(dir, isAsked).filter(isAsked);
  for (const one of stored) refuseFine(one, query.pricePrecision);
  const trades = stored.find(({ kind }) => kind === 'trades');
  const depth = stored.find(({ kind }) => kind === 'depth');
  const tradeRows = trades && (await loadSeries(dir, trades, query)).columns;
  const depthRows = depth && (await loadSeries(dir, depth, query)).columns;
  return {
    ...(tradeRows && { trades: tradeColumns(tradeRows) }),
    ...(depthRows && { books: booksOf(depthColumns(depthRows)) }),
    gaps: trades === undefined ? [] : ledgerOf(trades),
    ...together(...stored.map((one) => seriesNotes(one, query))),
    sha256: stored.map(seriesHash),
  };
}
