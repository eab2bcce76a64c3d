/** `sluice check STRATEGY`: whether it knows the future, and how much history it needs. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSetting, readConfig, type Setting } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import type { Interval } from '../../domain/interval.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { momentText } from '../../report/figures.ts';
import { faultText, isStrategyFault } from '../../strategy/fault.ts';
import { framesOf } from '../../strategy/frames.ts';
import { warmupOf } from '../../strategy/needs.ts';
import { prepare } from '../backtest/backtest.ts';
import { partsOf } from '../backtest/currencies.ts';
import type { RunInput } from '../backtest/run.ts';
import { home } from '../demo/scenarios.ts';
import { cut } from './columns.ts';
import { decisionLog } from './log.ts';
import { type Leak, leaksOf, wantsSomething } from './lookahead.ts';
import { venueKlines, type Warmup, warmupNeeded } from './warmup.ts';

export interface CheckOptions {
  /** A shipped strategy, a file, or with a configuration the id of one of its strategies. */
  readonly strategy: string;
  readonly config?: string;
  readonly set: readonly string[];
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

interface Checked {
  readonly strategy: string;
  readonly symbol: string;
  readonly interval: string;
  readonly klines: number;
  /** False where it wanted nothing: then nothing could be compared. */
  readonly wanted: boolean;
  readonly leaks: readonly Leak[];
  readonly warmup: Warmup | undefined;
}

/** Klines that are looked at: each is asked about many times over. */
const mostKlines = 2_500;

/** Throws a `Refusal` with exit code 1 once everything is printed, where a strategy knows the future. */
export async function check(options: CheckOptions): Promise<void> {
  const { json, out } = options;
  const all: Checked[] = [];
  for (const input of await inputsOf(options)) all.push(await checkOne(input));
  for (const one of all)
    if (json) out(JSON.stringify(jsonOf(one)));
    else for (const line of linesOf(one)) out(line);
  const leaking = all.filter(({ leaks }) => leaks.length > 0);
  if (leaking.length > 0)
    throw new Refusal(
      `${leaking.map(({ strategy }) => strategy).join(', ')}: what a backtest says of it cannot be believed until the leak is mended`,
      1,
    );
}

/** A run for each strategy that is meant, over the klines that are looked at. */
async function inputsOf({ strategy, config: given, set, say }: CheckOptions): Promise<readonly RunInput[]> {
  const file = given ?? join(home(), 'config', 'check.yaml');
  const own = existsSync(strategy) ? resolve(strategy) : strategy;
  const use: readonly Setting[] = given === undefined ? [{ path: ['strategies', 0, 'use'], value: own }] : [];
  const settings = [...use, ...set.map(parseSetting)];
  const { input } = await prepare(file, readConfig(file, backtestSchema, settings), settings);
  const meant = input.hosted.filter(
    ({ id, use: configured }) => given === undefined || id === strategy || configured === strategy,
  );
  if (meant.length === 0) {
    const ids = input.hosted.map(({ id }) => id);
    throw new Refusal(
      `${file} has no strategy ${strategy}${didYouMean(strategy, ids)}; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ')}`,
    );
  }
  const { tapes: _, cashFlows: __, ...overKlines } = input;
  if (input.tapes !== undefined) say('note: it is checked over klines alone; trades and books are left out');
  return meant.map((hosted) => {
    const part = partsOf(overKlines).find((one) => one.hosted.includes(hosted));
    return alone(part ?? overKlines, hosted);
  });
}

/** One strategy by itself, over at most so many klines. */
function alone(input: RunInput, hosted: RunInput['hosted'][number]): RunInput {
  const { finer: _, ...recorded } = input.series.find(
    ({ symbol }) => symbol === hosted.symbol,
  ) as RunInput['series'][number];
  const series = recorded.interval === hosted.interval ? recorded : largerSeries(recorded, hosted.interval);
  const before = Math.min(series.first, warmupOf(hosted.strategy, hosted.params, hosted.interval));
  const from = series.first - before;
  const to = Math.min(series.end, from + mostKlines);
  return {
    ...input,
    hosted: [hosted],
    series: [{ ...series, columns: cut(series.columns, from, to), gaps: [], first: before, end: to - from }],
    allocations: input.allocations.filter(({ strategy }) => strategy === hosted.id),
  };
}

