/** `sluice runs` and `sluice report`. */
import { rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { groupLines, metricLines, tableOf } from '../../backtest/result/table.ts';
import { writeTables, writeWhole } from '../../backtest/runs/keep.ts';
import {
  findRun,
  type KeptRun,
  ownRun,
  type RunFile,
  readRun,
  readRunFile,
  runBytes,
  runIds,
} from '../../backtest/runs/store.ts';
import { orRefusal, Refusal } from '../../domain/refusal.ts';
import { grouped } from '../../domain/words.ts';
import { momentText, shareText } from '../../report/figures.ts';
import type { Output } from '../../terminal/output.ts';
import { refuseUnwritable } from '../writable.ts';

interface Options extends Output {
  readonly runs: string;
}

const nameOf = ({ configuration, code }: KeptRun): string =>
  `${basename(configuration.file)} ${[...new Set(code.map(({ use }) => use))].join(' ')}${configuration.set.map((one) => ` ${one}`).join('')}`;

export function showRuns({
  runs,
  remove = [],
  json,
  out,
  say,
}: Options & { readonly remove?: readonly string[] }): void {
  for (const folder of new Set(remove.map((name) => ownRun(runs, name)))) {
    rmSync(folder, { recursive: true });
    say(`${basename(folder)} removed; its trial still counts`);
  }
  if (remove.length > 0) return;
  const ids = runIds(runs);
  let bytes = 0;
  let noted = 0;
  for (const id of ids) {
    const folder = join(runs, id);
    bytes += runBytes(folder);
    const run = readable(folder, say);
    if (run === undefined) continue;
    if (json) out(JSON.stringify(rowOf(run)));
    else {
      const { metrics, verdict, warnings } = run.summary;
      if (warnings.length > 0) noted++;
      const sharpe = metrics.sharpe === null ? 'n/a' : metrics.sharpe.toFixed(2);
      out(
        `${run.id}  ${momentText(run.at)}  return ${shareText(metrics.return).padStart(10)}  Sharpe ${sharpe.padStart(6)}  ${verdict.conclusion.padEnd(29)}  ${nameOf(run)}${remarkOf(run)}`,
      );
    }
  }
  if (ids.length === 0) say(`no runs in ${resolve(runs)}: each sluice backtest saves one`);
  else if (!json)
    say(
      `${grouped(ids.length)} ${ids.length === 1 ? 'run' : 'runs'}, ${(bytes / 1e6).toFixed(1)} MB in ${resolve(runs)}${noted > 0 ? '; * with notes on its data: see its report' : ''}`,
    );
}

/** What a list must say of a run, beside which every other looks the same: where it was stopped, and by what, and that there are notes. */
function remarkOf({ summary: { endedAt, kills, warnings, criticalWarnings: doubts } }: KeptRun): string {
  const said = [
    ...(endedAt === undefined ? [] : [`stopped at ${momentText(endedAt)}`]),
    ...(kills.length === 0 ? [] : ['stopped by a limit']),
    ...(doubts.length === 0 ? [] : ['doubtful data']),
  ];
  return `${said.length === 0 ? '' : `  (${said.join('; ')})`}${warnings.length === 0 ? '' : ' *'}`;
}

/** Reports a damaged run; the others are still listed. */
function readable(folder: string, say: Output['say']): KeptRun | undefined {
  const run = orRefusal(() => readRun(folder));
  if (!(run instanceof Refusal)) return run;
  say(`note: ${run.message}: restore it from a copy, or delete it (sluice runs --remove ${basename(folder)})`);
  return undefined;
}

function rowOf({ id, at, configuration: { file: config, set }, code, hash, summary }: KeptRun): object {
  const { from, to, finalEquity, metrics, fillCount, verdict, warnings } = summary;
  return {
    ...{ id, at, config, set, strategies: code.map(({ strategy }) => strategy), from, to, finalEquity },
    ...{ return: metrics.return, sharpe: metrics.sharpe, fillCount, conclusion: verdict.conclusion, warnings, hash },
  };
}

const copied: readonly RunFile[] = ['fills.csv', 'orders.csv', 'equity.csv', 'stops.csv'];

export async function showReport(
  name: string,
  { runs, json, output, csv, out, say }: Options & { readonly output?: string; readonly csv?: string },
): Promise<void> {
  refuseUnwritable({ output, csv });
  const folder = findRun(runs, name);
  const run = readRun(folder);
  if (csv !== undefined) {
    const tables = copied.flatMap((file) => {
      const text = readRunFile(folder, file);
      return text === undefined ? [] : [[file, [text]] as const];
    });
    const there = writeTables(csv, tables, run.summary.warnings);
    const lacks = there.includes('orders.csv') ? '' : '; orders of a run with many fills are written by backtest --csv';
    say(`${there.join(', ')} written to ${resolve(csv)}${lacks}`);
  }
  if (output !== undefined) {
    const { reportOfKept } = await import('../../backtest/runs/report-input.ts');
    writeWhole(resolve(output), [await reportOfKept(folder)]);
    say(`report: ${resolve(output)}`);
    return;
  }
  if (json) {
    out(JSON.stringify(run));
    return;
  }
  out(`Run ${run.id}: ${nameOf(run)}`);
  for (const line of [...tableOf(run.summary, run.asset), ...metricLines(run.summary), ...groupLines(run.summary)])
    out(line);
}
