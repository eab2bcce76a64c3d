/** `sluice backtest`: strategies over recorded klines, and a table of what came of it. */

import { castOf, prepared } from '../../backtest/prepare/prepare.ts';
import { systemClock } from '../../clock/clock.ts';
import { parseSetting, readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { BacktestOptions } from './run-prepared.ts';

/** Loads the rest of the program while the system reads the data: one turn later, so that the reading has begun. */
async function loadMeanwhile(): Promise<typeof import('./run-prepared.ts')> {
  await systemClock.sleep(0);
  return import('./run-prepared.ts');
}

/** `workers`: of a grid, which this is not. */
export async function backtest(options: BacktestOptions & { readonly workers?: number }): Promise<void> {
  if (options.workers !== undefined)
    throw new Refusal('--workers is for a grid: give --grid, such as --grid fast=5..24, or leave it out');
  const { config: file, set, say } = options;
  const settings = set.map(parseSetting);
  const config = readConfig(file, backtestSchema, settings);
  const cast = await castOf(file, config, settings);
  const [whole, { runPrepared }] = await Promise.all([prepared(file, config, cast), loadMeanwhile()]);
  for (const warning of whole.warnings) say(`note: ${warning}`);
  await runPrepared(options, config, whole);
}
