/** Finds look-ahead: decisions that change when later klines are removed or changed. */

import { allIntervals, closeTime, type Interval, intervals, isWithin, openTimeOf } from '../../domain/interval.ts';
import { momentText } from '../../report/figures.ts';
import type { RunInput } from '../run.ts';
import {
  type CheckedKlines,
  checkedIn,
  closingAt,
  cut,
  type Field,
  fields,
  poisoned,
  spanOfRow,
  spoiled,
} from './columns.ts';
import { type DecisionLog, decisionLog, sameLine } from './decision-log.ts';
import { indicatorsOver, namedIn } from './indicators.ts';
import { isOwn, type Line } from './recorded-strategy.ts';

export interface Leak {
  /**
   * `notRepeatable`: the same klines give another answer; `columnsDiffer`: an indicator has another value over columns than kline by kline; `knowsTheEnd`:
   * the answer depends on where the data end; `readsTheFuture`: it reads later klines; `usesForming`: it reads a larger kline before that closes.
   */
  readonly kind: 'notRepeatable' | 'columnsDiffer' | 'knowsTheEnd' | 'readsTheFuture' | 'usesForming';
  /** UTC ms at which the kline of the wrong answer opened, or klines of several markets closed. */
  readonly at: number;
  /** The indicators that leak; empty where `decide` itself or a stream does. */
  readonly indicators: readonly string[];
  readonly description: string;
}

/** Changed prices are far higher, then far lower: a highest price does not react to lower ones. */
const factors = [1.7, 0.4] as const;

/** Each tested row costs three runs. */
export const usualCuts = 120;

interface Check {
  readonly input: RunInput;
  readonly klines: CheckedKlines;
  readonly first: number;
  /** Changed prices over the recorded ones. */
  readonly factor: number;
  readonly base: DecisionLog;
  /** About how many rows are tested. */
  readonly cuts: number;
}

/** Every kind of leak once, with its first kline. `input` has one strategy; `ran`: the log of its first run, where there is one; `cuts`: tested rows. */
export async function leaksOf(input: RunInput, ran?: DecisionLog, cuts = usualCuts): Promise<readonly Leak[]> {
  const { klines, first } = checkedIn(input);
  // The very first run: a strategy that keeps state answers differently only then.
  const base = ran ?? (await decisionLog(input, klines, first));
  const check: Check = { input, klines, first, factor: 1, base, cuts };
  const unsteady = await repeatLeak(check);
  // A strategy that answers differently each time would show every kind of leak.
  if (unsteady !== undefined) return [unsteady];
  const leaks = [...columnLeaks(check)];
  for (const row of cutsOf(check)) {
    const found = await leakAt(check, row);
    if (found === undefined || leaks.some(({ kind }) => kind === found.kind)) continue;
    // State from changed klines, such as a highest price so far, shows only now.
    const kept = await repeatLeak(check);
    if (kept !== undefined) return [kept];
    leaks.push(found);
    if (found.kind !== 'knowsTheEnd') break;
  }
  return leaks;
}

const leak = (
  { klines }: Check,
  kind: Leak['kind'],
  row: number,
  indicators: readonly string[],
  description: string,
): Leak => ({ kind, at: klines.times[row] as number, indicators, description });

const timeText = (time: number | undefined): string => (time === undefined ? '?' : momentText(time));

async function repeatLeak(check: Check): Promise<Leak | undefined> {
  const { input, klines, first, base } = check;
  const again = await decisionLog(input, klines, first);
  const row = base.unsteady ?? firstDifference(base.lines, again.lines, klines.times.length - 1);
  if (row === undefined) return undefined;
  const what =
    'the same klines give another signal: the strategy keeps state beyond its indicators and its memory, or uses random numbers or the clock';
  return leak(check, 'notRepeatable', row, differing(base.lines[row], again.lines[row]), what);
}

/** The first row up to `last` at which two logs differ. */
function firstDifference(
  a: readonly (Line | undefined)[],
  b: readonly (Line | undefined)[],
  last: number,
): number | undefined {
  for (let row = 0; row <= last; row++) if (!sameLine(a[row], b[row])) return row;
  return undefined;
}

/** The indicators of which the value differs. */
const differing = (a: Line | undefined, b: Line | undefined): readonly string[] =>
  Object.keys(a?.seen ?? {}).filter((name) => !isOwn(name) && b !== undefined && a?.seen[name] !== b.seen[name]);

/** A stream cannot know the future: where a column has another value, one of them is wrong. */
function* columnLeaks(check: Check): Iterable<Leak> {
  const { klines } = check;
  for (const { name, column, stream } of indicatorsOver(check.input, klines)) {
    const values = column();
    const next = stream();
    for (let row = 0; row < klines.times.length; row++) {
      const value = next(row);
      if (Object.is(value, values[row])) continue;
      const what = `indicator ${name} is ${values[row]} over columns (backtests) and ${value} kline by kline (live)`;
      yield leak(check, 'columnsDiffer', row, [name], what);
      return;
    }
  }
}

/** Rows where the signal changes and those before them, and others spread evenly. */
function cutsOf({ base: { lines }, first, klines, cuts }: Check): readonly number[] {
  const last = klines.times.length - 2;
  const changes: number[] = [];
  for (let row = first + 1; row <= last; row++)
    if (lines[row]?.signal !== lines[row - 1]?.signal) changes.push(row - 1, row);
  const spread = Array.from({ length: cuts / 3 }, (_, index) =>
    Math.round(first + ((last - first) * (index + 1)) / (cuts / 3)),
  );
  const few = changes.filter((_, index) => index % Math.ceil(changes.length / ((cuts * 2) / 3)) === 0);
  return [...new Set([...few, ...spread])].filter((row) => row >= first && row <= last).toSorted((a, b) => a - b);
}

