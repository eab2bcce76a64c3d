/** `sluice check STRATEGY`: whether it knows the future, and how much history it needs. */

import { basename, dirname, join, resolve } from 'node:path';
import {
  type Checked,
  type CheckedMarket,
  checkStrategy,
  faultOf,
  inputFor,
  isEnough,
  maxKlines,
} from '../../backtest/check/check.ts';
import type { Mistake } from '../../backtest/check/decision-summary.ts';
import type { Leak } from '../../backtest/check/lookahead.ts';
import { klinesToTest, type Warmup } from '../../backtest/check/warmup.ts';
import { partsOf } from '../../backtest/engine/currencies.ts';
import { prepare } from '../../backtest/prepare/prepare.ts';
import { showPace } from '../../backtest/progress.ts';
import type { RunInput } from '../../backtest/run.ts';
import { loopTurn, systemClock } from '../../clock/clock.ts';
import { parseSetting, readConfig, type Setting } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { home } from '../../config/shipped.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { counted, grouped } from '../../domain/words.ts';
import { momentText } from '../../report/figures.ts';
import { isPath } from '../../strategy/load.ts';
import type { Output } from '../../terminal/output.ts';

export interface CheckOptions extends Output {
  /** A shipped strategy, a file, or with a configuration the id of one of its strategies. */
  readonly strategy: string;
  readonly config?: string;
  readonly set: readonly string[];
  readonly signal?: AbortSignal;
}

/** Throws a `Refusal` with exit code 1 once everything is printed, where a strategy knows the future, mistakes what cannot be, or nothing. */
export async function check(options: CheckOptions): Promise<void> {
  const { json, out, config, signal } = options;
  const { pace } = showPace('check', { clock: systemClock, signal, draw: undefined });
  const all: Checked[] = [];
  for (const input of await inputsOf(options)) all.push(await checkStrategy({ ...input, pace }));
  // A strategy that threw beside its decisions ends the program here, before anything is printed.
  await loopTurn();
  for (const one of all)
    if (json) out(JSON.stringify(jsonOf(one)));
    else for (const line of linesOf(one, config === undefined)) out(line);
  const faults = all.flatMap((one) => faultOf(one) ?? []);
  if (faults.length > 0) throw new Refusal(faults.join('\n'), 1);
}

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
    ({ id, use: configured }) =>
      given === undefined || id === strategy || configured === strategy || isSameFile(configured, file, strategy),
  );
  if (meant.length === 0) {
    const ids = input.hosted.map(({ id }) => id);
    throw new Refusal(
      `${file} has no strategy ${strategy}${didYouMean(strategy, ids)}; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ')}`,
    );
  }
  const { tapes: _, cashFlows: __, ...overKlines } = input;
  if (input.tapes !== undefined) say('note: the check uses klines only and ignores trades and depth');
  return meant.map((hosted) => {
    const part = partsOf(overKlines).find((one) => one.hosted.includes(hosted));
    return inputFor(part ?? overKlines, hosted);
  });
}

/** A file by another path, from the working directory: the configuration says it from its own. */
const isSameFile = (configured: string, file: string, strategy: string): boolean =>
  isPath(configured) && isPath(strategy) && resolve(dirname(file), configured) === resolve(strategy);

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
  const several = / line \d+: strategies\.0\.(markets|symbols): is missing: (.*)$/.exec(text);
  if (several === null) return new Refusal(text, exitCode);
  const [, , needs = ''] = several;
  return new Refusal(
    `${strategy}: ${needs}, in a configuration of your own: sluice check ${strategy} --config FILE. The bundled one has one market`,
    exitCode,
  );
}

const kinds: Readonly<Record<Leak['kind'], string>> = {
  notRepeatable: 'not repeatable',
  columnsDiffer: 'columns differ',
  knowsTheEnd: 'knows the end',
  readsTheFuture: 'reads the future',
  usesForming: 'uses forming',
};

const row = (name: string, text: string): string => `${name.padEnd(17)} ${text}`;

/** `isBundled`: over the bundled configuration, which says nothing of what was meant. */
export function linesOf(checked: Checked, isBundled: boolean): readonly string[] {
  const { strategy, symbol, interval, klines, from, to, params, leaks, mistakes, markets } = checked;
  const values = Object.entries(params).map(([name, value]) => `${name} ${value}`);
  return [
    row(
      strategy,
      `${grouped(klines)} ${markets === undefined ? `klines of ${symbol}` : `moments of ${marketCount(markets)}`}, ${interval}, ${momentText(from)} to ${momentText(to)} UTC`,
    ),
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
      row(mistakeNames[kind], `${momentText(at)}${times > 1 ? `, the first of ${grouped(times)}` : ''}: it ${what}`),
    ),
    ...(leaks.length > 0
      ? leaks.map(({ kind, at, description: what }) => row(kinds[kind], `${momentText(at)}: ${what}`))
      : provenLines(checked)),
  ];
}

