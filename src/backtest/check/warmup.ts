/** How many klines of warm-up a strategy needs until its decisions do not depend on where its history begins. */

import { type Interval, intervalMs } from '../../domain/interval.ts';
import { type Columns, mapColumns } from '../../domain/market.ts';
import { hasList } from '../../strategy/contract.ts';
import { ownWarmup } from '../../strategy/larger-klines.ts';
import { joinKlines, type MarketRows } from '../../strategy/markets/joined-klines.ts';
import { scheduleOf } from '../../strategy/markets/schedule.ts';
import type { NamedIndicator } from '../../strategy/named-indicators.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { joinedOf } from '../engine/joined-series.ts';
import type { RunInput } from '../run.ts';
import { type CheckedKlines, checkedIn, cut, smallestOf } from './columns.ts';
import { decisionLog } from './decision-log.ts';
import { namedIn } from './indicators.ts';

export interface IndicatorWarmup {
  readonly declared: number;
  /** Undefined where it is more than was tried. */
  readonly agrees: number | undefined;
  /** The role of its market, of a strategy that has several: its klines are counted. */
  readonly market?: string;
}

export interface Warmup {
  /** Klines of its smallest interval, where it has several. */
  readonly declared: number;
  /** Klines after which its decisions agree from every tested start; undefined where it is more than `tried`. */
  readonly decisions: number | undefined;
  /** Per indicator, until values agree to nine digits; of a list of symbols, at the slowest of them. */
  readonly indicators: Readonly<Record<string, IndicatorWarmup>>;
  /** The longest tested history. */
  readonly tried: number;
}

/** Klines compared from each start, and decisions of a strategy that decides less often than at each. */
const [usualSpan, scheduledDecisions] = [150, 12];
const starts = 6;
const maxTried = 1_500;
const digits = 1e-9;
/**
 * Histories that are longer by these klines must agree, too: one length may agree by chance, as with a rule for every eleventh kline.
 */
const longer = [0, 1, 3, 8];
const longest = Math.max(...longer);

/** The shortest longest history for a declared warm-up: one that is hardly longer proves nothing. */
const longEnough = (declared: number): number => Math.max(Math.ceil(declared * 1.5), declared + longest + 1);
/** Klines that the test of a declared warm-up needs. */
export const klinesToTest = (declared: number, span = usualSpan): number => 2 * longEnough(declared) + span;

/** Klines of its smallest interval that suffice before its first signal, wherever they begin. */
export const declaredOf = (hosted: NamedHosted): number =>
  Math.max(
    ...marketsOf(hosted).map(({ role, interval }) => inRows(hosted, warmupIn(hosted, role, interval), interval)),
  );

/** The same for one of its markets, in klines of that. */
const warmupIn = ({ strategy, params, markets }: NamedHosted, role: string, interval: Interval): number =>
  warmupOf(strategy, params, interval, markets === undefined ? undefined : role);

/** Klines of its smallest interval that a live start has: as many as its market with the shortest history. */
export const liveRows = (hosted: NamedHosted): number =>
  Math.min(
    ...marketsOf(hosted).map(({ role, interval }) =>
      inRows(hosted, liveHistory(warmupIn(hosted, role, interval)), interval),
    ),
  );

/** Klines of an interval as klines of its smallest. */
function inRows(hosted: NamedHosted, count: number, interval: Interval): number {
  const smallest = smallestOf(marketsOf(hosted).map((market) => market.interval));
  return Math.ceil((count * intervalMs(interval, 0)) / intervalMs(smallest, 0));
}

/** Rows compared from each start: more where it is asked at few of them. */
export function spanIn({ strategy }: NamedHosted, interval: Interval): number {
  const schedule = hasList(strategy) ? scheduleOf(strategy.rebalance) : undefined;
  if (schedule === undefined) return usualSpan;
  let time = 0;
  for (let count = 0; count < scheduledDecisions; count++) time = schedule(time);
  return Math.max(usualSpan, Math.ceil(time / intervalMs(interval, 0)));
}

