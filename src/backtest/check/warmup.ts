/** How many klines a strategy needs until its decisions are the same wherever its history began ("Warm-up"). */

import { isStreaming } from '../../strategy/contract.ts';
import type { Indicator } from '../../strategy/indicators.ts';
import { ownWarmup } from '../../strategy/larger-klines.ts';
import { warmupOf } from '../../strategy/warmup.ts';
import type { RunInput } from '../run.ts';
import { cut } from './columns.ts';
import { decisionLog } from './decision-log.ts';

export interface Warmup {
  /** What the strategy asks for. */
  readonly declared: number;
  /** After so many klines its decisions agree from every start that was tried; undefined where that is more than `tried`. */
  readonly decisions: number | undefined;
  /** Per indicator, until values agree to nine digits. */
  readonly indicators: Readonly<Record<string, { readonly declared: number; readonly agrees: number | undefined }>>;
  /** The longest history that was tried. */
  readonly tried: number;
}

/** Decisions compared from each start. */
const span = 150;
const starts = 6;
const mostTried = 1_500;
const digits = 1e-9;
/**
 * Klines by which histories are longer that must agree, too. One length may agree by chance, as with a rule for every eleventh kline; with
 * the next longer one it does not.
 */
const longer = [0, 1, 3, 8];
const longest = Math.max(...longer);

/** What a history is tried to at least, by what the strategy asks for: one little longer than that says nothing. */
const longEnough = (declared: number): number => Math.max(Math.ceil(declared * 1.5), declared + longest + 1);
/** Klines that it takes to say how many a strategy needs that asks for so many. */
export const klinesToSay = (declared: number): number => 2 * longEnough(declared) + span;

/** Undefined where the data are too short to say. `input` has one strategy. */
export async function warmupNeeded(input: RunInput): Promise<Warmup | undefined> {
  const [hosted] = input.hosted;
  const [series] = input.series;
  if (hosted === undefined || series === undefined) throw new Error('a check is of one strategy');
  const { columns } = series;
  const rows = columns.openTime.length;
  const declared = Math.max(1, warmupOf(hosted.strategy, hosted.params, hosted.interval));
  const tried = Math.min(Math.max(mostTried, longEnough(declared)), Math.floor((rows - span) / 2));
  if (tried <= declared + longest) return undefined;
  const places = placesFrom(tried, rows - span);
  const wantsFrom = async (start: number, history: number): Promise<string> => {
    const { lines } = await decisionLog(input, cut(columns, start - history, start + span), history);
    return JSON.stringify(lines.slice(history).map((line) => line?.signal));
  };
  const decisions = await worst(places, declared, async (start, low) => {
    const reference = await wantsFrom(start, tried);
    return least(low, tried, async (history) => (await wantsFrom(start, history)) === reference);
  });
  const indicators: Record<string, { declared: number; agrees: number | undefined }> = {};
  if (!isStreaming(hosted.strategy))
    for (const [name, indicator] of Object.entries(
      hosted.strategy.indicators(hosted.params) as Record<string, Indicator>,
    )) {
      const asked = ownWarmup(indicator, series.interval);
      const agrees = await worst(places, Math.max(1, asked), (start, low) => {
        const valuesFrom = (history: number): Float64Array =>
          indicator.column(cut(columns, start - history, start + span), series.interval).subarray(history);
        const reference = valuesFrom(tried);
        return least(low, tried, async (history) => areClose(valuesFrom(history), reference));
      });
      indicators[name] = { declared: asked, agrees };
    }
  return { declared, decisions, indicators, tried };
}

/** Starts from a row to another, at distances without a common divisor: what comes round every so many klines differs between them. */
function placesFrom(first: number, last: number): readonly number[] {
  const places = [first];
  const distances: number[] = [];
  let distance = Math.floor((last - first) / (starts - 1));
  for (; places.length < starts; distance = Math.max(1, distance - 1)) {
    if (!distances.every((one) => commonDivisor(one, distance) === 1)) continue;
    distances.push(distance);
    places.push((places.at(-1) as number) + distance);
  }
  return places;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** The smallest number from `low` on that is enough at all starts; undefined once none is. */
async function worst(
  places: readonly number[],
  low: number,
  needed: (start: number, low: number) => Promise<number | undefined>,
): Promise<number | undefined> {
  let most: number | undefined = low;
  for (const start of places) {
    most = await needed(start, most);
    if (most === undefined) return undefined;
  }
  return most;
}

/** The smallest number from `low` on that agrees with those longer ones, in steps of a tenth; undefined where none does. */
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
