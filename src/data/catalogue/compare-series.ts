/** Compares a series with others of its market in the catalogue: other sources, names and intervals; and new rows with stored ones beside them. */

import { intervalMs } from '../../domain/interval.ts';
import { lowerBound } from '../../domain/market.ts';
import { counted } from '../../domain/words.ts';
import { type Finding, lengthText } from '../check/finding.ts';
import { scaleEffect } from '../check/outliers.ts';
import { sameMarketMs, scaleTimes } from '../price-jumps.ts';
import { isMade } from './derived-series.ts';
import { type Kind, seriesName } from './kinds.ts';
import { loadSeries } from './load.ts';
import { type Manifest, readableSeries } from './manifest.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** Stretches of both that are compared, at the beginning, in the middle and at the end: zones change with the season. */
const stretchMs = 14 * dayMs;
/** Klines longer than this are too few in a stretch. */
const longestStepMs = 60 * minuteMs;
/** Loaded around a stretch, so that it can be shifted by any zone. */
const marginMs = dayMs;

/** The findings of comparing; none without other series. */
export async function compareSeries(dir: string, manifest: Manifest): Promise<readonly Finding[]> {
  // A made series has the times and rows of its source.
  if (manifest.months.length === 0 || isMade(manifest)) return [];
  const all = readableSeries(dir);
  const twins = sameRows(manifest, all);
  if (stepOf(manifest) > longestStepMs) return twins;
  const market = marketOf(manifest.symbol);
  const own = seriesName(manifest);
  const others = all.filter(
    (one) => marketOf(one.symbol) === market && seriesName(one) !== own && stepOf(one) <= longestStepMs && !isMade(one),
  );
  const findings: Finding[] = [...twins];
  for (const other of others) findings.push(...(await slipsBetween(dir, manifest, other)));
  return findings;
}

/** Months that another market has byte by byte: one file, imported under two names of which one is wrong. */
function sameRows(manifest: Manifest, all: readonly Manifest[]): readonly Finding[] {
  const own = new Map(manifest.months.map(({ sha256, rows }) => [sha256, rows]));
  return all.flatMap((other): readonly Finding[] => {
    if (marketOf(other.symbol) === marketOf(manifest.symbol)) return [];
    const same = other.months.filter(({ sha256 }) => own.has(sha256));
    const [first] = same;
    if (first === undefined) return [];
    const count = same.reduce((sum, { rows }) => sum + rows, 0);
    return [
      {
        check: 'same-rows',
        count,
        refused: false,
        what: `${counted(count, 'row')} that also occur in ${seriesName(other)}`,
        effect: 'two markets never have identical rows: one of the two has a wrong name',
        advice: 'remove that one (sluice data remove)',
        places: [{ time: first.from }],
      },
    ];
  });
}

/** Depth is not compared: it has no closes. Trades become minutes. */
const stepOf = ({ kind, interval }: Manifest): number =>
  kind === 'depth' ? Number.POSITIVE_INFINITY : interval === undefined ? minuteMs : intervalMs(interval, 0);

/** One name for each market: coins worth a dollar move like it. */
const marketOf = (symbol: string): string =>
  symbol.replace(/^XBT/, 'BTC').replace(/(USDT|USDC|BUSD|TUSD|FDUSD|DAI|PERP)$/, 'USD');

async function slipsBetween(dir: string, one: Manifest, other: Manifest): Promise<readonly Finding[]> {
  const from = Math.max(one.months[0]?.from ?? 0, other.months[0]?.from ?? 0);
  const until = Math.min(one.months.at(-1)?.to ?? 0, other.months.at(-1)?.to ?? 0);
  const last = Math.max(from, until - stretchMs);
  const starts = new Set([from, Math.floor((from + last) / 2), last]);
  const found: (Slip & { readonly at: number })[] = [];
  for (const at of until > from ? starts : []) {
    const span = { from: at, until: Math.min(until, at + stretchMs) };
    const slip = slipOf(await lineOf(dir, one, span), await lineOf(dir, other, span));
    if (slip !== undefined) found.push({ ...slip, at });
  }
  return slipFinding(`${seriesName(other)} (${other.source})`, found);
}

/** Closes, each at the time at which its kline closed; of trades the last of each minute. */
async function lineOf(
  dir: string,
  manifest: Manifest,
  span: { readonly from: number; readonly until: number },
): Promise<PriceLine> {
  const stepMs = stepOf(manifest);
  const from = Math.floor((span.from - marginMs) / stepMs) * stepMs;
  const until = span.until + marginMs;
  const prices = new Float64Array(Math.ceil((until - from) / stepMs) + 1).fill(Number.NaN);
  const { columns, rows } = await loadSeries(dir, manifest, { from, to: until });
  const times = columns[0] as Float64Array;
  const closes = columns[manifest.kind === 'klines' ? 4 : 1] as Float64Array;
  for (let row = 0; row < rows; row++) {
    const at = Math.floor(((times[row] as number) - from) / stepMs) + 1;
    if (at >= 0 && at < prices.length) prices[at] = Math.log(closes[row] as number);
  }
  return { from, stepMs, prices };
}

