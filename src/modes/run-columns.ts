/** Runs over columns: in short numbers where that is possible, else the long way; the rows are the same. */
import { ColumnRun } from './column-run.ts';
import type { RunInput, RunResult } from './run.ts';
import { shortRun } from './short-run.ts';

export function runColumns(input: RunInput): RunResult {
  const short = shortRun(input);
  return short?.advance(Number.POSITIVE_INFINITY) === true ? short.result() : runLong(input);
}

/** With every rule asked, and every amount exact whatever its size. */
export const runLong = (input: RunInput): RunResult => new ColumnRun(input).run();
