/** Saved grids: what a report needs beside the outcomes of the parameter sets, so that it can be made again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../../domain/json.ts';
import { units, unitsNumber } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { gridText } from '../../report/grid.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { endsOf } from '../run.ts';
import { type CodeVersion, hashRows, sha256 } from '../runs/identity.ts';
import { writeWhole } from '../runs/keep.ts';
import { asSaved, axisNames, parameterSets } from './axes.ts';
import { fewText, findIn, type GridResult, missingIn, setText, stoppedText } from './grid-result.ts';
import { objectiveNames, objectiveOf } from './objective.ts';
import { hasRun, type Outcome } from './outcome.ts';
import { overfittingTexts } from './overfitting.ts';
import { gridFile, gridHeadFile, readSets } from './store.ts';

const bestSchema = z.object({
  values: z.string(),
  return: z.number(),
  maxDrawdown: z.number(),
  sharpe: z.number().nullable(),
});
const axisSchema = z.object({
  strategy: z.string(),
  param: z.string(),
  values: z.array(z.union([z.number(), z.string(), z.boolean()])),
  isShared: z.boolean().optional(),
});
/** `<id>.json` beside the outcomes. */
const headSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  /** When it ran, UTC ms of the machine. */
  at: z.number(),
  file: z.string(),
  set: z.array(z.string()),
  strategies: z.array(z.string()),
  symbols: z.array(z.string()),
  from: z.number(),
  to: z.number(),
  objective: z.enum(objectiveNames),
  axes: z.array(axisSchema),
  asset: z.string(),
  klines: z.number(),
  trials: z.number(),
  /** Parameter sets, and those that did not run. */
  parameterSets: z.number(),
  missing: z.number(),
  best: bestSchema.nullable(),
  warnings: z.array(z.string()),
  doubts: z.array(z.tuple([z.string(), z.string()])),
  provenance: z.array(z.tuple([z.string(), z.string()])),
  configuration: z.string(),
});
export type GridHead = z.output<typeof headSchema>;

export interface GridOrigin {
  readonly file: string;
  readonly set: readonly string[];
  readonly code: readonly CodeVersion[];
  readonly prepared: Prepared;
}

/** `warnings`: of the data, and that it was stopped. `at`: UTC ms of the machine. */
export function headOf(
  result: GridResult,
  { file, set, code, prepared: { input, dataHashes } }: GridOrigin,
  { id, at, warnings }: Pick<GridHead, 'id' | 'at'> & { readonly warnings: readonly string[] },
): GridHead {
  const { objective, axes, sets, outcomes, tries, asset, klines, doubt } = result;
  const times = endsOf(input.series);
  const configuration = readFileSync(file, 'utf8');
  const { best } = findIn(result);
  const winner = best === undefined ? undefined : outcomes[best];
  return {
    ...{ version: 1, id, at, file: resolve(file), set: [...set], objective: objective.name, asset, klines },
    strategies: code.map(({ use }) => use),
    symbols: [...new Set(input.series.map(({ symbol }) => symbol))],
    ...{ from: Math.min(...times), to: Math.max(...times), trials: tries },
    axes: axes.map((axis) => ({ ...axis, values: [...axis.values] })),
    ...{ parameterSets: sets.length, missing: missingIn(result), warnings: [...warnings], configuration },
    best:
      best === undefined || !hasRun(winner)
        ? null
        : {
            values: setText(axes, sets[best]),
            ...{ return: winner.return, maxDrawdown: winner.maxDrawdown, sharpe: winner.sharpe },
          },
    doubts: best === undefined ? [] : overfittingTexts(doubt).map(([name, text]) => [name, text]),
    provenance: [
      ['Configuration', `${resolve(file)}${set.map((one) => ` --set ${one}`).join('')}`],
      ['Configuration SHA-256', sha256(configuration)],
      ...hashRows(code, dataHashes).map(([name, value]): [string, string] => [name, value]),
    ],
  };
}

/** One HTML file. `outcomes`: of all parameter sets of the axes, in their order. */
export function gridReport(head: GridHead, outcomes: readonly (Outcome | undefined)[]): string {
  const { file, objective: name, axes, asset, klines, trials, configuration, doubts, from, to, provenance } = head;
  const objective = objectiveOf(name);
  const found = findIn({ objective, axes, outcomes });
  return gridText({
    title: `Grid · ${file.replace(/^.*\//, '')}`,
    ...{ objective, asset, klines, trials, configuration, doubts, from, to, provenance },
    warnings: [...head.warnings, ...stoppedText({ outcomes }, found.best).map((text) => `Stopped: ${text}.`)],
    ...found,
    notRanked: fewText({ outcomes }),
    axes: axisNames(axes).map((axis, index) => ({ name: axis, values: axes[index]?.values.map(String) ?? [] })),
    sets: parameterSets(axes).map((set, index) => {
      const one = outcomes[index];
      const values = set.map(String);
      return hasRun(one)
        ? { values, ran: { ...one, finalEquity: unitsNumber(units(one.finalEquity)), figure: objective.figureOf(one) } }
        : { values };
    }),
  });
}

/** The name of a grid's files. */
const idPattern = /^[0-9a-f]{16}$/;

/** Saves what a later report needs. `folder`: that of grids, in that of runs. */
export const keepHead = (folder: string, head: GridHead): void =>
  writeWhole(gridHeadFile(folder, head.id), [`${JSON.stringify(head)}\n`]);

/** All saved grids that can be described, newest first, and how many others there are. */
export function savedGrids(folder: string): { readonly heads: readonly GridHead[]; readonly others: number } {
  if (!existsSync(folder)) return { heads: [], others: 0 };
  const ids = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length));
  const heads = ids.flatMap((id) => headIn(folder, id) ?? []).toSorted((a, b) => b.at - a.at);
  return { heads, others: ids.length - heads.length };
}

function headIn(folder: string, id: string): GridHead | undefined {
  const file = gridHeadFile(folder, id);
  if (!idPattern.test(id) || !existsSync(file)) return undefined;
  const { success, data } = headSchema.safeParse(jsonOf(readFileSync(file, 'utf8')));
  return success && data.id === id ? data : undefined;
}

/** The report of a saved grid. */
export function savedGridReport(folder: string, id: string): string {
  const head = headIn(folder, id);
  if (head === undefined) throw new Refusal(`there is no saved grid ${id} that can be shown: run its command again`);
  const known = readSets(gridFile(folder, id));
  const sets = asSaved(head.axes, parameterSets(head.axes));
  return gridReport(
    head,
    sets.map((set) => known.get(JSON.stringify(set))),
  );
}
