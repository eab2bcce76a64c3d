/** A worker of a grid: it has the strategies of its own and the klines in memory that all workers share, and runs cells. */
import { parentPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { loopTurn, realMs } from '../../clock/clock.ts';
import type { Setting } from '../../config/read.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { rateNumber } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { faultText, isStrategyFault, SignalError, strayText } from '../../strategy/fault.ts';
import { readParams } from '../../strategy/params.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { runBacktest } from '../engines.ts';
import { shortFault, warmingOf } from '../prepare/data-checks.ts';
import { type Cast, castOf, inputOf } from '../prepare/prepare.ts';
import type { RunInput, RunSeries } from '../run.ts';
import { type Axis, type Cell, cellsOf } from './axes.ts';
import { remembering } from './indicator-memory.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** What a worker is given when it starts. */
export interface Stage {
  readonly file: string;
  readonly config: BacktestConfig;
  readonly settings: readonly Setting[];
  readonly series: readonly RunSeries[];
  readonly axes: readonly Axis[];
  /** Outcomes tell the return of each day. */
  readonly withReturns: boolean;
}

/** What all workers run together, in memory that they share: each takes the next cell when it is free, whatever one takes. */
export interface Share {
  /** Places in the grid. */
  readonly open: Int32Array;
  /** One number: how many of them are taken; more than there are where none is left. */
  readonly taken: Int32Array;
  /** One number, of one thread alone: one more than the place of the cell that it is at, or 0. */
  readonly at: Int32Array;
}

/** Of each cell as it ends: what comes after it may take long, or for ever. */
export interface Told {
  readonly index: number;
  readonly outcome: Outcome;
}

/** Why no cell can be believed: a text of a refusal, whose class would be lost on the way, or an error of ours. */
export interface Fault {
  readonly fault: unknown;
}

/** After so long a task ends with its cell, and the next one begins: what strategies log gets out in between. */
const taskMs = 100;

// It would end this thread alone, and take the cells after it with it.
process.exit = () => {
  throw new SignalError('process.exit() is not for a strategy, which only emits signals');
};

/** Returned by every task from then on. A message could arrive after the end of its task, when the grid already counts as a success. */
let fault: Fault | undefined;
process.on('uncaughtException', (error: Error) => {
  fault ??= { fault: strayText(error) ?? error };
  // A task that never ends does not return it.
  parentPort?.postMessage(fault);
});

const stage = Piscina.workerData as Stage;
const cells = cellsOf(stage.axes);
const cast = readyCast().catch((error: unknown): undefined => {
  fault ??= { fault: error instanceof Refusal ? error.message : error };
});

async function readyCast(): Promise<Cast> {
  const { file, config, settings } = stage;
  const plain = await castOf(file, config, settings);
  return { ...plain, hosted: plain.hosted.map((one) => ({ ...one, strategy: remembering(one.strategy) })) };
}

/** The strategies with a cell's parameters; a text says why they refuse them. */
function withCell(hosted: readonly NamedHosted[], cell: Cell): readonly NamedHosted[] | string {
  const changed: NamedHosted[] = [];
  for (const one of hosted) {
    const given = { ...one.params };
    for (const [index, { strategy, param }] of stage.axes.entries())
      if (strategy === one.id) Object.assign(given, { [param]: cell[index] });
    const { values, problems } = readParams(one.strategy.params, given);
    const [problem] = problems;
    const fault = problem === undefined ? one.strategy.check?.(values) : `${problem.name} ${problem.problem}`;
    if (fault !== undefined) return fault;
    changed.push({ ...one, params: values });
  }
  return changed;
}

/** Of a cell that can never decide nothing is worth comparing: among those that lose it would be the best. */
function shortIn({ hosted, series }: RunInput): string | undefined {
  for (const { symbol, interval, columns, end } of series) {
    const asked = { symbol, interval, openTime: columns.openTime, source: symbol };
    const fault = shortFault(asked, end, hosted.filter((one) => one.symbol === symbol).map(warmingOf));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function runCell(ready: Cast, cell: Cell): Promise<Outcome> {
  const hosted = withCell(ready.hosted, cell);
  if (typeof hosted === 'string') return { refused: hosted };
  const input = inputOf(stage.config, { ...ready, hosted }, stage.series);
  try {
    const short = shortIn(input);
    if (short !== undefined) return { refused: short };
    const riskFree = rateNumber(stage.config.riskFree);
    return outcomeOf(input, await runBacktest(input), { riskFree, withReturns: stage.withReturns });
  } catch (error) {
    // A cell that a run by itself refuses, such as quotes over klines.
    if (error instanceof Refusal) return { refused: error.message };
    if (!isStrategyFault(error)) throw error;
    return { refused: `it threw: ${faultText(error)}` };
  }
}

/** Takes cells and tells of each, until none is left or its time is over. */
export default async function runCells({ open, taken, at }: Share): Promise<Fault | undefined> {
  const ready = await cast;
  if (ready === undefined) return fault;
  const until = realMs() + taskMs;
  do {
    const index = open[Atomics.add(taken, 0, 1)];
    if (index === undefined) break;
    Atomics.store(at, 0, index + 1);
    tell({ index, outcome: await runCell(ready, cells[index] ?? []) });
    Atomics.store(at, 0, 0);
  } while (realMs() < until);
  // Timers and promises of strategies: between two tasks this thread stands still.
  await loopTurn();
  return fault;
}

function tell(told: Told): void {
  parentPort?.postMessage(told);
}
