/** How many klines a strategy needs before its decisions no longer hang on where its history began (fill-engine §4, "Warm-up"). */
import { isStreaming } from '../../strategy/contract.ts';
import { ownWarmup } from '../../strategy/frames.ts';
import type { Indicator } from '../../strategy/indicators.ts';
import { warmupOf } from '../../strategy/needs.ts';
import type { RunInput } from '../backtest/run.ts';
import { cut } from './columns.ts';
import { decisionLog } from './log.ts';

/** Klines that one request to the exchange gives: what a live start has. */
export const venueKlines = 300;

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

/** What a history is tried to at least, by what the strategy asks for: one little longer than that says nothing. */
const longEnough = (declared: number): number => Math.ceil(declared * 1.5);
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
  if (tried <= declared) return undefined;
  const places = Array.from({ length: starts }, (_, index) =>
    Math.floor(tried + ((rows - span - tried) * index) / (starts - 1)),
  );
  const wantsFrom = async (start: number, history: number): Promise<string> => {
    const { lines } = await decisionLog(input, cut(columns, start - history, start + span), history);
    return JSON.stringify(lines.slice(history).map((line) => line?.want));
  };
  const decisions = await worst(places, async (start) => {
    const reference = await wantsFrom(start, tried);
    return least(declared, tried, async (history) => (await wantsFrom(start, history)) === reference);
  });
  const indicators: Record<string, { declared: number; agrees: number | undefined }> = {};
  if (!isStreaming(hosted.strategy))
    for (const [name, indicator] of Object.entries(
      hosted.strategy.indicators(hosted.params) as Record<string, Indicator>,
    )) {
      const asked = ownWarmup(indicator, series.interval);
      const from = Math.max(1, asked);
      const agrees = await worst(places, (start) => {
        const valuesFrom = (history: number): Float64Array =>
          indicator.column(cut(columns, start - history, start + span), series.interval).subarray(history);
        const reference = valuesFrom(tried);
        return least(from, tried, async (history) => areClose(valuesFrom(history), reference));
      });
      indicators[name] = { declared: asked, agrees };
    }
  return { declared, decisions, indicators, tried };
}

/** The largest of all starts; undefined once one never agrees. */
async function worst(
  places: readonly number[],
  needed: (start: number) => Promise<number | undefined>,
): Promise<number | undefined> {
  let most = 0;
  for (const start of places) {
    const one = await needed(start);
    if (one === undefined) return undefined;
    most = Math.max(most, one);
  }
  return most;
}

/** The smallest number from `low` on that agrees, in steps of a tenth; undefined where only the reference itself does. */
async function least(
  low: number,
  high: number,
  agrees: (history: number) => Promise<boolean>,
): Promise<number | undefined> {
  for (let at = low; at < high; at = Math.max(at + 1, Math.ceil(at * 1.1))) if (await agrees(at)) return at;
  return undefined;
}

const areClose = (a: Float64Array, b: Float64Array): boolean =>
  a.every((value, row) => {
    const other = b[row] as number;
    return Object.is(value, other) || Math.abs(value - other) <= digits * Math.max(Math.abs(value), Math.abs(other));
  });
