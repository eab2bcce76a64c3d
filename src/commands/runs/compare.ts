/** `sluice compare`: saved runs side by side, in the terminal or in one HTML file. */
import { resolve } from 'node:path';
import { writeWhole } from '../../backtest/runs/keep.ts';
import { readEquityCsv } from '../../backtest/runs/rows.ts';
import { findRun, type KeptRun, readRun, readRunFile } from '../../backtest/runs/store.ts';
import { Refusal } from '../../domain/refusal.ts';
import { compareText, timesNote } from '../../report/compare.ts';
import { figureText } from '../../report/figures.ts';
import { conventions, type Form } from '../../research/conventions.ts';
import type { Output } from '../../terminal/output.ts';
import { refuseUnwritable } from '../writable.ts';

/** More would not fit beside each other. */
const maxRuns = 8;

export function compare(
  names: readonly string[],
  given: Output & { readonly runs: string; readonly output?: string },
): void {
  const { runs: dir, json, output, out, say } = given;
  refuseUnwritable({ output });
  const folders = [...new Set(names.map((name) => findRun(dir, name)))];
  if (folders.length < 2 || folders.length > maxRuns)
    throw new Refusal(`compare takes 2 to ${maxRuns} different runs, not ${folders.length}; sluice runs lists them`);
  const runs = folders.map(readRun);
  const note = timesNote(runs.map(({ id: name, summary }) => ({ name, summary })));
  if (note !== undefined) say(`note: ${note}`);
  if (output !== undefined) {
    writeWhole(resolve(output), [comparedText(folders)]);
    say(`comparison: ${resolve(output)}`);
  } else if (json)
    out(
      JSON.stringify(
        runs.map(({ id, summary: { metrics, verdict, warnings } }) => ({ id, metrics, verdict, warnings })),
      ),
    );
  else for (const line of linesOf(runs)) out(line);
}

/** Runs side by side, as one HTML file. */
export function comparedText(folders: readonly string[]): string {
  const runs = folders.map(readRun);
  return compareText(
    runs.map((run, index) => ({
      name: run.id,
      about: differenceOf(run, runs),
      asset: run.asset,
      summary: run.summary,
      days: readEquityCsv(readRunFile(folders[index] as string, 'equity.csv') ?? ''),
    })),
  );
}

/** How a run differs from the others: its settings, else its file. */
const differenceOf = ({ configuration, summary }: KeptRun, all: readonly KeptRun[]): string =>
  [
    ...(new Set(all.map((one) => one.configuration.file)).size > 1 ? [configuration.file.replace(/^.*\//, '')] : []),
    ...(new Set(all.map((one) => one.summary.rules)).size > 1 ? [`rules ${summary.rules}`] : []),
    ...configuration.set,
  ].join(' ');

const nameWidth = 22;
const columnWidth = 30;

function linesOf(runs: readonly KeptRun[]): readonly string[] {
  const row = (name: string, cellOf: (run: KeptRun) => string): string =>
    `${name.padEnd(nameWidth)}${runs.map((run) => cellOf(run).padStart(columnWidth)).join(' ')}`;
  const about = runs.map((run, index) => ({ index, text: differenceOf(run, runs) })).filter(({ text }) => text !== '');
  const figure = ({ summary: { metrics } }: KeptRun, key: string, form: Form): string => {
    const value = (metrics as Readonly<Record<string, unknown>>)[key];
    return figureText(typeof value === 'number' ? value : null, form);
  };
  return [
    row('', ({ id }) => id),
    row('Verdict', ({ summary }) => summary.verdict.conclusion.slice(0, columnWidth)),
    ...conventions.flatMap(({ title, of }) => [
      title,
      ...Object.entries(of).map(([key, { name, form }]) => row(`  ${name}`, (run) => figure(run, key, form))),
    ]),
    ...about.map(({ index, text }) => `${runs[index]?.id}: ${text}`),
    ...runs.flatMap(({ id, summary }) => summary.warnings.map((warning) => `${id}: note: ${warning}`)),
  ];
}
