/** `sluice check STRATEGY`: whether it knows the future, and how much history it needs. */

import { basename, join, resolve } from 'node:path';
import { cut } from '../../backtest/check/columns.ts';
import { decisionLog } from '../../backtest/check/decision-log.ts';
import { type Mistake, mistakesIn, type Signalled, signalledIn } from '../../backtest/check/decision-summary.ts';
import { type Leak, leaksOf } from '../../backtest/check/lookahead.ts';
import { klinesToTest, type Warmup, warmupNeeded } from '../../backtest/check/warmup.ts';
import { partsOf } from '../../backtest/engine/currencies.ts';
import { showPace } from '../../backtest/pace.ts';
import { prepare } from '../../backtest/prepare/prepare.ts';
import { neverAskedText } from '../../backtest/result/no-trade-reasons.ts';
import type { RunInput } from '../../backtest/run.ts';
import { loopTurn, systemClock } from '../../clock/clock.ts';
import { parseSetting, readConfig, type Setting } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { home } from '../../config/shipped.ts';
import type { Interval } from '../../domain/interval.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { grouped } from '../../domain/words.ts';
import { momentText } from '../../report/figures.ts';
import { faultText, isStrategyFault, StrategyThrew } from '../../strategy/fault.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import { isPath } from '../../strategy/load.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';

