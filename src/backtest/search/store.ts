/** The outcomes of a grid in a file, one line a parameter set, so that a stopped grid can continue. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BacktestConfig } from '../../config/schema.ts';
import { jsonOf } from '../../domain/json.ts';
import { makeDirs } from '../../journal/open.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type CodeVersion, plain, sha256 } from '../runs/identity.ts';
import { type Axis, type ParameterSet, sortedAxes } from './axes.ts';
import type { Outcome, Ran } from './outcome.ts';

/** Raised when outcomes change their meaning: older files are not read then. */
const outcomeVersion = 9;

/** The hash of everything that can change an outcome, except the values of the grid. */
export function gridId(
  { input, dataHashes }: Prepared,
  config: BacktestConfig,
  {
    axes,
    code,
    sluice,
  }: { readonly axes: readonly Axis[]; readonly code: readonly CodeVersion[]; readonly sluice: string },
): string {
  const { data: _, catalogue: __, instruments: ___, ...settings } = config;
  // With the path of the code, so that its spelling does not count, and without the parameters of the axes.
  const varied = (id: string, param: string): boolean =>
    axes.some((axis) => axis.strategy === id && axis.param === param);
  const strategies = settings.strategies.map((one, index) => {
    const params = Object.entries(one.params).filter(([param]) => !varied(one.id, param));
    return { ...one, use: code[index]?.use, params: Object.fromEntries(params) };
  });
  const said = { ...settings, strategies };
  const spans = input.series.map(({ symbol, interval, first, end }) => ({ symbol, interval, first, end }));
  const of = sortedAxes(axes).map((axis) => [axes[axis]?.strategy, axes[axis]?.param]);
  const instruments = [...input.instruments.values()];
  const all = { outcomeVersion, sluice, said, of, spans, dataHashes, instruments, code: code.map((one) => one.sha256) };
  return sha256(plain(all));
}

const ran = z.object({
  finalEquity: z.string(),
  return: z.number(),
  maxDrawdown: z.number(),
  sharpe: z.number().nullable(),
  sortino: z.number().nullable(),
  calmar: z.number().nullable(),
  fills: z.number(),
  roundTrips: z.number(),
  fees: z.string(),
  kills: z.array(z.string()).readonly(),
  returns: z.array(z.number()).readonly().nullable(),
}) satisfies z.ZodType<Ran>;

const lineSchema = z.object({
  cell: z.array(z.union([z.number(), z.string(), z.boolean()])),
  outcome: z.union([z.object({ refused: z.string() }), ran]),
});

/** The sets before this line had the same outcomes when some ran once more. */
const comparedLine = JSON.stringify({ compared: true });

/** The folder of grids in a folder of runs. */
export const gridFolder = (runs: string): string => join(runs, 'grids');
/** The name of a grid's files: enough of its hash. */
export const gridName = (id: string): string => id.slice(0, 16);
/** Where the outcomes of a grid are saved. */
export const gridFile = (folder: string, name: string): string => join(folder, `${name}.jsonl`);

/** What a report needs beside the outcomes. */
export const gridHeadFile = (folder: string, name: string): string => join(folder, `${name}.json`);

const textIn = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** The saved outcomes by their sets, as JSON. */
export const readSets = (file: string): ReadonlyMap<string, Outcome> => setsIn(textIn(file));

function setsIn(text: string): Map<string, Outcome> {
  const known = new Map<string, Outcome>();
  for (const line of text.split('\n')) {
    const { success, data } = lineSchema.safeParse(jsonOf(line));
    if (success) known.set(JSON.stringify(data.cell), data.outcome);
  }
  return known;
}

/** The sets of this grid in a file of a folder; without a folder in memory alone. */
export function savedSets(folder: string | undefined, id: string) {
  const file = folder === undefined ? undefined : gridFile(folder, gridName(id));
  if (folder !== undefined) makeDirs(folder);
  const text = file === undefined ? '' : textIn(file);
  const append = (line: string): void => {
    if (file !== undefined) appendFileSync(file, `${line}\n`);
  };
  // What comes after a line that a crash cut short must not become part of it.
  if (text !== '' && !text.endsWith('\n')) append('');
  const known = setsIn(text);
  return {
    get: (set: ParameterSet): Outcome | undefined => known.get(JSON.stringify(set)),
    add(set: ParameterSet, outcome: Outcome): void {
      known.set(JSON.stringify(set), outcome);
      append(JSON.stringify({ cell: set, outcome }));
    },
    /** Whether some of all these sets ran once more with the same outcomes. */
    isCompared: () => text.lastIndexOf(`${comparedLine}\n`) > text.lastIndexOf('{"cell":'),
    compared: () => append(comparedLine),
    forget(): void {
      known.clear();
      if (folder === undefined) return;
      for (const fileOf of [gridFile, gridHeadFile]) rmSync(fileOf(folder, gridName(id)), { force: true });
    },
  };
}
