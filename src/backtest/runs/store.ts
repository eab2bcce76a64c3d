/** Saved runs: `var/runs/<id>/`, a folder that is complete or not there, and beside them the ledger of all trials. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Instrument } from '../../domain/instrument.ts';
import { jsonOf } from '../../domain/json.ts';
import { causeOf, didYouMean, Refusal } from '../../domain/refusal.ts';
import { makeDirs } from '../../journal/open.ts';
import type { LedgerLine } from '../../research/significance/trials.ts';
import type { Summary } from '../../research/summary.ts';
import type { CodeVersion } from './identity.ts';

/** `result.json`. */
export interface KeptRun {
  readonly version: 2;
  readonly id: string;
  /** When it ran, UTC ms of the machine. */
  readonly at: number;
  readonly sluice: string;
  readonly node: string;
  /** The quote asset. */
  readonly asset: string;
  readonly configuration: {
    readonly file: string;
    readonly set: readonly string[];
    readonly sha256: string;
  };
  readonly code: readonly CodeVersion[];
  /** Of everything that could change the result. */
  readonly hash: string;
  /** Of `fills.csv`. */
  readonly fillsSha256: string;
  readonly instruments: readonly Pick<
    Instrument,
    'symbol' | 'base' | 'quote' | 'pricePrecision' | 'quantityPrecision'
  >[];
  readonly summary: Summary;
}

/** The files of a run; orders and stops only where it has few fills. */
export type RunFile = 'configuration.yaml' | 'fills.csv' | 'equity.csv' | 'orders.csv' | 'stops.csv';

/** `20261121-195512482-a3f9`: sorts by time, to the millisecond, so that the last of several runs is the last. */
export const runId = (at: number, hash: string): string =>
  `${new Date(at)
    .toISOString()
    .replace(/[-:.Z]/g, '')
    .replace('T', '-')}-${hash.slice(0, 4)}`;

