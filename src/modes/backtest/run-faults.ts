/** What is wrong with the klines that a run is asked to go over: refused, or told where it only makes the run shorter. */
import type { BacktestConfig } from '../../config/schema.ts';
import { rowAt } from '../../data/klines.ts';
import { type Interval, intervalMs } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';

/** A symbol's klines, and where they are from. */
export interface Asked {
  readonly symbol: string;
  readonly interval: Interval;
  readonly openTime: Float64Array;
  readonly source: string;
}

const momentOf = (time: number | undefined): string =>
  time === undefined ? '?' : `${new Date(time).toISOString().slice(0, 16)}Z`;

/** So many klines in a row, all the same distance apart and not their interval's, are of another interval: holes differ in length. */
const fewInARow = 20;

/** Refuses klines of another interval among those of this one. */
export function refuseOtherIntervals({ symbol, interval, openTime, source }: Asked): void {
  let row = 1;
  while (row < openTime.length) {
    const at = openTime[row - 1] as number;
    const step = (openTime[row] as number) - at;
    let next = row + 1;
    while (next < openTime.length && (openTime[next] as number) - (openTime[next - 1] as number) === step) next++;
    // Months differ in length, so that theirs never repeat for long.
    if (next - row >= fewInARow && step !== intervalMs(interval, at))
      throw new Refusal(
        `${symbol}: ${next - row + 1} of the ${openTime.length} klines of ${source}, from ${momentOf(at)} on, lie ${step / 60_000} minutes apart, those of ${interval} ${intervalMs(interval, at) / 60_000}: set interval to what the data have, or keep each interval in a file of its own`,
      );
    row = next;
  }
}

/** The rows from `from` up to, not including, `to`; a `Refusal` where there are none. */
export function rowsOf(
  { from, to }: Pick<BacktestConfig, 'from' | 'to'>,
  asked: Asked,
): { first: number; end: number } {
  const { symbol, openTime, source } = asked;
  const first = from === undefined ? 0 : rowAt(openTime, from);
  const end = to === undefined ? openTime.length : rowAt(openTime, to);
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal(`from (${momentOf(from)}) is not before to (${momentOf(to)}): swap them, or leave one out`);
  if (first >= end)
    throw new Refusal(
      `${symbol}: no klines between from and to (${momentOf(from)}, ${momentOf(to)}): ${source} holds ${momentOf(openTime[0])} to ${momentOf(openTime.at(-1))}: name dates within, or import more`,
    );
  return { first, end };
}

/** What of the time asked for the klines do not cover, and how late the first decision comes for want of warm-up. */
export function spanNotes(
  { from, to }: Pick<BacktestConfig, 'from' | 'to'>,
  { symbol, interval, openTime }: Asked,
  { first, end, needed }: { readonly first: number; readonly end: number; readonly needed: number },
): readonly string[] {
  const [opens, last] = [openTime[first] as number, openTime[end - 1] as number];
  const notes: string[] = [];
  if (from !== undefined && opens - from >= intervalMs(interval, from))
    notes.push(
      `${symbol}: from is ${momentOf(from)}, its first kline after that opens ${momentOf(opens)}: the run begins there`,
    );
  const closes = last + intervalMs(interval, last);
  if (to !== undefined && to - closes >= intervalMs(interval, last))
    notes.push(
      `${symbol}: to is ${momentOf(to)}, its last kline before that opens ${momentOf(last)}: the run ends there`,
    );
  if (from !== undefined && first < needed - 1)
    notes.push(
      `${symbol}: ${needed} klines warm up and ${first} lie before from: the first decision comes ${momentOf(openTime[needed - 1])}; import earlier klines for an earlier one`,
    );
  return notes;
}

/** Refuses a run that ends before its first decision. */
export function refuseShort({ symbol, interval, source }: Asked, end: number, needed: number): void {
  if (end > needed) return;
  throw new Refusal(
    `${symbol}: ${end} klines are too few: the strategy needs ${needed} of ${interval} before its first decision, ${source} has ${end} up to the end of the run: import more, name a later to, or shorten its averages`,
  );
}
