/** Finer klines (`detail`), which decide whether a stop or a target came first within one kline. */
import { catalogueOf } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { readableSeries } from '../../data/catalogue/manifest.ts';
import { type StoredKlines, storedKlines } from '../../data/catalogue/run-data.ts';
import { momentText } from '../../data/check/finding.ts';
import { type Notes, rowsWithin, together, warned } from '../../data/data-warnings.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { allIntervals, type Interval, isWithin } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type RunInput, type RunSeries, spanOf } from '../run.ts';

/** Detail of another source than the klines of the run says nothing about their order of prices. */
function otherSource(
  { symbol, interval, source }: Pick<RunSeries, 'symbol' | 'interval' | 'source'>,
  detail: Interval,
  finer: string | undefined,
): Notes {
  if (source === undefined || finer === undefined || source === finer) return warned();
  const note = `${symbol}: klines of ${interval} come from ${source}, but those of ${detail} (detail), which decide the order of events within them, come from ${finer}: use one source for both, or leave detail out`;
  return { warnings: [note], doubts: [note] };
}

function noneWithin(
  whose: Omit<RunSeries, 'gaps' | 'finer'>,
  detail: Interval,
  { columns: { openTime }, stored }: StoredKlines,
): Notes {
  const { symbol, interval } = whose;
  const { start, end } = spanOf([whose]);
  const [row, past] = rowsWithin(openTime, { from: start, to: end });
  if (row < past) return warned();
  const holds = stored === undefined ? '' : ` (stored are ${momentText(stored.from)} to ${momentText(stored.to)})`;
  const note = `${symbol}: no klines of ${detail} lie within the run${holds}, so the order of events within ${interval} klines is unknown: import them, or leave detail out`;
  return warned(note);
}

/** Loads the detail that the configuration asks for. */
export async function finerOf(
  dir: string,
  { catalogue, detail, from, to }: BacktestConfig,
  { pricePrecision }: Instrument,
  whose: Omit<RunSeries, 'gaps' | 'finer'>,
): Promise<StoredKlines | undefined> {
  if (detail === undefined) return undefined;
  const { symbol, interval } = whose;
  if (detail === interval || !isWithin(detail, interval))
    throw new Refusal(`detail: ${detail}: ${interval} klines cannot be split into these: choose a smaller interval`);
  const query = { symbol, interval: detail, pricePrecision, from, to, part: { from, to } };
  const found = await storedKlines(catalogueOf(dir, { catalogue }), query);
  return { ...found, ...together(found, otherSource(whose, detail, found.source), noneWithin(whose, detail, found)) };
}

/**
 * Names the finest detail in the catalogue that a run does not use. It is not used unasked: the result would depend on what happens to
 * be stored.
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
  const stored = readableSeries(catalogueOf(dir, { catalogue }));
  return own.flatMap(({ symbol, interval, source, columns, first, end }): readonly string[] => {
    const [from, to] = [columns.openTime[first] as number, columns.openTime[end - 1] as number];
    const finest = allIntervals.find(
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
          `${symbol}: ${finest} klines are stored and show the order of events within ${interval} klines: use them with detail: ${finest} (--set detail=${finest}), or let orders fill by them (--set dataIntervals.${symbol}=${finest})`,
        ];
  });
}
