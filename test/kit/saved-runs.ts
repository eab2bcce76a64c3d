/** Two saved backtests and a saved grid, made as a user makes them. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { gridBacktest } from '../../src/commands/grid/command.ts';

export const winterConfig = fileURLToPath(new URL('../../backtests/eth-winter-sluice.yaml', import.meta.url));

export async function runWinter(runs: string, set: readonly string[] = []): Promise<void> {
  await backtest({ config: winterConfig, set, runs, json: false, out: () => {}, say: () => {} });
}

/** The file of its own report. */
export async function runGrid(runs: string, report: string): Promise<void> {
  const grid = ['fast=8,12', 'slow=40,48'];
  const silent = { json: false, out: () => {}, say: () => {} };
  await gridBacktest({ config: winterConfig, set: ['strategies.0.params.quantity=2'], runs, report, grid, ...silent });
}

export async function saveSome(folder: string): Promise<{ readonly runs: string; readonly gridReport: string }> {
  const runs = join(folder, 'runs');
  const gridReport = join(folder, 'grid.html');
  await runWinter(runs);
  await runWinter(runs, ['strategies.0.params.fast=8']);
  await runGrid(runs, gridReport);
  return { runs, gridReport };
}
