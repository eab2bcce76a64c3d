/** How many klines of warm-up a strategy needs until its decisions do not depend on where its history begins. */

import { isStreaming } from '../../strategy/contract.ts';
import { ownWarmup } from '../../strategy/larger-klines.ts';
import { namedIndicators } from '../../strategy/named-indicators.ts';
import { warmupOf } from '../../strategy/warmup.ts';
import type { RunInput } from '../run.ts';
import { cut } from './columns.ts';
import { decisionLog, onlyOf } from './decision-log.ts';

export interface Warmup {
  readonly declared: number;
  /** Klines after which its decisions agree from every tested start; undefined where it is more than `tried`. */
  readonly decisions: number | undefined;
  /** Per indicator, until values agree to nine digits. */
  readonly indicators: Readonly<Record<string, { readonly declared: number; readonly agrees: number | undefined }>>;
  /** The longest tested history. */
  readonly tried: number;
}

/** Decisions compared from each start. */
const span = 150;
const starts = 6;
const mostTried = 1_500;
const digits = 1e-9;
/**
 * Histories that are longer by these klines must agree, too: one length may agree by chance, as with a rule for every eleventh kline.
 */
const longer = [0, 1, 3, 8];
const longest = Math.max(...longer);

/** The shortest longest history for a declared warm-up: one that is hardly longer proves nothing. */
const longEnough = (declared: number): number => Math.max(Math.ceil(declared * 1.5), declared + longest + 1);
/** Klines that the test of a declared warm-up needs. */
export const klinesToTest = (declared: number): number => 2 * longEnough(declared) + span;

/** Undefined where the data are too short. `input` has one strategy. */
export async function warmupNeeded(input: RunInput): Promise<Warmup | undefined> {
  const { hosted, series } = onlyOf(input);
  const { columns } = series;
  const rows = columns.openTime.length;
  const declared = Math.max(1, warmupOf(hosted.strategy, hosted.params, hosted.interval));
  const tried = Math.min(Math.max(mostTried, longEnough(declared)), Math.floor((rows - span) / 2));
  if (tried <= declared + longest) return undefined;
  const startRows = startsFrom(tried, rows - span);
  const signalsFrom = async (start: number, history: number): Promise<string> => {
    const { lines } = await decisionLog(input, cut(columns, start - history, start + span), history);
    return JSON.stringify(lines.slice(history).map((line) => line?.signal));
  };
  const decisions = await worst(startRows, declared, async (start, low) => {
    const reference = await signalsFrom(start, tried);
    return least(low, tried, async (history) => (await signalsFrom(start, history)) === reference);
  });
  const indicators: Record<string, { declared: number; agrees: number | undefined }> = {};
  if (!isStreaming(hosted.strategy))
    for (const { name, indicator } of namedIndicators(hosted.strategy.indicators(hosted.params))) {
      const asked = ownWarmup(indicator, series.interval);
      const agrees = await worst(startRows, Math.max(1, asked), (start, low) => {
        const valuesFrom = (history: number): Float64Array =>
          indicator.column(cut(columns, start - history, start + span), series.interval).subarray(history);
        const reference = valuesFrom(tried);
        return least(low, tried, async (history) => areClose(valuesFrom(history), reference));
      });
      indicators[name] = { declared: asked, agrees };
    }
  return { declared, decisions, indicators, tried };
}

/** Starts between two rows, at distances without a common divisor, so that periodic behaviour differs between them. */
function startsFrom(first: number, last: number): readonly number[] {
  const found = [first];
  const distances: number[] = [];
  let distance = Math.floor((last - first) / (starts - 1));
  for (; found.length < starts; distance = Math.max(1, distance - 1)) {
    if (!distances.every((one) => commonDivisor(one, distance) === 1)) continue;
    distances.push(distance);
    found.push((found.at(-1) as number) + distance);
  }
  return found;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** The smallest number from `low` on that is enough at all starts; undefined once none is. */
async function worst(
  startRows: readonly number[],
  low: number,
  needed: (start: number, low: number) => Promise<number | undefined>,
): Promise<number | undefined> {
  let most: number | undefined = low;
  for (const start of startRows) {
    most = await needed(start, most);
    if (most === undefined) return undefined;
  }
  return most;
}

/** The smallest number from `low` on that agrees with the longer ones, in steps of a tenth; undefined where none does. */
async function least(
  low: number,
  high: number,
  agrees: (history: number) => Promise<boolean>,
): Promise<number | undefined> {
  for (let at = low; at + longest < high; at = Math.max(at + 1, Math.ceil(at * 1.1)))
    if (await agreeAll(at, agrees)) return at;
  return undefined;
}

async function agreeAll(at: number, agrees: (history: number) => Promise<boolean>): Promise<boolean> {
  for (const more of longer) if (!(await agrees(at + more))) return false;
  return true;
}

const areClose = (a: Float64Array, b: Float64Array): boolean =>
  a.every((value, row) => {
    const other = b[row] as number;
    return Object.is(value, other) || Math.abs(value - other) <= digits * Math.max(Math.abs(value), Math.abs(other));
  });
