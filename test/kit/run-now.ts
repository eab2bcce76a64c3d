/** Backtests over klines of strategies that decide, without waiting. */
import { closedAtEnd } from '../../src/backtest/engine/end-close.ts';
import { KlineEngine } from '../../src/backtest/engine/klines/engine.ts';
import type { StrategyAnswers } from '../../src/backtest/engine/klines/strategy-cursor.ts';
import { fastRun } from '../../src/backtest/fast/run.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';

/** By the fast engine where it supports the run, else by the one over klines. */
export function runNow(input: RunInput): RunResult {
  const fast = fastRun(input);
  const isFast = fast?.advance(Number.POSITIVE_INFINITY) === 'done';
  return closedAtEnd(input, isFast ? fast.result() : runByKlines(input, fast?.answers));
}

/** By the engine over klines, whatever the fast one supports. */
export function runByKlines(input: RunInput, answers?: StrategyAnswers): RunResult {
  const engine = new KlineEngine(input, { answers });
  engine.advance(Number.POSITIVE_INFINITY);
  return engine.result();
}