/** The same klines as those of a larger interval. */
function largerSeries(series: RunInput['series'][number], interval: Interval): RunInput['series'][number] {
  const { columns, knownAt } = framesOf(series.interval, interval, series.columns);
  const rowAfter = (row: number): number => {
    const found = knownAt.findIndex((known) => known >= row);
    return found < 0 ? knownAt.length : found;
  };
  return { ...series, interval, columns, first: rowAfter(series.first), end: rowAfter(series.end) };
}

async function checkOne(input: RunInput): Promise<Checked> {
  const [hosted] = input.hosted;
  const [series] = input.series;
  if (hosted === undefined || series === undefined) throw new Error('a check is of one strategy');
  const { symbol, interval } = series;
  try {
    const wanted = wantsSomething(await decisionLog(input, series.columns, series.first));
    const leaks = await leaksOf(input);
    // How long a strategy that knows the future needs its past says nothing.
    const warmup = leaks.length > 0 || !wanted ? undefined : await warmupNeeded(input);
    return { strategy: hosted.id, symbol, interval, klines: series.end - series.first, wanted, leaks, warmup };
  } catch (error) {
    if (!isStrategyFault(error)) throw error;
    throw new Refusal(`a strategy threw: ${faultText(error)}`, 1);
  }
}

const kinds: Readonly<Record<Leak['kind'], string>> = {
  repeat: 'not repeatable',
  column: 'columns differ',
  truncation: 'knows the end',
  future: 'reads the future',
  forming: 'uses forming',
};

function linesOf({ strategy, symbol, interval, klines, wanted, leaks, warmup }: Checked): readonly string[] {
  const row = (name: string, text: string): string => `${name.padEnd(18)}${text}`;
  const head = row(strategy, `${klines} klines of ${symbol}, ${interval}`);
  if (leaks.length > 0)
    return [head, ...leaks.map(({ kind, at, what }) => row(kinds[kind], `${momentText(at)}: ${what}`))];
  if (!wanted)
    return [
      head,
      row(
        'look-ahead',
        'n/a  (it wanted nothing over these klines: give it others, --config FILE; one that lives on trades or books cannot be checked by klines)',
      ),
    ];
  return [
    head,
    row('look-ahead', 'none: with the future taken away, and with another one, it decides the same'),
    ...(warmup === undefined ? [row('warm-up', 'n/a  (too few klines to say)')] : warmupLines(warmup, interval, row)),
  ];
}

function warmupLines(
  { declared, decisions, indicators, tried }: Warmup,
  interval: string,
  row: (name: string, text: string) => string,
): readonly string[] {
  const after = (count: number | undefined): string => (count === undefined ? `not within ${tried}` : `after ${count}`);
  const enough = decisions !== undefined && decisions <= venueKlines;
  const limit = enough
    ? `a live start has ${venueKlines}: enough`
    : `a live start has ${venueKlines}: until it has seen more, it may decide otherwise than a backtest`;
  return [
    row('warm-up', `${declared} klines of ${interval} asked for; decisions agree ${after(decisions)}; ${limit}`),
    ...Object.entries(indicators).map(([name, one]) =>
      row(`  ${name}`, `${one.declared} asked for; values agree to nine digits ${after(one.agrees)}`),
    ),
  ];
}

const jsonOf = ({ warmup, ...checked }: Checked): object => ({
  version: 1,
  ok: checked.leaks.length === 0,
  ...checked,
  warmup:
    warmup === undefined
      ? null
      : {
          ...warmup,
          decisions: warmup.decisions ?? null,
          enough: (warmup.decisions ?? Number.POSITIVE_INFINITY) <= venueKlines,
          indicators: Object.fromEntries(
            Object.entries(warmup.indicators).map(([name, one]) => [name, { ...one, agrees: one.agrees ?? null }]),
          ),
        },
});