/** Undefined where the data are too short. `input` has one strategy. */
export async function warmupNeeded(input: RunInput): Promise<Warmup | undefined> {
  const { hosted, klines } = checkedIn(input);
  const rows = klines.times.length;
  const declared = Math.max(1, declaredOf(hosted));
  const span = spanIn(hosted, klines.interval);
  const tried = triedIn(rows, span, declared);
  if (tried <= declared + longest) return undefined;
  const startRows = startsFrom(tried, rows - span);
  const signalsFrom = async (start: number, history: number): Promise<string> => {
    const { lines } = await decisionLog(input, cut(klines, start - history, start + span), history);
    return JSON.stringify(lines.slice(history).map((line) => line?.signal));
  };
  const decisions = await worst(startRows, declared, async (start, low) => {
    const reference = await signalsFrom(start, tried);
    return least(low, tried, async (history) => (await signalsFrom(start, history)) === reference);
  });
  const indicators: Record<string, IndicatorWarmup> = {};
  for (const { name, market, rows: own, span: compared, asked, valuesFrom } of indicatorTests(hosted, klines, span)) {
    const most = market === undefined ? tried : triedIn(own, compared, Math.max(1, asked));
    const found =
      most <= asked + longest
        ? undefined
        : await worst(startsFrom(most, own - compared), Math.max(1, asked), (start, low) => {
            const reference = valuesFrom(start, most, start + compared);
            return least(low, most, async (history) =>
              areClose(valuesFrom(start, history, start + compared), reference),
            );
          });
    const before = indicators[name];
    const agrees = before === undefined ? found : slower(before.agrees, found);
    indicators[name] = { declared: asked, agrees, ...(market !== undefined && isNamed(hosted) && { market }) };
  }
  return { declared, decisions, indicators, tried };
}

const triedIn = (rows: number, span: number, declared: number): number =>
  Math.min(Math.max(maxTried, longEnough(declared)), Math.floor((rows - span) / 2));

const slower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

/** Its markets have roles. */
const isNamed = ({ strategy }: NamedHosted): boolean => !hasList(strategy);

interface IndicatorTest {
  readonly name: string;
  readonly market: string | undefined;
  /** Klines of its market, how many of them are compared, and how many it asks for. */
  readonly rows: number;
  readonly span: number;
  readonly asked: number;
  /** Its values from `start` to before `end`, with so much history before. */
  readonly valuesFrom: (start: number, history: number, end: number) => Float64Array;
}

function indicatorTests(hosted: NamedHosted, klines: CheckedKlines, span: number): readonly IndicatorTest[] {
  const [series] = klines.series;
  const { interval } = klines;
  if (series === undefined) return [];
  const test = ({ group, line, indicator }: NamedIndicator): IndicatorTest => {
    const name = line === undefined ? group : `${group}.${line}`;
    const asked = ownWarmup(indicator, interval);
    const whole = { name, market: undefined, rows: klines.times.length, span, asked };
    const { markets } = hosted;
    if (markets === undefined)
      return {
        ...whole,
        valuesFrom: (start, history, end) =>
          indicator.column(cutColumns(series.columns, start - history, end), interval).subarray(history),
      };
    const joined = joinedOf(markets, klines.series);
    const { market } = indicator;
    if (market === undefined || !Object.hasOwn(joined.markets, market))
      return {
        ...whole,
        valuesFrom: (start, history, end) =>
          indicator.column(joinedOf(markets, cut(klines, start - history, end).series), interval).subarray(history),
      };
    const { columns, interval: own } = joined.markets[market] as MarketRows;
    return {
      ...{ name, market, rows: columns.openTime.length, asked: ownWarmup(indicator, own) },
      span: Math.ceil((span * intervalMs(interval, 0)) / intervalMs(own, 0)),
      valuesFrom: (start, history, end) =>
        indicator
          .column(joinKlines({ [market]: { columns: cutColumns(columns, start - history, end), interval: own } }), own)
          .subarray(history),
    };
  };
  return namedIn(hosted).map(test);
}

const cutColumns = (columns: Columns, from: number, to: number): Columns =>
  mapColumns(columns, (column) => column.slice(from, to));

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
