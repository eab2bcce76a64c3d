/** Finer klines, which decide what came first where a stop and a target lie within one kline (fill-engine §2.2). */
import type { BacktestConfig } from '../../config/schema.ts';
import { type StoredKlines, storedKlines } from '../../data/catalogue/klines.ts';
import { listSeries } from '../../data/catalogue/manifest.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { type Interval, intervals, isWithin } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunInput } from './run.ts';
import { catalogueOf, stretchOf } from './tapes.ts';

/** Those that the configuration asks for. */
export async function finerOf(
  dir: string,
  { catalogue, detail, from, to }: BacktestConfig,
  { symbol, pricePrecision }: Instrument,
  interval: Interval,
): Promise<StoredKlines | undefined> {
  if (detail === undefined) return undefined;
  if (detail === interval || !isWithin(detail, interval))
    throw new Refusal(`detail: ${detail}: klines of ${interval} do not consist of such: name a smaller interval`);
  const span = stretchOf({ from, to });
  const wanted = { symbol, interval: detail, pricePrecision, ...span, told: span };
  return storedKlines(catalogueOf(dir, { catalogue }), wanted);
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
  return own.flatMap(({ symbol, interval, columns, first, end }): readonly string[] => {
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
            one.months.some((month) => month.from <= to && month.to >= from),
        ),
    );
    return finest === undefined
      ? []
      : [
          `${symbol}: klines of ${finest} are stored and say what came first within those of ${interval}: look at them by detail: ${finest} (--set detail=${finest})`,
        ];
  });
}
