/** What a grid has come to so far, cell by cell in a file: a grid that was stopped goes on where it stopped. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BacktestConfig } from '../../config/schema.ts';
import { makeDirs } from '../../journal/open.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type CodeVersion, sha256 } from '../runs/identity.ts';
import { type Axis, type Cell, ownOrder } from './axes.ts';
import type { Outcome } from './outcome.ts';

/** Raised when outcomes come to mean something else: older files are then not read. */
const outcomeVersion = 7;

/** Of everything but the grid's own values that can change an outcome. */
export function gridId(
  { input, dataHashes }: Prepared,
  config: BacktestConfig,
  {
    axes,
    code,
    sluice,
  }: { readonly axes: readonly Axis[]; readonly code: readonly CodeVersion[]; readonly sluice: string },
): string {
  const { data: _, catalogue: __, instruments: ___, ...plain } = config;
  // As the code has it: the same file spelled otherwise is no other grid. What an axis varies has no value of its own.
  const varied = (id: string, param: string): boolean =>
    axes.some((axis) => axis.strategy === id && axis.param === param);
  const strategies = plain.strategies.map((one, index) => {
    const params = Object.entries(one.params).filter(([param]) => !varied(one.id, param));
    return { ...one, use: code[index]?.use, params: Object.fromEntries(params) };
  });
  const said = { ...plain, strategies };
  const spans = input.series.map(({ symbol, interval, first, end }) => ({ symbol, interval, first, end }));
  const of = ownOrder(axes).map((place) => [axes[place]?.strategy, axes[place]?.param]);
  const instruments = [...input.instruments.values()];
  const all = { outcomeVersion, sluice, said, of, spans, dataHashes, instruments, code: code.map((one) => one.sha256) };
  return sha256(JSON.stringify(all, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)));
}

const lineSchema = z.object({
  cell: z.array(z.union([z.number(), z.string(), z.boolean()])),
  outcome: z.union([
    z.object({ refused: z.string() }),
    z.object({
      finalEquity: z.string(),
      return: z.number(),
      // Grids of earlier versions kept it negative.
      maxDrawdown: z.number().transform(Math.abs),
      sharpe: z.number().nullable(),
      fills: z.number(),
      roundTrips: z.number(),
      fees: z.string(),
      kills: z.array(z.string()),
      returns: z.array(z.number()).nullable(),
    }),
  ]),
});

/** The cells before this line came to the same when some ran once more. */
const comparedLine = JSON.stringify({ compared: true });

export interface KeptCells {
  get(cell: Cell): Outcome | undefined;
  add(cell: Cell, outcome: Outcome): void;
  /** Whether these are all cells that came to the same when some ran once more. */
  isCompared(): boolean;
  compared(): void;
  /** None of them is worth anything. */
  forget(): void;
}

/** Cells of this grid in a folder; without a folder they are only remembered. */
export function keptCells(folder: string | undefined, id: string): KeptCells {
  if (folder === undefined) {
    const known = new Map<string, Outcome>();
    return {
      get: (cell) => known.get(JSON.stringify(cell)),
      add: (cell, outcome) => known.set(JSON.stringify(cell), outcome),
      isCompared: () => false,
      compared: () => {},
      forget: () => known.clear(),
    };
  }
  makeDirs(folder);
  const file = fileIn(folder, id);
  const text = textOf(file);
  const known = cellsOfText(text);
  // What comes after a line that a crash cut short must not become part of it.
  if (text !== '' && !text.endsWith('\n')) appendFileSync(file, '\n');
  return {
    get: (cell) => known.get(JSON.stringify(cell)),
    add(cell, outcome) {
      known.set(JSON.stringify(cell), outcome);
      appendFileSync(file, `${JSON.stringify({ cell, outcome })}\n`);
    },
    isCompared: () => text.lastIndexOf(`${comparedLine}\n`) > text.lastIndexOf('{"cell":'),
    compared: () => appendFileSync(file, `${comparedLine}\n`),
    forget: () => rmSync(file, { force: true }),
  };
}

const fileIn = (folder: string, id: string): string => join(folder, `${id.slice(0, 16)}.jsonl`);
const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

function cellsOfText(text: string): Map<string, Outcome> {
  const known = new Map<string, Outcome>();
  for (const line of text.split('\n')) {
    const { success, data } = lineSchema.safeParse(parsed(line));
    if (success) known.set(JSON.stringify(data.cell), data.outcome);
  }
  return known;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
