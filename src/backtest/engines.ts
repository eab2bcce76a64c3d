/** Runs a backtest. The one place that chooses the engine. */
import { runPaced } from './engine/klines/run-paced.ts';
import type { RunInput, RunResult } from './run.ts';

/** What a strategy gets that listens to data which are not recorded: a refusal, or a stream that stays silent. */
export type MissingData = 'refuse' | 'silent';

/**
 * Runs `input` to its end, or until its pace says stop.
 * Throws what a strategy threw (`isStrategyFault`), and a `Refusal` for a run that cannot be made.
 */
export async function runBacktest(input: RunInput, missing: MissingData = 'refuse'): Promise<RunResult> {
  const run = (part: RunInput): Promise<RunResult> => runOn(part, missing);
  return input.currencies === undefined ? run(input) : (await import('./engine/currencies.ts')).inEach(input, run);
}

/** The engine over trades and books is loaded only where it is needed. */
async function runOn(input: RunInput, missing: MissingData): Promise<RunResult> {
  if (input.tapes !== undefined) return (await import('./engine/ticks/run.ts')).runTape(input, missing === 'silent');
  return runPaced(input, missing === 'silent');
}
