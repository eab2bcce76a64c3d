/** Compares prices where new rows meet stored ones: a jump shows another symbol, or another unit. */

import { type Finding, lengthText } from '../check/finding.ts';
import { scaleEffect } from '../check/outliers.ts';
import { scaleTimes, surelyOneMarketMs } from '../price-jumps.ts';
import type { Kind } from './kinds.ts';
import { loadSeries } from './load.ts';
import type { Manifest } from './manifest.ts';
import { lowerBound } from './rows.ts';

/** A close, a price, the first level of a book. */
const priceColumn: Readonly<Record<Kind, number>> = { klines: 4, trades: 1, depth: 3 };

/** The allowed factor grows by itself with each such distance. */
const monthMs = 30 * 86_400_000;

/** Compares both ends of what came (`from` to `to`, UTC ms, in `now`) with the stored rows next to it. */
export async function continuityFindings(
  dir: string,
  before: Manifest | undefined,
  now: Manifest,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Finding[]> {
  if (before === undefined) return [];
  const ends = [
    [await rowAt(dir, before, from, 'before'), await rowAt(dir, now, from, 'from')],
    [await rowAt(dir, before, to + 1, 'from'), await rowAt(dir, now, to + 1, 'before')],
  ] as const;
  const breaks = ends.flatMap(([stored, fresh]) => {
    if (stored === undefined || fresh === undefined) return [];
    const times = Math.max(stored.price / fresh.price, fresh.price / stored.price);
    const apartMs = Math.abs(stored.time - fresh.time);
    return times > scaleTimes * (1 + apartMs / monthMs) ? [{ stored, fresh, apartMs }] : [];
  });
  const [first] = breaks;
  if (first === undefined) return [];
  const { stored, fresh, apartMs } = first;
  const what = `${fresh.price}, and ${stored.price} is stored ${lengthText(apartMs)} away`;
  return [
    {
      check: 'scale',
      count: breaks.length,
      refused: breaks.some((one) => one.apartMs <= surelyOneMarketMs),
      what: `its prices are more than ${scaleTimes} times, or less than a third of, the stored ones beside them`,
      effect: scaleEffect,
      advice:
        'give it the --symbol that it is of; one that changed its unit begins a series of another name; if the market did it, say so (--accept-jumps)',
      places: [{ time: fresh.time, what }],
    },
  ];
}

/** The first row at a time or later, or the last one before it. */
async function rowAt(dir: string, series: Manifest, time: number, which: 'before' | 'from') {
  const month =
    which === 'before' ? series.months.findLast((one) => one.from < time) : series.months.find((one) => one.to >= time);
  if (month === undefined) return undefined;
  const { columns, rows } = await loadSeries(dir, series, { from: month.from, to: month.from + 1 });
  const times = columns[0] as Float64Array;
  const row = lowerBound(times, rows, time) - (which === 'before' ? 1 : 0);
  const price = columns[priceColumn[series.kind]]?.[row];
  return price === undefined ? undefined : { time: times[row] as number, price };
}
