/** The manifest of a series: its months, its source, the findings and repairs of its imports. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { allIntervals } from '../../domain/interval.ts';
import { causeOf, orRefusal, Refusal } from '../../domain/refusal.ts';
import { makeFolder } from '../folder.ts';
import { kinds, type SeriesKey, seriesName } from './kinds.ts';
import { takeLock } from './lock.ts';

/** The version of the catalogue. A newer one is refused: the same keys may mean something else. */
const version = 1;
/** In the folder of each series. */
export const manifestName = 'series.json';

const list = <S extends z.ZodType>(of: S) => z.array(of).readonly();
const gap = z.tuple([z.number(), z.number()]).readonly();
const place = z.strictObject({ line: z.number().optional(), time: z.number().optional(), what: z.string().optional() });
const month = z.strictObject({
  month: z.string(),
  rows: z.int(),
  from: z.number(),
  to: z.number(),
  /** In the folder of the series. */
  file: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  /** Holes within the month; those between months follow from `from` and `to`. */
  gaps: list(gap),
});
const imported = z.strictObject({
  at: z.number(),
  files: list(z.strictObject({ name: z.string(), bytes: z.int(), sha256: z.string() })),
  layout: z.string(),
  rows: z.int(),
  repairs: list(z.strictObject({ repair: z.string(), rows: z.int(), first: place.optional() })),
  findings: list(
    z.strictObject({
      check: z.string(),
      count: z.int(),
      refused: z.boolean(),
      what: z.string(),
      effect: z.string(),
      advice: z.string().optional(),
      places: list(place),
    }),
  ),
});
const schema = z.strictObject({
  version: z.literal(version),
  kind: z.enum(kinds),
  symbol: z.string(),
  interval: z.enum(allIntervals).optional(),
  /** Where days, weeks and months begin, when not in UTC. */
  zone: z.string().optional(),
  source: z.string(),
  /** The most decimals that a price has, and a quantity. */
  priceDecimals: z.int(),
  quantityDecimals: z.int(),
  months: list(month),
  /** Stretches without trades or depth that are known not to be recorded: they look like a quiet market. */
  holes: list(gap).optional(),
  /** The changed series that made this one stale, kept when the link between them was removed. */
  staleBy: z.string().optional(),
  imports: list(imported),
});

export type Manifest = z.output<typeof schema>;
export type Month = z.output<typeof month>;
export type Imported = z.output<typeof imported>;

export const folderOf = (dir: string, { kind, symbol, interval }: SeriesKey): string =>
  join(dir, kind, symbol, interval ?? '');

/** The manifest of a series; undefined when there is none. Throws a `Refusal` when it cannot be read. */
export function readManifest(dir: string, key: SeriesKey): Manifest | undefined {
  const path = join(folderOf(dir, key), manifestName);
  const text = readIfThere(path, () => readFileSync(path, 'utf8'));
  if (text === undefined) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, key, `cannot be read (${causeOf(error)})`);
  }
  const read = schema.safeParse(json, { jitless: true });
  if (read.success) return read.data;
  const newer = z.looseObject({ version: z.number() }).safeParse(json).data?.version ?? 0;
  if (newer > version)
    throw new Refusal(
      `${path} was written by a newer Sluice (version ${newer}): upgrade Sluice, or use another catalogue (--data); the data are intact`,
    );
  throw unreadable(path, key, `is damaged (${read.error.issues[0]?.path.join('.')})`);
}

const unreadable = (path: string, key: SeriesKey, why: string): Refusal =>
  new Refusal(
    `${path} ${why}: restore it from a copy, or remove the series (${removing(key)}) and import ${seriesName(key)} again`,
  );

/** The command that takes a series away. */
export const removing = ({ kind, symbol, interval }: SeriesKey): string =>
  `sluice data remove ${symbol} --kind ${kind}${interval === undefined ? '' : ` --interval ${interval}`} --yes`;

/** Put in place in one step: a reader sees the series as it was before or as it is now. */
export function writeManifest(dir: string, manifest: Manifest): void {
  const folder = folderOf(dir, manifest);
  const unfinished = join(folder, `${manifestName}.${process.pid}`);
  // On the disk before it is named: a power cut would leave an empty one.
  writeFileSync(unfinished, `${JSON.stringify(manifest)}\n`, { flush: true });
  renameSync(unfinished, join(folder, manifestName));
}