export interface CheckOptions {
  /** A shipped strategy, a file, or with a configuration the id of one of its strategies. */
  readonly strategy: string;
  readonly config?: string;
  readonly set: readonly string[];
  readonly json: boolean;
  readonly signal?: AbortSignal;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

interface Checked {
  readonly strategy: string;
  readonly symbol: string;
  readonly interval: string;
  readonly klines: number;
  /** When the first of them opened and the last one, UTC ms. */
  readonly from: number;
  readonly to: number;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** Where it is not `something`, nothing could be compared. */
  readonly wished: Signalled;
  /** Why it was asked nothing, where that is why it wished nothing. */
  readonly unasked: string | undefined;
  readonly mistakes: readonly Mistake[];
  readonly leaks: readonly Leak[];
  readonly warmup: Warmup | undefined;
  /** Klines that it asks for to warm up, and those that could be looked at, which are more than are judged. */
  readonly history: { readonly declared: number; readonly there: number };
}

/** Klines that are looked at: each is asked about many times over. More only where warming up takes so many, and never above the second. */
const usualKlines = 2_500;
const mostKlines = 10_000;

/** Throws a `Refusal` with exit code 1 once everything is printed, where a strategy knows the future, wishes what cannot be, or nothing. */
export async function check(options: CheckOptions): Promise<void> {
  const { json, out, config, signal } = options;
  const { pace } = showPace('check', { clock: systemClock, signal, draw: undefined });
  const all: Checked[] = [];
  for (const input of await inputsOf(options)) all.push(await checkOne({ ...input, pace }));
  // A strategy that threw beside its decisions ends the program here, before anything is printed.
  await loopTurn();
  for (const one of all)
    if (json) out(JSON.stringify(jsonOf(one)));
    else for (const line of linesOf(one, config === undefined)) out(line);
  const faults = all.flatMap((one) => faultOf(one) ?? []);
  if (faults.length > 0) throw new Refusal(faults.join('\n'), 1);
}

/** Why it is not well, in one line. */
function faultOf({ strategy, klines, leaks, mistakes, wished, unasked }: Checked): string | undefined {
  if (leaks.length > 0) return `${strategy}: its backtests are not reliable until the leak is fixed`;
  if (mistakes.some(({ kind }) => kind === 'share')) return `${strategy}: a target is more than it can hold`;
  if (wished === 'something') return undefined;
  if (unasked !== undefined) return `${strategy}: ${unasked}: nothing was proven`;
  const never = wished === 'flat' ? 'emitted only flat targets' : 'emitted no signal';
  return `${strategy}: it ${never} on ${grouped(klines)} klines: nothing was proven`;
}

/** A run for each strategy that is meant, over the klines that are looked at. */
async function inputsOf({ strategy, config: given, set, say }: CheckOptions): Promise<readonly RunInput[]> {
  const file = given ?? join(home(), 'config', 'check.yaml');
  const own: readonly Setting[] = given === undefined ? settingsOf(strategy) : [];
  const settings = [...own, ...set.map(parseSetting)];
  const { input } = await prepare(file, readConfig(file, backtestSchema, settings), settings).catch(
    (error: unknown) => {
      if (given === undefined && error instanceof Refusal) throw aboutStrategy(error, file, strategy);
      throw error;
    },
  );
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

/** It takes the place of the one in the bundled configuration; the name of a file is its id as far as it can be one. */
function settingsOf(strategy: string): readonly Setting[] {
  const id = basename(strategy)
    .toLowerCase()
    .replace(/\.[cm]?[jt]s$/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 32);
  return [
    { path: ['strategies', 0, 'use'], value: isPath(strategy) ? resolve(strategy) : strategy },
    ...(id === '' ? [] : [{ path: ['strategies', 0, 'id'], value: id }]),
  ];
}

/** The bundled configuration, and what is set in it for the user, are nothing that he wrote. */
function aboutStrategy({ message, exitCode }: Refusal, file: string, strategy: string): Refusal {
  const text = message
    .replace(`${file} has a problem:\n  `, `${strategy}: `)
    .replace(`${file} has `, `${strategy} has `)
    .replaceAll(/(--set strategies\.0\.use|line \d+: strategies\.0\.params): /g, '');
  return new Refusal(text, exitCode);
}

/** One strategy by itself, over at most so many klines. */
function alone(input: RunInput, hosted: RunInput['hosted'][number]): RunInput {
  const { finer: _, ...recorded } = input.series.find(
    ({ symbol }) => symbol === hosted.symbol,
  ) as RunInput['series'][number];
  const series = recorded.interval === hosted.interval ? recorded : largerSeries(recorded, hosted.interval);
  const declared = warmupOf(hosted.strategy, hosted.params, hosted.interval);
  const before = Math.min(series.first, declared);
  const from = series.first - before;
  const to = Math.min(series.end, from + Math.min(mostKlines, Math.max(usualKlines, klinesToTest(declared))));
  return {
    ...input,
    hosted: [hosted],
    series: [{ ...series, columns: cut(series.columns, from, to), gaps: [], first: before, end: to - from }],
    allocations: input.allocations.filter(({ strategy }) => strategy === hosted.id),
  };
}

/** The same klines as those of a larger interval. */
function largerSeries(series: RunInput['series'][number], interval: Interval): RunInput['series'][number] {
  const { columns, knownAt } = aggregate(series.interval, interval, series.columns);
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
  const { openTime } = series.columns;
  const about = {
    ...{ strategy: hosted.id, symbol, interval, klines: series.end - series.first },
    ...{ from: openTime[series.first] as number, to: openTime[series.end - 1] as number, params: hosted.params },
    history: { declared: warmupOf(hosted.strategy, hosted.params, interval), there: openTime.length },
  };
  try {
    const log = await decisionLog(input, series.columns, series.first);
    const wished = signalledIn(log);
    const leaks = await leaksOf(input, log);
    // How long a strategy that knows the future needs its past says nothing.
    const warmup = leaks.length > 0 || wished !== 'something' ? undefined : await warmupNeeded(input);
    const unasked = wished === 'nothing' ? neverAskedText(hosted, series) : undefined;
    return { ...about, wished, unasked, mistakes: mistakesIn(log, input), leaks, warmup };
  } catch (error) {
    if (!isStrategyFault(error)) throw error;
    const who = error instanceof StrategyThrew ? '' : `; strategy ${hosted.id}`;
    throw new Refusal(`a strategy threw: ${faultText(error)}${who}`, 1);
  }
}

const kinds: Readonly<Record<Leak['kind'], string>> = {
  repeat: 'not repeatable',
  column: 'columns differ',
  truncation: 'knows the end',
  future: 'reads the future',
  forming: 'uses forming',
};

const row = (name: string, text: string): string => `${name.padEnd(17)} ${text}`;

/** `isBundled`: over the bundled configuration, which says nothing of what was meant. */
function linesOf(checked: Checked, isBundled: boolean): readonly string[] {
  const { strategy, symbol, interval, klines, from, to, params, leaks, mistakes } = checked;
  const values = Object.entries(params).map(([name, value]) => `${name} ${value}`);
  return [
    row(strategy, `${grouped(klines)} klines of ${symbol}, ${interval}, ${momentText(from)} to ${momentText(to)} UTC`),
    row('parameters', values.join(', ') || 'none'),
    ...(isBundled
      ? [
          row(
            'to change',
            '--set strategies.0.params.NAME=VALUE, --set strategies.0.interval=60min; other data, symbols and accounts: --config FILE',
          ),
        ]
      : []),
    ...mistakes.map(({ kind, at, times, description: what }) =>
      row(wishes[kind], `${momentText(at)}${times > 1 ? `, the first of ${grouped(times)}` : ''}: it ${what}`),
    ),
    ...(leaks.length > 0
      ? leaks.map(({ kind, at, description: what }) => row(kinds[kind], `${momentText(at)}: ${what}`))
      : provenLines(checked)),
  ];
}

const wishes: Readonly<Record<Mistake['kind'], string>> = { share: 'more than all', short: 'short on spot' };

function provenLines({ wished, unasked, klines, interval, warmup, history }: Checked): readonly string[] {
  if (wished === 'flat')
    return [
      row(
        'look-ahead',
        `n/a  (it emitted only flat targets on ${grouped(klines)} klines: nothing was proven. Does it read a field that is not there? A kline has openTime, open, high, low, close, volume)`,
      ),
    ];
  if (unasked !== undefined) return [row('look-ahead', `n/a  (${unasked}: nothing was proven)`)];
  if (wished === 'nothing')
    return [
      row(
        'look-ahead',
        'n/a  (it emitted no signal on these klines: use others with --config FILE; a strategy of trades or depth cannot be checked with klines)',
      ),
    ];
  return [
    row('look-ahead', 'none: with the future taken away, and with another one, it decides the same'),
    ...(warmup === undefined ? [row('warm-up', tooFew(interval, history))] : warmupLines(warmup, interval)),
  ];
}

/** Why nothing can be said of the warm-up, and what helps. */
function tooFew(interval: string, { declared, there }: Checked['history']): string {
  const takes = klinesToTest(declared);
  const way =
    takes > mostKlines
      ? `and a check looks at ${grouped(mostKlines)} at most: shorten its averages, or give it a larger interval`
      : `and here are ${grouped(there)}: give it more (--config FILE, with data of a longer time), or shorten its averages`;
  return `n/a  (${grouped(declared)} klines of ${interval} asked for; to say when decisions agree takes ${grouped(takes)}, ${way})`;
}

function warmupLines({ declared, decisions, indicators, tried }: Warmup, interval: string): readonly string[] {
  const agree = (what: string, count: number | undefined): string =>
    count === undefined ? `${what} do not agree within ${tried}` : `${what} agree after ${count}`;
  const live = `a live start has ${liveHistory(declared)}`;
  const limit = isEnough({ declared, decisions })
    ? `${live}: enough`
    : `${live}: until it has seen more, it may decide otherwise than a backtest`;
  return [
    row('warm-up', `${declared} klines of ${interval} asked for; ${agree('decisions', decisions)}; ${limit}`),
    ...Object.entries(indicators).map(([name, one]) =>
      row(`  ${name}`, `${one.declared} asked for; ${agree('values, to nine digits,', one.agrees)}`),
    ),
  ];
}

/** Whether a live start has the klines after which decisions agree. */
const isEnough = ({ declared, decisions }: Pick<Warmup, 'declared' | 'decisions'>): boolean =>
  decisions !== undefined && decisions <= liveHistory(declared);

const jsonOf = ({ warmup, wished, unasked, history, ...checked }: Checked): object => ({
  version: 2,
  ok: faultOf({ ...checked, wished, unasked, warmup, history }) === undefined,
  ...checked,
  emittedTargets: wished === 'something',
  warmup:
    warmup === undefined
      ? null
      : {
          ...warmup,
          decisions: warmup.decisions ?? null,
          enough: isEnough(warmup),
          indicators: Object.fromEntries(
            Object.entries(warmup.indicators).map(([name, one]) => [name, { ...one, agrees: one.agrees ?? null }]),
          ),
        },
});
