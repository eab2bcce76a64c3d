/** Runs a backtest. The one place that chooses the engine. */
import type { StrategyAnswers } from './engine/klines/strategy-cursor.ts';
import { fastRun } from './fast/run.ts';
import { everySteps } from './progress.ts';
import { type BacktestEngine, type RunInput, type RunResult, spanOf } from './run.ts';

/** What happens when a strategy subscribes to data that are not recorded: a refusal, or a silent stream. */
export type MissingData = 'refuse' | 'silent';

/**
 * Runs `input` to its end, or until its pace says stop.
 * Throws what a strategy threw (`isStrategyFault`), and a `Refusal` for a run that cannot be made.
 */
export async function runBacktest(input: RunInput, missing: MissingData = 'refuse'): Promise<RunResult> {
  const run = (part: RunInput): Promise<RunResult> => runOne(part, missing);
  return input.currencies === undefined ? run(input) : (await import('./engine/currencies.ts')).inEach(input, run);
}

/** Most runs take the fast engine: the others are loaded where they are needed. */
async function runOne(input: RunInput, missing: MissingData): Promise<RunResult> {
  if (input.tapes !== undefined) return (await import('./engine/ticks/run.ts')).runTape(input, missing === 'silent');
  const fast = fastRun(input);
  const quick = fast === undefined ? undefined : await resultOf(fast, input);
  const result = quick ?? (await resultOf(await klineEngine(input, missing, fast?.answers), input));
  if (result === undefined) throw new Error('the engine over klines supports every run');
  return input.rules.closeAtEnd ? (await import('./engine/end-close.ts')).closedAtEnd(input, result) : result;
}

/** `answers`: what the only strategy said already. It is asked once a kline. */
async function klineEngine(
  input: RunInput,
  missing: MissingData,
  answers: StrategyAnswers | undefined,
): Promise<BacktestEngine> {
  const { KlineEngine } = await import('./engine/klines/engine.ts');
  return new KlineEngine(input, { answers, isSilent: missing === 'silent' });
}

/** undefined where the engine does not support the run. */
async function resultOf(engine: BacktestEngine, { pace, series }: RunInput): Promise<RunResult | undefined> {
  const { of } = spanOf(series);
  for (;;) {
    const state = engine.advance(pace === undefined ? Number.POSITIVE_INFINITY : everySteps);
    if (state === 'unsupported') return undefined;
    const isEnded = state === 'more' && (await pace?.(engine.done, of)) === true;
    if (state === 'more' && !isEnded) continue;
    await engine.finish?.();
    return isEnded ? engine.result(engine.closedAt) : engine.result();
  }
}