/** Writes a temporary folder and renames it, so that a folder that is there is complete. Returns it. */
export function keepRun(dir: string, run: Pick<KeptRun, 'id'>, files: ReadonlyMap<RunFile, readonly string[]>): string {
  const folder = join(dir, run.id);
  const unfinished = join(dir, `.${run.id}.${process.pid}`);
  makeDirs(unfinished);
  try {
    for (const [name, pieces] of files) writePieces(join(unfinished, name), pieces);
    writeFileSync(join(unfinished, 'result.json'), `${JSON.stringify(run, undefined, 1)}\n`);
    // The same run within a millisecond replaces the first, which holds the same.
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

export function writePieces(path: string, pieces: readonly string[]): void {
  const file = openSync(path, 'w');
  try {
    for (const piece of pieces) writeFileSync(file, piece);
  } finally {
    closeSync(file);
  }
}

const ledgerFile = (dir: string): string => join(dir, 'tries.jsonl');

const lineSchema = z.object({
  settings: z.string(),
  family: z.string(),
  symbols: z.array(z.string()),
  from: z.number(),
  to: z.number(),
  trials: z.array(z.tuple([z.string(), z.number().nullable()])),
});

/** All lines of the ledger; `say` takes a note of lines that a crash or another program damaged, which do not count. */
export function readLedger(dir: string, say: (line: string) => void = () => {}): readonly LedgerLine[] {
  const file = ledgerFile(dir);
  if (!existsSync(file)) return [];
  const texts = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const lines = texts.flatMap((text) => {
    const { success, data } = lineSchema.safeParse(jsonOf(text));
    return success ? [data] : [];
  });
  const lost = texts.length - lines.length;
  if (lost > 0)
    say(
      `note: ${lost} ${lost === 1 ? 'line' : 'lines'} of ${file} cannot be read: ${lost === 1 ? 'its' : 'their'} trials are not counted`,
    );
  return lines;
}

/** Appends one line at once, since several runs may end at the same time. A crash may have cut the last line: it stays a line of its own. */
export function appendToLedger(dir: string, at: number, line: LedgerLine): void {
  makeDirs(dir);
  const file = ledgerFile(dir);
  const isTorn = existsSync(file) && lastByte(file) !== lineFeed;
  appendFileSync(file, `${isTorn ? '\n' : ''}${JSON.stringify({ at, ...line })}\n`);
}

const lineFeed = 10;

/** The last byte of a file; a line's end for an empty one. */
function lastByte(path: string): number {
  const file = openSync(path, 'r');
  try {
    const byte = Buffer.of(lineFeed);
    readSync(file, byte, 0, 1, Math.max(0, fstatSync(file).size - 1));
    return byte[0] as number;
  } finally {
    closeSync(file);
  }
}

/** The ids of all kept runs, newest first. */
export function runIds(dir: string): readonly string[] {
  if (!existsSync(dir)) return [];
  if (!statSync(dir).isDirectory()) throw new Refusal(`${dir} is a file: name the folder of runs with --runs DIR`);
  return readdirSync(dir)
    .filter((name) => !name.startsWith('.') && existsSync(join(dir, name, 'result.json')))
    .toSorted()
    .reverse();
}

/** Runs that a message names. */
const maxNamed = 5;

/** The folder of a run: its id, the beginning or end of it, `last`, or a path. */
export function findRun(dir: string, name: string): string {
  if (name === '') throw new Refusal('give a run: its id, the beginning or end of the id, or last');
  if (existsSync(join(name, 'result.json'))) return resolve(name);
  const ids = runIds(dir);
  const found = name === 'last' ? ids.slice(0, 1) : ids.filter((id) => id.startsWith(name) || id.endsWith(name));
  const [only, ...others] = found;
  if (only === undefined)
    throw new Refusal(
      ids.length === 0
        ? `there are no runs in ${resolve(dir)}: each sluice backtest saves one (--runs DIR names the folder)`
        : `no run ${name} in ${resolve(dir)}${didYouMean(name, ids)}; sluice runs lists them`,
    );
  if (others.length > 0) {
    const more = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : '';
    throw new Refusal(`${name} fits ${found.length} runs: ${found.slice(0, maxNamed).join(', ')}${more}`);
  }
  return join(dir, only);
}

/** Like `findRun`, of this folder's runs alone: no folder from elsewhere is removed. */
export function ownRun(dir: string, name: string): string {
  const found = findRun(dir, name);
  if (resolve(dirname(found)) === resolve(dir)) return found;
  throw new Refusal(
    `${name} is not a run in ${resolve(dir)}: name one that sluice runs lists, or its folder with --runs DIR`,
  );
}

/** What lists and reports of runs read. */
const keptSchema = z.looseObject({
  configuration: z.looseObject({ file: z.string(), set: z.array(z.string()) }),
  code: z.array(z.looseObject({})),
  summary: z.looseObject({
    metrics: z.looseObject({ return: z.number() }),
    verdict: z.looseObject({ conclusion: z.string() }),
    ...Object.fromEntries(
      [
        ...['warnings', 'kills', 'criticalWarnings', 'refused', 'reentryLockouts', 'legsAlone', 'stalePositions'],
        ...['remainders', 'currencies', 'cashFlows', 'markets'],
      ].map((name) => [name, z.array(z.unknown())]),
    ),
  }),
});

export function readRun(folder: string): KeptRun {
  const file = join(folder, 'result.json');
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${causeOf(error)}`, 1);
  }
  const version = z.looseObject({ version: z.number() }).safeParse(read).data?.version ?? 1;
  if (version !== 2) throw new Refusal(`${file} has version ${version}: another version of Sluice wrote it`, 1);
  if (!keptSchema.safeParse(read).success) throw new Refusal(`${file} is not the result of a run`, 1);
  return read as KeptRun;
}

/** One of a run's files; undefined where it was not saved. */
export function readRunFile(folder: string, name: RunFile): string | undefined {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The size of a run on disk, bytes. */
export const runBytes = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
