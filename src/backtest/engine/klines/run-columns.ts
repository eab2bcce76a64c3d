/** Runs over klines at once, of strategies that decide: in safe integers where that is possible, else in full; the rows are the same. */

import { fastRun } from '../../fast/run.ts';
import type { RunInput, RunResult } from '../../run.ts';
import { closedAtEnd } from '../end-close.ts';
import { KlineEngine } from './engine.ts';
import type { Told } from './strategy-cursor.ts';

export function runColumns(input: RunInput): RunResult {
  const short = fastRun(input);
  const isShort = short?.advance(Number.POSITIVE_INFINITY) === 'through';
  return closedAtEnd(input, isShort ? short.result() : runLong(input, short?.told));
}

/** With every rule asked, and every amount exact whatever its size. */
export function runLong(input: RunInput, told?: Told): RunResult {
  const run = new KlineEngine(input, { told });
  run.advance(Number.POSITIVE_INFINITY);
  return run.result();
}
