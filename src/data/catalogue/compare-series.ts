/** Compares a series with others of its market in the catalogue: other sources, names and intervals. */
import { intervalMs } from '../../domain/interval.ts';
import { counted, type Finding } from '../check/finding.ts';
import { type PriceLine, type Slip, slipFinding, slipOf } from '../check/time-offset.ts';
import { isMade } from './derived-series.ts';
import { seriesName } from './kinds.ts';
import { loadSeries } from './load.ts';
import { listSeries, type Manifest } from './manifest.ts';

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
  const all = listSeries(dir, () => false);
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
        what: `${counted(count, 'row')} that ${seriesName(other)} has exactly as well`,
        effect: 'two markets never trade alike: one of the two has a wrong name',
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
