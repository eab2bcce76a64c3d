/** Executes a prepared run and saves the result. Loaded while its data are read. */

import { dirname } from 'node:path';
import { refuseOther } from '../../backtest/determinism-check.ts';
import { runBacktest } from '../../backtest/engines.ts';
import { detailHints } from '../../backtest/prepare/detail-klines.ts';
import type { Prepared } from '../../backtest/prepare/prepare.ts';
import { showPace } from '../../backtest/progress.ts';
import { fillRows } from '../../backtest/result/fill-rows.ts';
import { summarise } from '../../backtest/result/summary.ts';
import { tableOf } from '../../backtest/result/table.ts';
import { quoteAsset, type RunInput, type RunResult } from '../../backtest/run.ts';
import { loopTurn, systemClock } from '../../clock/clock.ts';
import type { BacktestConfig } from '../../config/schema.ts';
import { closeTime } from '../../domain/interval.ts';
import { rowAt } from '../../domain/market.ts';
import { unitsText } from '../../domain/money.ts';
import { refuseFault } from '../../strategy/fault.ts';
import { type KeepOptions, saveRun } from '../runs/finish.ts';

export interface BacktestOptions extends KeepOptions {
  readonly config: string;
  /** Run it under worse conditions, too. */
  readonly stress?: boolean;
  readonly signal?: AbortSignal;
}

/** Runs with its progress on the terminal; Ctrl-C ends it where it is. */
async function watched({ signal }: BacktestOptions, name: string, input: RunInput): Promise<RunResult> {
  const { stderr } = process;
  const draw = stderr.isTTY ? (text: string): void => void stderr.write(text) : undefined;
  const { pace, end } = showPace(name, { clock: systemClock, signal, draw });
  try {
    // A backtest of what threw is worth nothing.
    return await runBacktest({ ...input, pace }).catch(refuseFault);
  } finally {
    end();
  }
}

/** What a run was made of that ended before its time: only what it saw counts, and everything says so. */
function upTo(prepared: Prepared, endedAt: number | undefined): Prepared {
  if (endedAt === undefined) return prepared;
  const series = prepared.input.series.map((one) => {
    const { interval, columns, first, end } = one;
    let row = Math.max(first + 1, Math.min(end, rowAt(columns.openTime, endedAt)));
    while (row > first + 1 && closeTime(interval, columns.openTime[row - 1] as number) > endedAt) row--;
    return { ...one, end: row };
  });
  const note = `stopped at ${new Date(endedAt).toISOString().slice(0, 16)}Z: all figures cover the time up to then`;
  return { ...prepared, input: { ...prepared.input, series }, warnings: [...prepared.warnings, note] };
}

/** The worse runs, each with its progress; a stop keeps those that are done and names the others. */
async function stressed(options: BacktestOptions, prepared: Prepared, config: BacktestConfig, result: RunResult) {
  const { signal } = options;
  const { conditionNames, stress } = await import('../../backtest/result/stress.ts');
  const worse = await stress(
    prepared.input,
    (input, name) => watched(options, name, input),
    (input, result) => {
      const { return: earned, sharpe } = summarise({ ...prepared, input }, result, config).summary.metrics;
      return { return: earned, sharpe };
    },
    () => signal?.aborted === true,
  );
  const cameTo = ({ finalEquity, fills }: RunResult) => ({ finalEquity: unitsText(finalEquity), fills: fills.length });
  const notRun = conditionNames.slice(worse.length);
  await refuseOther(prepared.input.hosted, 'the run', cameTo(result), async () => {
    const again = signal?.aborted === true ? undefined : await watched(options, 'once more', prepared.input);
    if (again !== undefined && again.endedAt === undefined) return cameTo(again);
    notRun.push('the repeat that checks determinism');
    return undefined;
  });
  return { worse, notes: notRun.length === 0 ? [] : [`--stress was stopped; not run: ${notRun.join(', ')}`] };
}

/** Runs it, prints the result, and saves it. */
export async function runPrepared(options: BacktestOptions, config: BacktestConfig, whole: Prepared): Promise<void> {
  const { config: file, json, out, say } = options;
  const result = await watched(options, 'backtest', whole.input);
  const hints = result.ambiguousKlines === 0 ? [] : detailHints(dirname(file), config, whole.input);
  for (const hint of hints) say(`note: ${hint}`);
  const counted = upTo({ ...whole, warnings: [...whole.warnings, ...hints] }, result.endedAt);
  if (result.endedAt !== undefined) say(`note: ${counted.warnings.at(-1)}`);
  const { worse, notes } =
    options.stress === true ? await stressed(options, counted, config, result) : { worse: [], notes: [] };
  for (const note of notes) say(`note: ${note}`);
  const prepared = { ...counted, warnings: [...counted.warnings, ...notes] };
  // A strategy that threw beside its decisions ends the program here, before anything is printed or kept.
  await loopTurn();
  const saver = saveRun({ ...options, file, config, prepared, whole, result });
  const summarised = summarise(prepared, result, config, { trials: saver.trials, stressed: worse });
  const { summary } = summarised;
  const { instruments } = prepared.input;
  if (json) {
    const fills = fillRows(result, instruments);
    out(JSON.stringify({ ...summary, ...saver.identity(), fills }));
  } else for (const line of tableOf(summary, quoteAsset(prepared.input))) out(line);
  await saver.finish(summarised);
  // A Ctrl-C after the last kline stopped nothing.
  if (options.signal?.aborted === true && result.endedAt === undefined && notes.length === 0) process.exitCode = 0;
}
