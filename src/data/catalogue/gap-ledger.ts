/** The gaps of a series, which strategies receive and reports print. */

import type { FeedGap } from '../../domain/market.ts';
import { counted } from '../../domain/words.ts';
import { lengthText } from '../check/finding.ts';
import { type Gap, minGap, recordedGap, silencesIn } from '../check/gaps.ts';
import { Tally } from '../check/tally.ts';
import { type Frame, frameClose } from '../resample.ts';
import { seriesName } from './kinds.ts';
import type { Imported, Manifest } from './manifest.ts';
import type { Table } from './parquet.ts';

/** The frame of the klines of a series; undefined of others. */
export const frameOf = ({ interval, zone }: Pick<Manifest, 'interval' | 'zone'>): Frame | undefined =>
  interval === undefined ? undefined : { interval, ...(zone !== undefined && { zone }) };

/** The gaps inside one month. */
export function gapsOf({ kind, columns, rows }: Table, frame: Frame | undefined): readonly Gap[] {
  const times = columns[0] as Float64Array;
  const gaps: Gap[] = [];
  if (frame !== undefined) {
    for (let row = 1; row < rows; row++) {
      const from = frameClose(frame, times[row - 1] as number);
      if (from < (times[row] as number)) gaps.push([from, times[row] as number]);
    }
    return gaps;
  }
  const count = kind === 'depth' ? ((columns[1] as Float64Array)[rows - 1] as number) + 1 : rows;
  return silencesIn(kind === 'depth' ? 'depth' : 'trades', times.subarray(0, rows), count);
}

/** All gaps of a series in order, also those between its months. */
export function ledgerOf(series: Manifest): readonly FeedGap[] {
  const { kind, symbol, months, holes = [] } = series;
  const frame = frameOf(series);
  const all: Gap[] = [];
  for (const [index, month] of months.entries()) {
    const before = months[index - 1];
    if (before !== undefined) {
      const from = frame === undefined ? before.to : frameClose(frame, before.to);
      const spans = (before.to - before.from) / Math.max(1, before.rows);
      const min = frame !== undefined ? 1 : minGap(kind === 'depth' ? 'depth' : 'trades', spans, 1);
      if (month.from - from >= min) all.push([from, month.from]);
    }
    all.push(...month.gaps);
  }
  return joined([...all, ...holes]).map((gap) => recordedGap(symbol, kind, gap));
}

/** In order, overlapping ones merged. */
function joined(gaps: readonly Gap[]): readonly Gap[] {
  const out: Gap[] = [];
  for (const [from, to] of gaps.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last !== undefined && from < last[1]) out[out.length - 1] = [last[0], Math.max(last[1], to)];
    else out.push([from, to]);
  }
  return out;
}

/** The klines, of those that open at `opens` (UTC ms), that a gap of their source cuts into. */
export function partialFindings(from: Manifest, opens: Float64Array, frame: Frame): Imported['findings'] {
  const cut = new Tally();
  // An order for the open of a kline that begins inside a gap gets the first price after it.
  let [begun, latestMs, row] = [0, 0, 0];
  for (const gap of ledgerOf(from)) {
    while (row < opens.length && frameClose(frame, opens[row] as number) <= gap.from) row++;
    for (; row < opens.length && (opens[row] as number) < gap.to; row++) {
      const open = opens[row] as number;
      cut.add(0, open);
      if (open < gap.from) continue;
      begun++;
      latestMs = Math.max(latestMs, gap.to - open);
    }
  }
  const { count } = cut;
  const one = count === 1;
  const what = `${counted(count, `kline of ${frame.interval} is`, `klines of ${frame.interval} are`)} made from too few rows`;
  const which = begun < count ? `${begun} of them begin${begun === 1 ? 's' : ''}` : one ? 'it begins' : 'they begin';
  const late = `; ${which} inside one, and orders at the open get the first price after it, up to ${lengthText(latestMs)} later`;
  const effect = `${seriesName(from)} has gaps there: volumes are too small, highs and lows may be missing${begun === 0 ? '' : late}`;
  return cut.warning('partial', what, effect);
}
