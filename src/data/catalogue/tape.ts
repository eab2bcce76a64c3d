/** Trades and books of the catalogue as a run wants them. */
import { Refusal } from '../../domain/refusal.ts';
import { type Notes, together } from '../data-warnings.ts';
import { type BookColumns, booksOf, type Tape, type TradeColumns } from '../tape.ts';
import { seriesHash } from './derived-series.ts';
import { ledgerOf } from './gap-ledger.ts';
import type { Kind, SeriesKey } from './kinds.ts';
import { loadSeries, type Span } from './load.ts';
import { listSeries, type Manifest } from './manifest.ts';
import { readAgain } from './retry-read.ts';
import { stampsOf } from './series-warnings.ts';

export interface StoredTape extends Tape, Notes {
  /** Of the stored months of trades and books, hex. */
  readonly sha256: readonly string[];
}

interface Wanted extends Span {
  readonly symbol: string;
  readonly pricePrecision: number;
  readonly kinds: readonly Kind[];
}

/** Loads what is stored of these kinds; what is not stored is left out. */
export const storedTape = (dir: string, wanted: Wanted): Promise<StoredTape> =>
  readAgain(dir, () => tapeNow(dir, wanted));

async function tapeNow(dir: string, wanted: Wanted): Promise<StoredTape> {
  const { symbol, pricePrecision, kinds } = wanted;
  const isWanted = (one: Pick<SeriesKey, 'kind' | 'symbol'>): boolean =>
    one.symbol === symbol && kinds.includes(one.kind);
  const stored = listSeries(dir, isWanted).filter(isWanted);
  for (const { kind, priceDecimals } of stored)
    if (priceDecimals > pricePrecision)
      throw new Refusal(
        `${symbol} ${kind}: its prices have up to ${priceDecimals} decimals, the instrument ${pricePrecision}: set its pricePrecision to what the data have`,
      );
  const trades = stored.find(({ kind }) => kind === 'trades');
  const depth = stored.find(({ kind }) => kind === 'depth');
  const gaps = trades === undefined ? [] : ledgerOf(trades);
  return {
    ...(trades !== undefined && { trades: await tradesOf(dir, trades, wanted) }),
    ...(depth !== undefined && { books: await depthOf(dir, depth, wanted) }),
    gaps,
    ...together(...stored.map((one) => stampsOf(one, wanted))),
    sha256: stored.map(seriesHash),
  };
}

async function tradesOf(dir: string, manifest: Manifest, span: Span): Promise<TradeColumns> {
  const [time, price, quantity, side] = (await loadSeries(dir, manifest, span)).columns;
  if (!time || !price || !quantity || !side) throw new Error('trades have four columns');
  return { time, price, quantity, side };
}

async function depthOf(dir: string, manifest: Manifest, span: Span): Promise<BookColumns> {
  const [time, book, side, price, quantity] = (await loadSeries(dir, manifest, span)).columns;
  if (!time || !book || !side || !price || !quantity) throw new Error('depth has five columns');
  return booksOf({ time, book, side, price, quantity });
}
