/** Finer klines, which decide what came first where a stop and a target lie within one kline. */
import { catalogueOf } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { type StoredKlines, storedKlines } from '../../data/catalogue/klines.ts';
import { listSeries } from '../../data/catalogue/manifest.ts';
import { momentText } from '../../data/check/finding.ts';
import { type Notes, rowsWithin, together } from '../../data/data-warnings.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { type Interval, intervals, isWithin } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type RunInput, type RunSeries, spanOf } from '../run.ts';
import { stretchOf } from './tapes.ts';

/** Of another source than those that they look into: its prices say nothing of what came first there. */
function otherSource(
  { symbol, interval, source }: Pick<RunSeries, 'symbol' | 'interval' | 'source'>,
  detail: Interval,
  finer: string | undefined,
): Notes {
  if (source === undefined || finer === undefined || source === finer) return { warnings: [], doubts: [] };
  const note = `${symbol}: klines of ${interval} are of ${source}, and those of ${detail}, which decide what came first within them (detail), of ${finer}: take both from one source, or leave detail out`;
  return { warnings: [note], doubts: [note] };
}

/** Told where none of them lies within the run: it is as if they had not been asked for. */
function noneWithin(
  whose: Omit<RunSeries, 'gaps' | 'finer'>,
  detail: Interval,
  { columns: { openTime }, held }: StoredKlines,
): Notes {
  const { symbol, interval } = whose;
  const { start, end } = spanOf([whose]);
  const [row, past] = rowsWithin(openTime, { from: start, to: end });
  if (row < past) return { warnings: [], doubts: [] };
  const holds = held === undefined ? '' : ` (stored are ${momentText(held.from)} to ${momentText(held.to)})`;
  const note = `${symbol}: no klines of ${detail} lie within the run${holds}: nothing says what came first within those of ${interval}; import them, or leave detail out`;
  return { warnings: [note], doubts: [] };
}

/** Those that the configuration asks for, within klines of the run. */
export async function finerOf(
  dir: string,
  { catalogue, detail, from, to }: BacktestConfig,
  { pricePrecision }: Instrument,
  whose: Omit<RunSeries, 'gaps' | 'finer'>,
): Promise<StoredKlines | undefined> {
  if (detail === undefined) return undefined;
  const { symbol, interval } = whose;
  if (detail === interval || !isWithin(detail, interval))
    throw new Refusal(`detail: ${detail}: klines of ${interval} do not consist of such: name a smaller interval`);
  const span = stretchOf({ from, to });
  const wanted = { symbol, interval: detail, pricePrecision, ...span, told: span };
  const found = await storedKlines(catalogueOf(dir, { catalogue }), wanted);
  return { ...found, ...together(found, otherSource(whose, detail, found.source), noneWithin(whose, detail, found)) };
}

/**
 * What a run could have looked at and was not told to: finer klines beside its own in the catalogue. They are not taken unasked,
 * since a result would then hang on what happens to lie in a folder.
 */
export function detailHints(
  dir: string,
  { catalogue, detail, data }: Pick<BacktestConfig, 'catalogue' | 'detail' | 'data'>,
  { series, tapes }: Pick<RunInput, 'series' | 'tapes'>,
): readonly string[] {
  if (detail !== undefined) return [];
  // A file's klines may be of another market than those that are stored under its symbol.
  const own = series.filter(({ symbol }) => (data[symbol] ?? 'catalogue') === 'catalogue' && !tapes?.has(symbol));
  if (own.length === 0) return [];
  const stored = listSeries(catalogueOf(dir, { catalogue }), () => false);
  return own.flatMap(({ symbol, interval, source, columns, first, end }): readonly string[] => {
    const [from, to] = [columns.openTime[first] as number, columns.openTime[end - 1] as number];
    const finest = intervals.find(
      (fine) =>
        fine !== interval &&
        isWithin(fine, interval) &&
        stored.some(
          (one) =>
            one.kind === 'klines' &&
            one.symbol === symbol &&
            one.interval === fine &&
            (source === undefined || one.source === 'unknown' || one.source === source) &&
            one.months.some((month) => month.from <= to && month.to >= from),
        ),
    );
    return finest === undefined
      ? []
      : [
          `${symbol}: klines of ${finest} are stored and say what came first within those of ${interval}: look at them by detail: ${finest} (--set detail=${finest}), or let orders fill by them (--set dataIntervals.${symbol}=${finest})`,
        ];
  });
}