/** The series of a catalogue by their folders, whether or not they can be read. */
export function seriesKeys(dir: string): readonly SeriesKey[] {
  const all = kinds.flatMap((kind) =>
    foldersIn(join(dir, kind)).flatMap((symbol): SeriesKey[] =>
      kind === 'klines' ? allIntervals.map((interval) => ({ kind, symbol, interval })) : [{ kind, symbol }],
    ),
  );
  return all.filter((key) => {
    const path = join(folderOf(dir, key), manifestName);
    return readIfThere(path, () => statSync(path)) !== undefined;
  });
}

/** Every series of a catalogue. One that cannot be read is a `Refusal` where it is needed, and left out elsewhere. */
export const listSeries = (dir: string, isNeeded: (key: SeriesKey) => boolean = () => true): readonly Manifest[] =>
  seriesKeys(dir).flatMap((key) => {
    const found = orRefusal(() => readManifest(dir, key));
    if (!(found instanceof Refusal)) return found ?? [];
    if (isNeeded(key)) throw found;
    return [];
  });

/** Every series that can be read. */
export const readableSeries = (dir: string): readonly Manifest[] => listSeries(dir, () => false);

const foldersIn = (dir: string): readonly string[] =>
  (readIfThere(dir, () => readdirSync(dir, { withFileTypes: true })) ?? [])
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();

/** Undefined where there is none. Throws a `Refusal` where it may not be read. */
function readIfThere<T>(path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Refusal(
      `${path} cannot be read (${code}): give this user permission, or name another catalogue (--data)`,
    );
  }
}

/** Where the column file of a month lies. */
export const columnPath = (dir: string, sha256: string): string => join(dir, 'cache', `${sha256.slice(0, 32)}.columns`);

/** Removes what is not of the series any more: months that were replaced, and what a killed import left. */
export function sweep(dir: string, manifest: Manifest, replaced: readonly Month[]): void {
  const folder = folderOf(dir, manifest);
  const used = new Set([manifestName, ...manifest.months.map(({ file }) => file)]);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile() && !used.has(entry.name)) rmSync(join(folder, entry.name));
  const kept = new Set(manifest.months.map(({ sha256 }) => sha256));
  for (const { sha256 } of replaced) if (!kept.has(sha256)) rmSync(columnPath(dir, sha256), { force: true });
}

/**
 * Removes column files of no series, which a killed import left. To be called with the lock: others write them for what a series names, and
 * make anew what is not there. Nothing is removed while a series cannot be read: its files are not known.
 */
export function sweepCache(dir: string): void {
  const keys = seriesKeys(dir);
  const all = readableSeries(dir);
  if (all.length < keys.length) return;
  const kept = new Set(all.flatMap(({ months }) => months.map(({ sha256 }) => columnPath(dir, sha256))));
  const cache = join(dir, 'cache');
  for (const name of readdirSync(cache))
    if (/\.columns(\.\d+)?$/.test(name) && !kept.has(join(cache, name))) rmSync(join(cache, name), { force: true });
}

/** The lock of a catalogue: one writer at a time. */
export function lockCatalogue(dir: string): () => void {
  makeFolder(join(dir, 'cache'));
  return takeLock(join(dir, 'lock'), dir);
}

/** Reads at most: imports of many small files end several times a second. */
const maxTurns = 20;

/** Reads again where that failed, or `isDamaged`, while the catalogue changed: an import removes files that it replaced, which looks like damage. */
export async function readAgain<T>(
  dir: string,
  read: () => Promise<T>,
  isDamaged: (result: T) => boolean = () => false,
): Promise<T> {
  for (let turn = 1; ; turn++) {
    const before = stateOf(dir);
    const isChanged = (): boolean => turn < maxTurns && stateOf(dir) !== before;
    try {
      const result = await read();
      if (!isDamaged(result) || !isChanged()) return result;
    } catch (error) {
      if (!isChanged()) throw error;
    }
  }
}

/** Changes whenever a manifest is written. */
const stateOf = (dir: string): string =>
  seriesKeys(dir)
    .map((key) => join(folderOf(dir, key), manifestName))
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return `${path} ${stat?.ino} ${stat?.mtimeMs}`;
    })
    .join('\n');
