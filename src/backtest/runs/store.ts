/** Kept runs: `var/runs/<id>/`, a folder that is whole or not there, and beside them the ledger of all tries. */
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
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { makeDirs } from '../../journal/open.ts';
import type { Try } from '../../research/significance/trials.ts';
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
    /** Where it lay. */
    readonly file: string;
    readonly set: readonly string[];
    readonly sha256: string;
  };
  readonly code: readonly CodeVersion[];
  /** Of everything that could change the result. */
  readonly hash: string;
  /** Of its fills as they were written. */
  readonly fillsSha256: string;
  readonly instruments: readonly Pick<
    Instrument,
    'symbol' | 'base' | 'quote' | 'pricePrecision' | 'quantityPrecision'
  >[];
  readonly summary: Summary;
}

/** A run's folder holds these; orders and stops only where there were few. */
export type RunFile = 'configuration.yaml' | 'fills.csv' | 'equity.csv' | 'orders.csv' | 'stops.csv';

/** `20261121-195512482-a3f9`: sorts by time, to the millisecond, so that the last of several runs is the last. */
export const runId = (at: number, hash: string): string =>
  `${new Date(at)
    .toISOString()
    .replace(/[-:.Z]/g, '')
    .replace('T', '-')}-${hash.slice(0, 4)}`;

/** Written beside its place and then put there: a folder that is there is whole. Returns it. */
export function keepRun(dir: string, run: Pick<KeptRun, 'id'>, files: ReadonlyMap<RunFile, readonly string[]>): string {
  const place = join(dir, run.id);
  const unfinished = join(dir, `.${run.id}.${process.pid}`);
  makeDirs(unfinished);
  try {
    for (const [name, pieces] of files) writePieces(join(unfinished, name), pieces);
    writeFileSync(join(unfinished, 'result.json'), `${JSON.stringify(run, undefined, 1)}\n`);
    // The same run again within a millisecond takes the place of the first, which holds the same.
    rmSync(place, { recursive: true, force: true });
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return place;
}

/** Writes a file of several pieces, one behind another. */
export function writePieces(path: string, pieces: readonly string[]): void {
  const file = openSync(path, 'w');
  try {
    for (const piece of pieces) writeFileSync(file, piece);
  } finally {
    closeSync(file);
  }
}

const ledgerFile = (dir: string): string => join(dir, 'tries.jsonl');

const trySchema = z.object({
  hash: z.string(),
  trial: z.string().exactOptional(),
  settings: z.string().exactOptional(),
  family: z.string(),
  symbols: z.array(z.string()),
  from: z.number(),
  to: z.number(),
  sharpe: z.number().nullable(),
  trials: z.array(z.tuple([z.string(), z.number().nullable()])).exactOptional(),
  count: z.number().exactOptional(),
  variance: z.number().exactOptional(),
});

/** Every try so far; `say` is told of lines that cannot be read, of a crash or another program: they count for none. */
export function readTries(dir: string, say: (line: string) => void = () => {}): readonly Try[] {
  const file = ledgerFile(dir);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const tries = lines.flatMap((line) => {
    try {
      const { success, data } = trySchema.safeParse(JSON.parse(line));
      return success ? [data] : [];
    } catch {
      return [];
    }
  });
  const lost = lines.length - tries.length;
  if (lost > 0)
    say(
      `note: ${lost} ${lost === 1 ? 'line' : 'lines'} of ${file} cannot be read: what ${lost === 1 ? 'it' : 'they'} stood for is not counted among the trials`,
    );
  return tries;
}

/** One line, appended at once: several runs may end at the same time. A full disk, or a crash, may have cut the line before short: it is left by itself. */
export function noteTry(dir: string, at: number, one: Try): void {
  makeDirs(dir);
  const file = ledgerFile(dir);
  const isTorn = existsSync(file) && lastByte(file) !== lineFeed;
  appendFileSync(file, `${isTorn ? '\n' : ''}${JSON.stringify({ at, ...one })}\n`);
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

/** Of the runs that a name fits. */
const mostNamed = 5;

/** The folder of a run: its id, the beginning or end of it, `last`, or a path. */
export function findRun(dir: string, name: string): string {
  if (name === '') throw new Refusal('name a run: its id, the beginning or end of the id, or last');
  if (existsSync(join(name, 'result.json'))) return resolve(name);
  const ids = runIds(dir);
  const found = name === 'last' ? ids.slice(0, 1) : ids.filter((id) => id.startsWith(name) || id.endsWith(name));
  const [only, ...others] = found;
  if (only === undefined)
    throw new Refusal(
      ids.length === 0
        ? `there are no runs in ${resolve(dir)}: sluice backtest keeps one each time (--runs DIR says where)`
        : `there is no run ${name} in ${resolve(dir)}${didYouMean(name, ids)}; sluice runs lists them`,
    );
  if (others.length > 0) {
    const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : '';
    throw new Refusal(`${name} fits ${found.length} runs: ${found.slice(0, mostNamed).join(', ')}${more}`);
  }
  return join(dir, only);
}

/** The same, of this folder's runs alone: what is to be removed is no folder from elsewhere that holds a file of that name. */
export function ownRun(dir: string, name: string): string {
  const found = findRun(dir, name);
  if (resolve(dirname(found)) === resolve(dir)) return found;
  throw new Refusal(
    `${name} is not a run in ${resolve(dir)}: name one that sluice runs lists, or its folder with --runs DIR`,
  );
}

/** What every list of runs shows. */
const keptSchema = z.looseObject({
  configuration: z.looseObject({ file: z.string(), set: z.array(z.string()) }),
  code: z.array(z.looseObject({})),
  summary: z.looseObject({
    metrics: z.looseObject({ return: z.number() }),
    verdict: z.looseObject({ conclusion: z.string() }),
    warnings: z.array(z.string()),
    kills: z.array(z.unknown()),
  }),
});

export function readRun(folder: string): KeptRun {
  const file = join(folder, 'result.json');
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
  const version = z.looseObject({ version: z.number() }).safeParse(read).data?.version ?? 1;
  if (version !== 2) throw new Refusal(`${file} is of version ${version}: another Sluice wrote it`, 1);
  if (!keptSchema.safeParse(read).success) throw new Refusal(`${file} is not the result of a run`, 1);
  return read as KeptRun;
}

/** One of a run's files; undefined where it was not kept. */
export function readRunFile(folder: string, name: RunFile): string | undefined {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Bytes that a run takes. */
export const runBytes = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