async function leakAt(check: Check, row: number): Promise<Leak | undefined> {
  const { input, klines, first, base } = check;
  const end = klines.times.length;
  for (const factor of factors) {
    const otherwise = { ...check, factor };
    const changed = await changedLog(otherwise, row + 1, end);
    const leaking = firstDifference(base.lines, changed.lines, row);
    if (leaking !== undefined)
      return await readLeak(otherwise, row, leaking, differing(base.lines[leaking], changed.lines[leaking]));
  }
  const short = await decisionLog(input, cut(klines, 0, row + 1), first);
  const missing = firstDifference(base.lines, short.lines, row);
  if (missing === undefined) return undefined;
  const what = `the signal depends on where the data end (here ${timeText(klines.times[row])}), which is not known live`;
  return leak(check, 'knowsTheEnd', missing, differing(base.lines[missing], short.lines[missing]), what);
}

/** Names the first kline that is read beyond `row`, by halving the changed range. */
async function readLeak(check: Check, cutAt: number, row: number, indicators: readonly string[]): Promise<Leak> {
  const { klines } = check;
  const end = klines.times.length;
  const at = klines.times[row] as number;
  // Where an earlier answer changes, too, the position differs afterwards: then the tested row is the closest known one.
  const from = (await changesFirst(check, row, row + 1, end)) ? row + 1 : cutAt + 1;
  const nearest = await bisect(from + 1, end, (to) => changesFirst(check, row, from, to));
  const read = nearest - 1;
  const frame = await formingFrame(check, row);
  const by = indicators.length === 0 ? 'its decision' : `indicator ${indicators.join(', ')}`;
  const field = (await fieldRead(check, row, read)) ?? 'data';
  const [what, when, unit] = klines.hasSeveralMarkets
    ? ['at', `at ${timeText(klines.times[read])}`, 'moment']
    : ['after the kline of', `of ${timeText(klines.times[read])}`, 'kline'];
  const first = `${what} ${timeText(at)} ${by} reads ${field} ${when}, ${read - row} ${unit}${read - row === 1 ? '' : 's'} later`;
  if (frame === undefined) return leak(check, 'readsTheFuture', row, indicators, first);
  const opens = openTimeOf(frame, spanOfRow(klines, row)[0]);
  const description = `${first}: it uses the ${frame} kline of ${timeText(opens)}, which closes at ${timeText(closeTime(frame, opens))}, from ${klines.interval} klines before it has closed (usesForming)`;
  return leak(check, 'usesForming', row, indicators, description);
}

/** The smallest number from `low` to `high` for which it is true; it is true for `high` and for all above the result. */
async function bisect(low: number, high: number, isTrue: (at: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (await isTrue(middle)) to = middle;
    else from = middle + 1;
  }
  return to;
}

/** The log with changed klines in these rows. */
function changedLog({ input, klines, first, factor }: Check, from: number, to: number): Promise<DecisionLog> {
  const pricePrecision = (symbol: string): number => input.instruments.get(symbol)?.pricePrecision ?? 0;
  return decisionLog(input, poisoned(klines, from, to, { factor, pricePrecision }), first, true);
}

/** Whether changed klines in these rows change the answer at `row`, and none before it. */
async function changesFirst(check: Check, row: number, from: number, to: number): Promise<boolean> {
  return firstDifference(check.base.lines, (await changedLog(check, from, to)).lines, row) === row;
}

/** Whether changed klines in these rows change the answer at `row`. */
async function changes(check: Check, row: number, from: number, to: number): Promise<boolean> {
  return !sameLine(check.base.lines[row], (await changedLog(check, from, to)).lines[row]);
}

/** What is read of the klines that close at `read`, and of which symbol where a strategy has several. */
async function fieldRead(
  { input, klines, first, base, factor }: Check,
  row: number,
  read: number,
): Promise<string | undefined> {
  for (const index of closingAt(klines, read))
    for (const field of ['close', ...fields.filter((one) => one !== 'close')] as readonly Field[]) {
      const changed = await decisionLog(input, spoiled(klines, index, read, field, factor), first, true);
      if (sameLine(base.lines[row], changed.lines[row])) continue;
      return klines.hasSeveralMarkets ? `${field} of ${klines.series[index]?.symbol}` : field;
    }
  return undefined;
}

/** A larger interval whose kline, still open at `row` and at the rows after it, is as far as the answers read. */
async function formingFrame(check: Check, row: number): Promise<Interval | undefined> {
  const { klines } = check;
  const end = klines.times.length;
  const furthest: { readonly row: number; readonly read: number }[] = [];
  for (let at = row; at < Math.min(row + 4, end - 1); at++) {
    if (!(await changes(check, at, at + 1, end))) continue;
    const none = await bisect(at + 2, end, async (from) => !(await changes(check, at, from, end)));
    furthest.push({ row: at, read: none - 1 });
  }
  // Any of the many others fits some leak by chance: they count where an indicator uses them.
  const used = new Set<Interval>(intervals);
  for (const { indicator } of check.input.hosted.flatMap(namedIn))
    if (indicator.of !== undefined) used.add(indicator.of);
  const larger = allIntervals.filter((one) => used.has(one) && isWithin(klines.interval, one));
  return larger.find(
    (frame) =>
      furthest.length > 1 &&
      furthest.every(({ row: at, read }) => {
        const opens = openTimeOf(frame, spanOfRow(klines, at)[0]);
        const [readAt, closes] = spanOfRow(klines, read);
        return opens === openTimeOf(frame, readAt) && closes === closeTime(frame, opens);
      }),
  );
}
