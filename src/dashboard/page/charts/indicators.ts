/** The indicators of strategies on the chart: the values that their decisions saw, asked for while the chart is shown. */
import { signal } from '@preact/signals';
import type { IndicatorsView, IndicatorValues } from '../../indicators.ts';
import type { MarketView } from '../../view.ts';
import { useChartData } from '../ask.ts';
import { chartOf } from '../store.ts';

export interface IndicatorLine {
  readonly key: string;
  /** The strategy, with its role where it has several. */
  readonly owner: string;
  readonly name: string;
  /** The indicator of which it is a line: `macd` of `macd.signal`. Its lines share a pane. */
  readonly group: string;
  /** Oldest first. */
  readonly points: readonly (readonly [openTime: number, value: number | null])[];
}

/** What was answered for one chart. */
interface Received {
  readonly chart: string;
  readonly run: number;
  readonly lines: readonly IndicatorLine[];
  readonly leftOut: number;
}

/** Real ms between two questions: an answer has only what is new. */
const againMs = 1_000;
/** As many as klines are kept of a chart. */
const maxPoints = 1_000;

const received = signal<Received | undefined>(undefined);

/** What is known of a chart; nothing of another one. */
export const indicatorsOn = (market: MarketView): Received | undefined =>
  received.value?.chart === chartOf(market) ? received.value : undefined;

const linesIn = ({ strategy, role, names, rows }: IndicatorValues): readonly IndicatorLine[] =>
  names.map((name, index) => {
    const owner = role === undefined ? strategy : `${strategy} ${role}`;
    const [group = name] = name.split('.');
    return {
      ...{ key: `${owner} ${name}`, owner, name, group: `${owner} ${group}` },
      points: rows.map((row) => [row[0], row[index + 1] ?? null] as const),
    };
  });

/** The line with what is new of it. */
function grown(before: IndicatorLine, { points }: IndicatorLine): IndicatorLine {
  const last = before.points.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY;
  const fresh = points.filter(([openTime]) => openTime > last);
  return fresh.length === 0 ? before : { ...before, points: [...before.points, ...fresh].slice(-maxPoints) };
}

function take(chart: string, { run, values, leftOut }: IndicatorsView): void {
  const lines = values.flatMap(linesIn);
  const before = received.value;
  if (before?.chart !== chart || before.run !== run) {
    received.value = { chart, run, lines, leftOut };
    return;
  }
  const known = new Map(before.lines.map((line) => [line.key, line]));
  const joined = lines.map((line) => {
    const old = known.get(line.key);
    return old === undefined ? line : grown(old, line);
  });
  if (joined.some((line, index) => line !== before.lines[index]))
    received.value = { chart, run, lines: joined, leftOut };
}

/** The open time after which something may be missing; undefined where all may be. */
function missingFrom({ lines }: Received): number | undefined {
  const lasts = lines.map(({ points }) => points.at(-1)?.[0]);
  return lasts.length === 0 || lasts.includes(undefined) ? undefined : Math.min(...lasts.map(Number)) + 1;
}

/** Keeps the indicators of a chart up to date while it is shown. */
export function useIndicators(market: MarketView): void {
  const since = () => {
    const known = indicatorsOn(market);
    return known === undefined ? {} : { run: known.run, from: missingFrom(known) };
  };
  useChartData<IndicatorsView>('indicators', market, { since, take, everyMs: againMs });
}
