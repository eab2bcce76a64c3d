/** After a backtest: saves the run, writes it as CSV, and counts its trial. */
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { BacktestConfig } from '../../config/schema.ts';
import { unwritten } from '../../data/folder.ts';
import type { Fill } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { makeDirs } from '../../journal/open.ts';
import type { StopLevel } from '../../report/input.ts';
import type { LedgerLine } from '../../research/significance/trials.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { Summarised } from '../result/summary.ts';
import { quoteAsset, type RunResult } from '../run.ts';
import { type CodeVersion, sha256 } from './identity.ts';
import { equityCsv, fillsCsv, ordersCsv, stopsCsv, stopsOf } from './rows.ts';
import { appendToLedger, type KeptRun, keepRun, type RunFile, runId, writePieces } from './store.ts';

export interface Finished {
  readonly file: string;
  readonly config: BacktestConfig;
  readonly set: readonly string[];
  readonly sluice: string;
  /** UTC ms of the machine. */
  readonly at: number;
  readonly prepared: Prepared;
  readonly result: RunResult;
  readonly summarised: Summarised;
  readonly code: readonly CodeVersion[];
  readonly hash: string;
  readonly line: LedgerLine;
  /** Its fills as a file, in pieces. */
  readonly fillsText: readonly string[];
}

/** Runs with at most this many fills are saved with orders and stops: rows of orders take longer to make than the run itself. */
const fewFills = 1_000;

export const idOf = ({ at, hash }: Pick<Finished, 'at' | 'hash'>): string => runId(at, hash);

const hasFewFills = ({ summarised }: Pick<Finished, 'summarised'>): boolean =>
  summarised.measured.fills.length <= fewFills;

/** The stops of a run with few fills; empty for others, whose stops only `--csv` writes. */
export const fewStops = (finished: Pick<Finished, 'result' | 'summarised'>): readonly StopLevel[] =>
  hasFewFills(finished) ? stopsOf(finished.result.journal()) : [];

/** The fills of a run as a file, one object at a time where the run has none. */
export function fillsTextOf({
  prepared,
  result,
  summarised,
}: Pick<Finished, 'prepared' | 'result' | 'summarised'>): readonly string[] {
  const { fillAt } = result;
  const { instruments } = prepared.input;
  if (fillAt === undefined) return fillsCsv(result.fills, instruments);
  const { length } = summarised.measured.fills;
  const fills = function* (): Generator<Fill> {
    for (let index = 0; index < length; index++) yield fillAt(index);
  };
  return fillsCsv(fills(), instruments);
}

/** What `result.json` holds. */
export function keptOf(finished: Finished): KeptRun {
  const { file, set, sluice, at, prepared, summarised, code, hash, fillsText } = finished;
  return {
    version: 2,
    ...{ id: idOf(finished), at, sluice, node: process.version, asset: quoteAsset(prepared.input) },
    configuration: { file: resolve(file), set, sha256: sha256(readFileSync(file)) },
    ...{ code, hash, fillsSha256: sha256(...fillsText) },
    instruments: [...prepared.input.instruments.values()].map(
      ({ symbol, base, quote, pricePrecision, quantityPrecision }) => ({
        ...{ symbol, base, quote, pricePrecision, quantityPrecision },
      }),
    ),
    summary: summarised.summary,
  };
}

/** Saves the run and counts its trial, unless it was stopped before its end; returns the folder. */
export function keep(dir: string, finished: Finished): string {
  const { result, file, at, line } = finished;
  const files = new Map<RunFile, readonly string[]>([
    ['configuration.yaml', [readFileSync(file, 'utf8')]],
    ['fills.csv', finished.fillsText],
    ['equity.csv', [equityCsv(finished.summarised.measured.walked.days)]],
  ]);
  if (hasFewFills(finished)) {
    const journal = result.journal();
    files.set('orders.csv', [ordersCsv(journal)]);
    const stops = stopsOf(journal);
    if (stops.length > 0) files.set('stops.csv', [stopsCsv(stops)]);
  }
  const folder = keepRun(dir, keptOf(finished), files);
  if (result.endedAt === undefined) appendToLedger(dir, at, line);
  return folder;
}

/** The warnings of a run, beside its CSV files. */
const notesFile = 'NOTES.txt';

/** `--csv DIR`: fills, orders, equity and stops. Each file is complete or not there. */
export function writeCsv(dir: string, finished: Finished): readonly string[] {
  const { result, summarised } = finished;
  const journal = result.journal();
  const files: readonly (readonly [RunFile, readonly string[]])[] = [
    ['fills.csv', finished.fillsText],
    ['orders.csv', [ordersCsv(journal)]],
    ['equity.csv', [equityCsv(summarised.measured.walked.days)]],
    ['stops.csv', [stopsCsv(stopsOf(journal))]],
  ];
  return writeTables(dir, files, summarised.summary.warnings);
}

/**
 * Writes tables into a folder, all of them or none, and warnings as a file of their own: a comment inside a table would break its
 * readers. Returns the names of the files.
 */
export function writeTables(
  dir: string,
  tables: readonly (readonly [name: string, pieces: readonly string[]])[],
  warnings: readonly string[],
): readonly string[] {
  const notes = warnings.length === 0 ? [] : [[notesFile, [`${warnings.join('\n')}\n`]] as const];
  const files = [...tables, ...notes];
  orRefuse(dir, () => makeDirs(dir, 0o777));
  writeAll(files.map(([name, pieces]) => [join(dir, name), pieces]));
  // An earlier run may have left its warnings here.
  if (notes.length === 0) orRefuse(dir, () => rmSync(join(dir, notesFile), { force: true }));
  return files.map(([name]) => name);
}

/** Writes a temporary file and renames it. */
export const writeWhole = (path: string, pieces: readonly string[]): void => writeAll([[path, pieces]]);

/** All files are complete before the first is renamed: a full disk leaves the old files. */
function writeAll(files: readonly (readonly [path: string, pieces: readonly string[]])[]): void {
  const written: { readonly unfinished: string; readonly path: string }[] = [];
  try {
    for (const [path, pieces] of files) {
      const unfinished = join(path, '..', `.${basename(path)}.${process.pid}`);
      written.push({ unfinished, path });
      orRefuse(path, () => writePieces(unfinished, pieces));
    }
    for (const { unfinished, path } of written) orRefuse(path, () => renameSync(unfinished, path));
  } finally {
    for (const { unfinished } of written) rmSync(unfinished, { force: true });
  }
}

/** An error of the file system is a refusal, not a bug. */
function orRefuse(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new Refusal(unwritten(path, error), 1);
  }
}
