/** A worker of a grid: it has its own strategies, shares the klines with all workers, and runs parameter sets. */
import { parentPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { loopTurn } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { errorText, isStrategyFault, SignalError, strayText } from '../../strategy/fault.ts';
import { readParams } from '../../strategy/params.ts';
import { loadHosted, type Unloaded } from '../../trading/load-hosted.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { runBacktest } from '../engines.ts';
import { shortFault, warmingOn } from '../prepare/data-checks.ts';
import type { RunInput } from '../run.ts';
import { type Axis, type ParameterSet, parameterSets, paramsIn } from './axes.ts';
import { withSharedColumns } from './indicator-memory.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** What all workers run. */
export interface Stage {
  /** The run with the parameters of the configuration, by which the strategies are sized up already. */
  readonly input: RunInput;
  /** The directory of strategies' relative paths. */
  readonly dir: string;
  readonly axes: readonly Axis[];
  /** Yearly, as a fraction. */
  readonly riskFree: number;
  /** Outcomes contain the return of each day. */
  readonly withReturns: boolean;
}

/** In memory that the threads share. */
export interface WorkerData extends Omit<Stage, 'input'> {
  readonly input: Omit<RunInput, 'hosted'> & { readonly hosted: readonly Unloaded[] };
  /** 1 after an abort: no thread begins another set. */
  readonly isStopped: Int32Array;
  /** By index of a parameter set: 1 once a thread has begun it. */
  readonly isBegun: Uint8Array;
}

/** Why no outcome can be trusted: the text of a refusal, or an error that is a bug. */
export interface Fault {
  readonly fault: unknown;
}

/** Undefined where the set was not begun. */
export type Reply = Outcome | Fault | undefined;

// It would end this thread alone.
process.exit = () => {
  throw new SignalError('a strategy must not call process.exit(): it only emits signals');
};

/** Returned by every later task, too: a message could arrive when the grid is already done. */
let fault: Fault | undefined;
process.on('uncaughtException', (error: Error) => {
  fault ??= { fault: strayText(error) ?? error };
  // A task that never ends returns nothing.
  parentPort?.postMessage(fault);
});

const stage = Piscina.workerData as WorkerData;
const sets = parameterSets(stage.axes);
const ready = Promise.all(stage.input.hosted.map(loaded)).catch((error: unknown): undefined => {
  fault ??= { fault: error instanceof Refusal ? error.message : error };
});

async function loaded(one: Unloaded): Promise<NamedHosted> {
  const hosted = await loadHosted(one, stage.dir);
  return { ...hosted, strategy: withSharedColumns(hosted.strategy) };
}

/** The strategies with a parameter set, or why they refuse it. */
function withSet(hosted: readonly NamedHosted[], set: ParameterSet): readonly NamedHosted[] | string {
  const changed: NamedHosted[] = [];
  for (const one of hosted) {
    const given = { ...one.params, ...paramsIn(stage.axes, one.id, set) };
    const { values, problems } = readParams(one.strategy.params, given);
    const [problem] = problems;
    const fault = problem === undefined ? one.strategy.check?.(values) : `${problem.name} ${problem.problem}`;
    if (fault !== undefined) return fault;
    changed.push({ ...one, params: values });
  }
  return changed;
}

/** Why a set can never decide: among sets that lose money it would be the best. */
function shortIn({ hosted, series }: RunInput): string | undefined {
  for (const { symbol, interval, columns, end } of series) {
    const asked = { symbol, interval, openTime: columns.openTime, source: symbol };
    const fault = shortFault(asked, end, warmingOn(hosted, symbol));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function outcomeWith(all: readonly NamedHosted[], set: ParameterSet): Promise<Outcome> {
  const hosted = withSet(all, set);
  if (typeof hosted === 'string') return { refused: hosted };
  const input: RunInput = { ...stage.input, hosted };
  try {
    const short = shortIn(input);
    if (short !== undefined) return { refused: short };
    return outcomeOf(input, await runBacktest(input), stage);
  } catch (error) {
    // A single run would be refused, too, such as quotes over klines.
    if (error instanceof Refusal) return { refused: error.message };
    if (!isStrategyFault(error)) throw error;
    return { refused: `it threw: ${errorText(error)}` };
  }
}

export default async function runSet(index: number): Promise<Reply> {
  const hosted = await ready;
  if (hosted === undefined) return fault;
  Atomics.store(stage.isBegun, index, 1);
  if (Atomics.load(stage.isStopped, 0) === 1) {
    Atomics.store(stage.isBegun, index, 0);
    return undefined;
  }
  const outcome = await outcomeWith(hosted, sets[index] ?? []);
  // Timers and promises that a strategy left: between two tasks this thread stands still.
  await loopTurn();
  return fault ?? outcome;
}