const mistakeNames: Readonly<Record<Mistake['kind'], string>> = {
  moreThanAll: 'more than all',
  shortOnSpot: 'short on spot',
};

function provenLines({
  emitted,
  notCalled,
  klines,
  interval,
  warmup,
  history,
  span,
  markets,
}: Checked): readonly string[] {
  const unproven =
    emitted === 'flat'
      ? `it emitted only flat targets on ${counted(klines, 'kline')}: nothing was proven. Does it read a field that does not exist? A kline has openTime, open, high, low, close, volume`
      : notCalled !== undefined
        ? `${notCalled}: nothing was proven`
        : 'it emitted no signal on these klines: use others with --config FILE; a strategy of trades or depth cannot be checked with klines';
  if (emitted !== 'something' || notCalled !== undefined) return [row('look-ahead', `n/a  (${unproven})`)];
  return [
    row('look-ahead', 'none: without later klines, and with changed ones, decisions are the same'),
    ...(warmup === undefined
      ? [row('warm-up', tooFew(interval, history, span))]
      : warmupLines(warmup, interval, history, markets === undefined)),
    ...(markets === undefined ? [] : marketLines(markets)),
  ];
}

/** Why nothing can be said of the warm-up, and what helps. */
function tooFew(interval: string, { declared, available }: Checked['history'], span: number): string {
  const takes = klinesToTest(declared, span);
  const way =
    takes > maxKlines
      ? `and a check reads at most ${grouped(maxKlines)}: use shorter averages or a larger interval`
      : `and ${grouped(available)} are available: use more data (--config FILE) or shorter averages`;
  return `n/a  (${grouped(declared)} klines of ${interval} declared; measuring needs ${grouped(takes)}, ${way})`;
}

function warmupLines(
  { declared, decisions, indicators, tried }: Warmup,
  interval: string,
  history: Checked['history'],
  hasOneMarket: boolean,
): readonly string[] {
  const agree = (what: string, count: number | undefined): string =>
    count === undefined ? `${what} do not agree within ${tried}` : `${what} agree after ${count}`;
  const live = `a live start has ${history.live}`;
  // It counts klines of each market, which may have another interval.
  const longer = (count: number): string => (hasOneMarket ? `warmup: () => ${count}` : 'a larger warmup');
  const advice =
    decisions === undefined
      ? `Declare ${longer(2 * tried)} and check again; if they never agree, they depend on where the history begins`
      : `Declare ${longer(decisions)}, so that a live start loads as many`;
  const limit = isEnough({ decisions }, history)
    ? `${live}: enough`
    : `${live}: until it has more, its decisions may differ from a backtest. ${advice}`;
  return [
    row('warm-up', `${declared} klines of ${interval} declared; ${agree('decisions', decisions)}; ${limit}`),
    ...Object.entries(indicators).map(([name, one]) =>
      row(
        `  ${name}`,
        `${one.declared} declared${one.market === undefined ? '' : ` of ${one.market}`}; ${agree('values, to nine digits,', one.agrees)}`,
      ),
    ),
  ];
}

const marketCount = (markets: readonly CheckedMarket[]): string =>
  markets.length === 1 ? '1 market' : `${markets.length} markets`;

/** One line for the markets of a list, which all need the same; one for each role. */
function marketLines(markets: readonly CheckedMarket[]): readonly string[] {
  const [first] = markets;
  const need = ({ interval, declared, live }: CheckedMarket): string =>
    `${declared} klines of ${interval} declared, a live start has ${live}`;
  if (first === undefined || markets.some(({ role, symbol }) => role !== symbol))
    return markets.map((one) =>
      row(`  ${one.role}`, `${one.symbol}${one.use === 'data' ? ', data alone' : ''}: ${need(one)}`),
    );
  const without = markets.filter(({ klines }) => klines === 0).map(({ symbol }) => symbol);
  return [row('  each symbol', need(first)), ...(without.length === 0 ? [] : [row('  no klines', without.join(', '))])];
}

const jsonOf = ({ warmup, emitted, notCalled, history, span, ...checked }: Checked): object => ({
  version: 2,
  ok: faultOf({ ...checked, emitted, notCalled, warmup, history, span }) === undefined,
  ...checked,
  emittedTargets: emitted === 'something',
  warmup:
    warmup === undefined
      ? null
      : {
          ...warmup,
          decisions: warmup.decisions ?? null,
          enough: isEnough(warmup, history),
          indicators: Object.fromEntries(
            Object.entries(warmup.indicators).map(([name, one]) => [name, { ...one, agrees: one.agrees ?? null }]),
          ),
        },
});