/** Prices at times that are whole steps apart; NaN where they are not known. */
export interface PriceLine {
  /** UTC ms of the first. */
  readonly from: number;
  readonly stepMs: number;
  /** Natural logarithms. */
  readonly prices: Float64Array;
}

/** The least correlation of two series of one market; less proves nothing about their times. */
const minLikeness = 0.3;
/** So much less is the correlation without a shift. */
const minDifference = 0.2;
/** The least number of moves; fewer can be alike by chance. */
const minMoves = 200;
const zoneStepMs = 15 * 60_000;
const farthestZoneMs = 14 * 60 * 60_000;
/** Shifts by single klines that are tried: stamps of ends are one late. */
const nearSteps = 5;

export interface Slip {
  /** How much later (above 0) or earlier the first shows the moves of the second, ms. */
  readonly lateMs: number;
  readonly likeness: number;
  readonly asStamped: number;
}

/**
 * The time shift at which the price moves of both agree: a time zone, or closing times read as opening times. Undefined if they agree
 * unshifted.
 */
export function slipOf(one: PriceLine, other: PriceLine): Slip | undefined {
  const [fine, coarse, sign] = one.stepMs <= other.stepMs ? [one, other, 1] : [other, one, -1];
  if (coarse.stepMs % fine.stepMs !== 0) return undefined;
  const asStamped = likeness(fine, coarse, 0);
  let best = { shiftMs: 0, likeness: asStamped };
  for (const shiftMs of shifts(fine.stepMs, coarse.stepMs)) {
    const found = likeness(fine, coarse, shiftMs);
    if (found > best.likeness) best = { shiftMs, likeness: found };
  }
  const isSure = best.likeness >= minLikeness && best.likeness - asStamped >= minDifference;
  return isSure && best.shiftMs !== 0 ? { lateMs: sign * best.shiftMs, likeness: best.likeness, asStamped } : undefined;
}

function shifts(fineMs: number, coarseMs: number): readonly number[] {
  const all = new Set<number>();
  for (let step = -nearSteps; step <= nearSteps; step++) all.add(step * fineMs).add(Math.sign(step) * coarseMs);
  for (let ms = zoneStepMs; ms <= farthestZoneMs; ms += zoneStepMs) if (ms % fineMs === 0) all.add(ms).add(-ms);
  return [...all];
}

/** Correlation of the moves of `coarse` with those of `fine` that much later; 0 where there are too few. */
function likeness(fine: PriceLine, coarse: PriceLine, shiftMs: number): number {
  const each = coarse.stepMs / fine.stepMs;
  const first = Math.round((coarse.from + shiftMs - fine.from) / fine.stepMs);
  let [count, x, y, xx, yy, xy] = [0, 0, 0, 0, 0, 0];
  for (let row = 1; row < coarse.prices.length; row++) {
    const at = first + row * each;
    const a = (coarse.prices[row] as number) - (coarse.prices[row - 1] as number);
    const b = (fine.prices[at] ?? Number.NaN) - (fine.prices[at - each] ?? Number.NaN);
    // Moments without a move in either say nothing.
    if (!(a !== 0 || b !== 0) || Number.isNaN(a + b)) continue;
    count++;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  const spread = (xx - (x * x) / count) * (yy - (y * y) / count);
  return count < minMoves || !(spread > 0) ? 0 : (xy - (x * y) / count) / Math.sqrt(spread);
}

/** The finding of shifts in stretches of a series; `at`: where each stretch begins, UTC ms. */
export function slipFinding(other: string, found: readonly (Slip & { readonly at: number })[]): readonly Finding[] {
  const [first] = found;
  if (first === undefined) return [];
  const { lateMs, likeness: alike, asStamped } = first;
  const moved = `${lengthText(Math.abs(lateMs))} ${lateMs > 0 ? 'later' : 'earlier'}`;
  const where = found.length === 1 ? '' : `, in ${counted(found.length, 'stretch', 'stretches')}`;
  return [
    {
      check: 'slip',
      count: found.length,
      refused: false,
      what: `shows each move ${moved} than ${other} (alike ${alike.toFixed(2)} so, ${asStamped.toFixed(2)} as stamped${where})`,
      effect: 'one of them has closing times, or another time zone: a run on the earlier one may use prices too early',
      advice: 'find the correct one; remove the other and import it again with --stamps close or --zone',
      places: found.slice(0, 3).map(({ at }) => ({ time: at })),
    },
  ];
}

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
      refused: breaks.some((one) => one.apartMs <= sameMarketMs),
      what: `its prices are more than ${scaleTimes} times, or less than a third of, the neighbouring stored prices`,
      effect: scaleEffect,
      advice:
        'give the correct --symbol; after a change of unit, use another name; if the market really moved so far, use --accept-jumps',
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
