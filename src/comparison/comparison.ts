/** The live results of each strategy of a daemon beside the saved backtest that is the most like it. */
import { dirname, join, resolve } from 'node:path';
import { readFillsCsv } from '../backtest/runs/rows.ts';
import { type KeptRun, readRun, readRunFile } from '../backtest/runs/store.ts';
import { parseSetting, readConfig } from '../config/read.ts';
import { type BacktestConfig, backtestSchema, type StrategyConfig } from '../config/schema.ts';
import type { ComparisonView, StrategyComparison } from '../dashboard/machine/comparison.ts';
import { instrument } from '../domain/instrument.ts';
import { intervalMs } from '../domain/interval.ts';
import { unitsNumber } from '../domain/money.ts';
import { orRefusal, Refusal } from '../domain/refusal.ts';
import { csvRows } from '../report/csv.ts';
import { momentText } from '../report/figures.ts';
import { isPath } from '../strategy/load.ts';
import { figuresOf, measured, type Results, sameDays } from './figures.ts';
import { type LiveStrategy, liveStrategies } from './live-results.ts';

/** Runs of the same strategy that are looked into, newest first. */
const maxCandidates = 50;

/** A strategy of a saved run. */
interface Candidate {
  readonly folder: string;
  readonly run: KeptRun;
  readonly config: BacktestConfig;
  readonly strategy: StrategyConfig;
  readonly differences: Differences;
}

interface Differences {
  readonly markets: readonly string[];
  readonly params: readonly string[];
  readonly code: readonly string[];
}
const weightOf = ({ markets, params, code }: Differences): number =>
  (markets.length > 0 ? 4 : 0) + (params.length > 0 ? 2 : 0) + (code.length > 0 ? 1 : 0);

/** Names a strategy's code wherever it is configured: a shipped one by its name, a file by its path. */
const codePath = (use: string, dir: string): string => (isPath(use) ? resolve(dir, use) : use);

const marketsText = ({ symbol, markets, symbols, interval }: StrategyConfig): string =>
  `${
    symbols?.join(', ') ??
    (markets === undefined
      ? symbol
      : Object.values(markets)
          .map((one) => one.symbol)
          .join(', '))
  } ${interval}`;

function differencesOf(live: LiveStrategy, strategy: StrategyConfig, code: string | undefined): Differences {
  const [own, its] = [marketsText(live.config), marketsText(strategy)];
  const names = [...new Set([...Object.keys(live.config.params), ...Object.keys(strategy.params)])];
  const text = (value: unknown): string => (value === undefined ? 'the default' : JSON.stringify(value));
  return {
    markets: own === its ? [] : [`Markets: ${own} live, ${its} in the backtest`],
    params: names.flatMap((name) => {
      const [mine, other] = [text(live.config.params[name]), text(strategy.params[name])];
      return mine === other ? [] : [`Parameter ${name}: ${mine} live, ${other} in the backtest`];
    }),
    code: live.code === code ? [] : ['Code: another version, or the same under another path, ran in the backtest'],
  };
}

/** The saved run that is the most like a strategy, of these the newest. `folders`: newest first. */
function candidateFor(live: LiveStrategy, dir: string, folders: readonly string[]): Candidate | undefined {
  const path = codePath(live.config.use, dir);
  const candidates: Candidate[] = [];
  for (const folder of folders) {
    if (candidates.length >= maxCandidates) break;
    const run = orRefusal(() => readRun(folder));
    if (run instanceof Refusal) continue;
    const { file, set } = run.configuration;
    const same = run.code.filter(({ use, sha256 }) => codePath(use, dirname(file)) === path || sha256 === live.code);
    if (same.length === 0) continue;
    const config = orRefusal(() =>
      readConfig(join(folder, 'configuration.yaml'), backtestSchema, set.map(parseSetting)),
    );
    if (config instanceof Refusal) continue;
    for (const { strategy: id, sha256 } of same) {
      const strategy = config.strategies.find((one) => one.id === id);
      if (strategy === undefined) continue;
      candidates.push({ folder, run, config, strategy, differences: differencesOf(live, strategy, sha256) });
    }
  }
  // The order of equal ones stays.
  return candidates.toSorted((a, b) => weightOf(a.differences) - weightOf(b.differences))[0];
}

/** Codes of refused orders that no rule of ours denied. */
const notDenied: ReadonlySet<string> = new Set(['rejected', 'unfilled', 'waiting', 'short', 'stop']);

function backtestResults({ folder, run, config, strategy: { id, allocation } }: Candidate): Results {
  const { summary } = run;
  const instruments = new Map(run.instruments.map((one) => [one.symbol, instrument(one)]));
  const all = readFillsCsv(readRunFile(folder, 'fills.csv') ?? '', instruments);
  const orders = readRunFile(folder, 'orders.csv');
  const sent =
    orders !== undefined
      ? csvRows(orders).filter((row) => row['strategy'] === id).length
      : config.strategies.length === 1
        ? summary.requestWeight.orders
        : undefined;
  const denied = summary.refused.reduce(
    (total, row) => total + (row.strategy === id && !notDenied.has(row.code) ? row.times : 0),
    0,
  );
  return {
    ...{ fills: all.filter(({ strategy }) => strategy === id), instruments, from: summary.from, to: summary.to },
    capital: unitsNumber(allocation ?? config.cash),
    // Prices at the approval of an order are not saved.
    slippage: null,
    denialShare: sent === undefined || sent + denied === 0 ? null : denied / (sent + denied),
  };
}

function noDaysText(live: Results, backtest: Results): string | undefined {
  if (backtest.to < live.from)
    return `The backtest ends ${momentText(backtest.to)}, before the strategy ran live (${momentText(live.from)}). Run it again over newer data to compare the same days.`;
  if (backtest.from > live.to)
    return `The backtest begins ${momentText(backtest.from)}, after the last live day (${momentText(live.to)}).`;
  return undefined;
}

function compareOne(live: LiveStrategy, dir: string, folders: readonly string[]): StrategyComparison {
  const { config, results } = live;
  const found = candidateFor(live, dir, folders);
  const own = results === undefined ? undefined : measured(results);
  const other = found === undefined ? undefined : measured(backtestResults(found));
  const noDays = own !== undefined && other !== undefined ? noDaysText(own, other) : 'There is nothing to compare yet.';
  const both =
    own !== undefined && other !== undefined && noDays === undefined
      ? sameDays(own, other, intervalMs(config.interval, own.from))
      : undefined;
  const differences = found?.differences;
  return {
    ...{ strategy: config.id, use: config.use, noDays },
    live: own === undefined ? null : figuresOf(own),
    run: found === undefined ? null : { id: found.run.id, at: found.run.at, strategy: found.strategy.id },
    backtest: other === undefined ? null : figuresOf(other),
    differences: differences === undefined ? [] : [...differences.code, ...differences.params, ...differences.markets],
    days: both?.days ?? [],
    priceDifference: both?.priceDifference ?? null,
  };
}

/** `folders`: of saved runs, newest first. */
export function comparisonOf(stateDir: string, folders: readonly string[]): ComparisonView {
  const { dir, strategies, notes } = liveStrategies(stateDir);
  return { strategies: strategies.map((one) => compareOne(one, dir, folders)), notes };
}
