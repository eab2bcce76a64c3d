/** The decision log of a strategy: its inputs and its signal after each kline, also where it emitted none. */
import { Refusal } from '../../domain/refusal.ts';
import { isStreaming } from '../../strategy/contract.ts';
import { isStrategyFault } from '../../strategy/fault.ts';
import { runBacktest } from '../engines.ts';
import type { RunInput } from '../run.ts';
import { type CheckedKlines, runSeries } from './columns.ts';
import { type Line, recordedStrategy } from './recorded-strategy.ts';

export interface DecisionLog {
  /** By row of the klines; undefined where the strategy was not asked. */
  readonly lines: readonly (Line | undefined)[];
  /** A row at which two calls with the same input gave different answers. */
  readonly unsteady: number | undefined;
}

export const sameLine = (a: Line | undefined, b: Line | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.signal === b.signal && sameSeen(a.seen, b.seen));

const sameSeen = (a: Line['seen'], b: Line['seen']): boolean =>
  Object.keys(a).every((name) => a[name] === b[name]) && Object.keys(b).length === Object.keys(a).length;

/**
 * Runs the one strategy of `input` over these klines, from row `first` on. `isInvented`: the klines are made up, so the strategy may throw,
 * which ends the log.
 */
export async function decisionLog(
  input: RunInput,
  klines: CheckedKlines,
  first: number,
  isInvented = false,
): Promise<DecisionLog> {
  const [hosted] = input.hosted;
  if (hosted === undefined) throw new Error('a check runs one strategy');
  // A check is hundreds of runs; signals of the system arrive between them.
  if ((await input.pace?.(0, 1)) === true) throw new Refusal('stopped before the check was complete', 1);
  const rows = new Map(Array.from(klines.times, (time, row) => [time, row]));
  const lines = new Array<Line | undefined>(klines.times.length).fill(undefined);
  let unsteady: number | undefined;
  const note = (time: number, line: Line): void => {
    const row = rows.get(time);
    if (row === undefined) return;
    const before = lines[row];
    if (before !== undefined && !isStreaming(hosted.strategy) && !sameLine(before, line)) unsteady ??= row;
    lines[row] = line;
  };
  const strategy = recordedStrategy(hosted.strategy, note);
  const run: RunInput = { ...input, hosted: [{ ...hosted, strategy }], series: runSeries(klines, first) };
  try {
    await runBacktest(run, 'silent');
  } catch (error) {
    if (!isInvented || !isStrategyFault(error)) throw error;
  }
  return { lines, unsteady };
}
