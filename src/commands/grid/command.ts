/** `sluice backtest --grid`: every combination of parameters, on all cores; a stopped grid resumes with the sets that are left. */

import { dirname, resolve } from 'node:path';
import { isRepeated, refuseOther } from '../../backtest/determinism-check.ts';
import { prepare } from '../../backtest/prepare/prepare.ts';
import { quoteAsset, type RunInput, spanOf } from '../../backtest/run.ts';
import { codeVersions } from '../../backtest/runs/identity.ts';
import { writeTables, writeWhole } from '../../backtest/runs/keep.ts';
import { type Axis, asSaved, type ParameterSet, parameterSets, readAxes } from '../../backtest/search/axes.ts';
import { findIn, type GridResult, missingIn, setText } from '../../backtest/search/grid-result.ts';
import { type ObjectiveName, objectiveOf } from '../../backtest/search/objective.ts';
import { hasRun, isFew, type Outcome } from '../../backtest/search/outcome.ts';
import { buyAndHoldReturns, maxReturns, type Overfitting, overfittingOf } from '../../backtest/search/overfitting.ts';
import { type GridPool, lastSetsMs, openPool, ThreadEnd } from '../../backtest/search/pool.ts';
import { type GridOrigin, gridReport, headOf, keepHead } from '../../backtest/search/saved-grids.ts';
import { gridFolder, gridId, gridName, savedSets } from '../../backtest/search/store.ts';
import { countGridTrials } from '../../backtest/search/trials.ts';
import { machineSteady, machineWall } from '../../clock/clock.ts';
import { parseSetting, readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { rateNumber } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { durationText } from '../../report/figures.ts';
import type { BacktestOptions } from '../backtest/run-prepared.ts';
import { gridCsv, gridLines } from './show.ts';

export interface GridOptions extends BacktestOptions {
  readonly grid: readonly string[];
  readonly objective?: ObjectiveName;
  readonly workers?: number;
  /** A line that the next one takes the place of; undefined where nobody watches. */
  readonly progress?: (line: string) => void;
}

export async function gridBacktest(options: GridOptions): Promise<void> {
  const { config: file, runs, say, signal } = options;
  const settings = options.set.map(parseSetting);
  const config = readConfig(file, backtestSchema, settings);
  const prepared = await prepare(file, config, settings);
  const { input } = prepared;
  const span = spanOf(input.series);
  for (const warning of prepared.warnings) say(`note: ${warning}`);
  refuseOthers(input);
  const axes = readAxes(options.grid, input.hosted);
  const sets = parameterSets(axes);
  const code = codeVersions(config, file);
  const id = gridId(prepared, config, { axes, code, sluice: options.sluice ?? '' });
  const kept = savedSets(runs === undefined ? undefined : gridFolder(runs), id);
  const known = asSaved(axes, sets);
  const outcomes: (Outcome | undefined)[] = known.map((set) => kept.get(set));
  const withReturns = (sets.length * (span.end - span.start)) / 86_400_000 <= maxReturns;
  // Those of a grid of too many sets were saved without their returns.
  const isOpen = (one: Outcome | undefined): boolean =>
    one === undefined || (withReturns && hasRun(one) && one.returns === null);
  const open = [...sets.keys()].filter((index) => isOpen(outcomes[index]));
  for (const index of open) outcomes[index] = undefined;
  if (open.length < sets.length)
    say(`${sets.length - open.length} of ${sets.length} parameter sets are complete already`);
  const judged = (): Overfitting | undefined =>
    withReturns ? overfittingOf(buyAndHoldReturns(input), outcomes) : undefined;
  let doubt: Overfitting | undefined;
  // A killed grid may have all of its sets, and have repeated none.
  if (open.length > 0 || !kept.isCompared()) {
    const stage = { input, dir: dirname(file), axes, riskFree: rateNumber(config.riskFree), withReturns };
    const pool = openPool(stage, options.workers, Math.max(open.length, 1));
    const watch = progressOf(open.length, options.progress);
    try {
      const came = (index: number, outcome: Outcome): void => {
        outcomes[index] = outcome;
        kept.add(known[index] ?? [], outcome);
        watch();
      };
      const givenUp = await pool.run(open, came, signal);
      if (signal?.aborted !== true) {
        const repeated = refuseRemembering(input, { pool, stage, axes, sets, outcomes }, signal);
        // Judged meanwhile: the repetitions run on other threads.
        doubt = judged();
        await repeated.then(kept.compared);
      }
      if (givenUp.length > 0) say(givenUpText(givenUp.map((index) => setText(axes, sets[index]))));
    } catch (error) {
      // Sets before it may come from the same faulty strategy.
      if (error instanceof Refusal) kept.forget();
      throw error instanceof ThreadEnd ? threadRefusal(error, setText(axes, sets[error.index])) : error;
    } finally {
      await pool.close();
    }
  }
  const tries = countGridTrials(options, { prepared, config, code, axes, sets, outcomes });
  doubt ??= judged();
  const objective = objectiveOf(options.objective ?? 'return');
  const result: GridResult = {
    objective,
    axes,
    sets,
    outcomes,
    tries,
    asset: quoteAsset(input),
    klines: span.of,
    doubt,
  };
  printGrid(options, result, { file, set: options.set, code, prepared }, id);
}

function printGrid(options: GridOptions, result: GridResult, of: GridOrigin, id: string): void {
  const { out, say, csv, runs, json } = options;
  const { prepared } = of;
  const { sets, outcomes } = result;
  const left = missingIn(result);
  const warnings = left === 0 ? prepared.warnings : [...prepared.warnings, unfinishedText(left, sets.length)];
  if (json) out(JSON.stringify({ ...gridJson(result), warnings }));
  else for (const line of gridLines(result, prepared.doubts)) out(line);
  if (csv !== undefined) say(`${writeCsv(csv, result, warnings).join(', ')} written`);
  const head = headOf(result, of, { id: gridName(id), at: machineWall(), warnings });
  if (runs !== undefined) keepHead(gridFolder(runs), head);
  if (options.report !== undefined) {
    const path = resolve(options.report === true ? 'grid.html' : options.report);
    writeWhole(path, [gridReport(head, outcomes)]);
    say(`report: ${path}`);
  }
  if (left > 0) say(leftText(left, sets.length, runs !== undefined));
  else refuseAllRefused(outcomes);
}

interface Done {
  readonly pool: GridPool;
  readonly stage: Parameters<typeof openPool>[0];
  readonly axes: readonly Axis[];
  readonly sets: readonly ParameterSet[];
  readonly outcomes: readonly (Outcome | undefined)[];
}

/** Undefined where it was stopped. */
async function outcomeOn(pool: GridPool, index: number, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
  let outcome: Outcome | undefined;
  const came = (_: number, one: Outcome): void => {
    outcome = one;
  };
  await pool.run([index], came, signal);
  return outcome;
}

/**
 * Repeats the first set on threads that have run others since, and the last on a thread that has run none. A count that grows shows in the
 * first; state that the first set leaves for later ones shows in the last.
 */
async function refuseRemembering({ hosted }: RunInput, done: Done, signal: AbortSignal | undefined): Promise<void> {
  const { pool, stage, axes, sets, outcomes } = done;
  if (sets.length < 2 || !isRepeated(hosted)) return;
  const refuseUnlike = async (index: number, on: GridPool): Promise<void> => {
    const first = outcomes[index];
    const again = (): Promise<Outcome | undefined> => outcomeOn(on, index, signal);
    if (hasRun(first)) await refuseOther(hosted, `the parameter set ${setText(axes, sets[index])}`, first, again);
  };
  const fresh = openPool(stage, 1, 1);
  const compared = await Promise.allSettled([
    refuseUnlike(outcomes.findIndex(hasRun), pool),
    refuseUnlike(outcomes.findLastIndex(hasRun), fresh),
  ]);
  await fresh.close();
  const failed = compared.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Fails a grid without a result, as a single run would fail. Everything is printed by then. */
function refuseAllRefused(outcomes: readonly (Outcome | undefined)[]): void {
  const [first] = outcomes;
  if (first === undefined || outcomes.some(hasRun) || hasRun(first)) return;
  throw new Refusal(`no parameter set could run: ${first.refused}`, 1);
}

/** Parameter sets that were still running when the grid was stopped: slow or endless ones. */
const givenUpText = (names: readonly string[]): string =>
  `note: abandoned because still running ${lastSetsMs / 1000} s after the stop: ${names.join('; ')} (a strategy that is slow there, or never returns)`;

const threadRefusal = ({ message }: ThreadEnd, set: string): Refusal =>
  new Refusal(
    `the parameter set ${set} ended its thread (${message}): reduce the memory that the strategy uses, or exclude this set; complete parameter sets are not run again`,
    1,
  );

const unfinishedText = (left: number, of: number): string =>
  `Stopped: ${left.toLocaleString('en')} of ${of.toLocaleString('en')} parameter sets did not run and are not in this report`;

function leftText(left: number, of: number, isKept: boolean): string {
  if (left === of)
    return `stopped before the first of ${of} parameter sets was complete: nothing was saved. Run the same command to start again`;
  const stopped = `stopped with ${left} of ${of} parameter sets not run`;
  return isKept
    ? `${stopped}; the others are saved. Run the same command to continue`
    : `${stopped}; nothing was saved (--no-save). Run the same command to start again`;
}

/** A grid runs over klines and counts in one currency. */
function refuseOthers({ tapes, currencies }: RunInput): void {
  if (tapes !== undefined)
    throw new Refusal(
      'a grid runs over klines: set fidelity: klines (--set fidelity=klines), then run the chosen parameter set by itself',
    );
  if (currencies !== undefined)
    throw new Refusal('a grid has one currency: use one configuration for the strategies of each currency');
}

/** Rate and remaining time, at most ten times a second. */
function progressOf(total: number, show: GridOptions['progress']): () => void {
  const startedAt = machineSteady();
  let done = 0;
  let shownAt = startedAt;
  return () => {
    done++;
    const now = machineSteady();
    if (show === undefined || (now - shownAt < 100 && done < total)) return;
    shownAt = now;
    const each = (now - startedAt) / done;
    show(
      `${done} of ${total} parameter sets, ${(1000 / each).toFixed(1)} a second, ${durationText(each * (total - done))} left`,
    );
  };
}

const overfittingJson = ({ independent, sets, ...doubt }: Overfitting): object => ({
  ...doubt,
  parameterSets: sets,
  independentTrials: independent,
});

function gridJson(result: GridResult): object {
  const { objective, axes, sets, outcomes, tries, asset, klines, doubt } = result;
  const { best, plateau } = findIn(result);
  const named = (index: number): object => ({
    params: Object.fromEntries(axes.map(({ strategy, param }, axis) => [`${strategy}.${param}`, sets[index]?.[axis]])),
    ...outcomes[index],
    ...(hasRun(outcomes[index]) && { ranked: !isFew(outcomes[index]) }),
    // What PBO and SPA are made of; thousands of numbers for each set.
    returns: undefined,
  });
  return {
    version: 2,
    objective: objective.name,
    axes: axes.map(({ strategy, param, values }) => ({ strategy, param, values })),
    asset,
    klines,
    trials: tries,
    overfitting: doubt === undefined ? null : overfittingJson(doubt),
    notRanked: outcomes.filter(isFew).length,
    best: best === undefined ? null : named(best),
    plateau:
      plateau === undefined
        ? null
        : {
            centre: named(plateau.centre),
            size: plateau.sets.length,
            mean: plateau.mean,
            worst: plateau.worst,
            best: plateau.best,
          },
    parameterSets: [...sets.keys()].map(named),
  };
}

function writeCsv(dir: string, result: GridResult, warnings: readonly string[]): readonly string[] {
  const [table = '', ...notes] = writeTables(dir, [['grid.csv', [gridCsv(result)]]], warnings);
  return [resolve(dir, table), ...notes];
}
