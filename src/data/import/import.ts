/** Imports a file into a series of the catalogue: detect its layout, read, check and repair its rows, stage months, commit the manifest. */

import { basename } from 'node:path';
import { closeTime, openTimeOf } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { compareSeries, continuityFindings } from '../catalogue/compare-series.ts';
import { staleOf, staleText } from '../catalogue/derived-series.ts';
import { type Duck, openDuck } from '../catalogue/duckdb.ts';
import { frameOf } from '../catalogue/gap-ledger.ts';
import { columnsOf, type SeriesKey, seriesName } from '../catalogue/kinds.ts';
import {
  type Imported,
  lockCatalogue,
  type Manifest,
  readableSeries,
  readManifest,
  sweep,
  sweepCache,
  writeManifest,
} from '../catalogue/manifest.ts';
import { MonthWriter, type Staged } from '../catalogue/month-writer.ts';
import { GrowingTable } from '../catalogue/rows.ts';
import { DepthChecks } from '../check/depth.ts';
import { accepted, type Finding, type Repair, type Repaired, refuseImport } from '../check/finding.ts';
import { futureFinding } from '../check/gaps.ts';
import { KlineChecks } from '../check/klines.ts';
import { TradeChecks } from '../check/trades.ts';
import { readAsBase } from './columns.ts';
import { detectLayout } from './detect-layout.ts';
import type { Layout, LayoutOptions } from './layout.ts';
import { LocalTimes } from './local-times.ts';
import { withParquetKind } from './parquet-reader.ts';
import { readRows } from './read-rows.ts';
import { repairRows, reversed } from './repair.ts';
import type { Batch, Reading } from './row-reader.ts';
import { type DataFile, openData } from './unpack.ts';

export interface ImportOptions extends LayoutOptions {
  readonly dir: string;
  readonly endStamps: boolean;
  readonly repair: ReadonlySet<Repair>;
  /** Rows that differ from stored ones take their place. */
  readonly replace: boolean;
  /** Prices that jump to another scale are accepted with a warning. */
  readonly acceptJumps?: boolean;
  /** UTC ms, for the record. */
  readonly now: number;
  /** Stretches without trades or depth that a recorder knows it missed, UTC ms. */
  readonly holes?: readonly (readonly [from: number, to: number])[];
}

/** Rows in memory for a repair, or a file that begins with the newest; about 3 GB of klines. */
const maxRowsInMemory = 60_000_000;

/** Imports one file. A `Refusal` lists all faults; then the catalogue is as it was. */
export async function importFile(path: string, options: ImportOptions) {
  const file = await openData(path);
  const layout = detectLayout(file, await withParquetKind(file, options));
  const key = keyOf(file, layout);
  const duck = await openDuck(1);
  const unlock = lockCatalogue(options.dir);
  try {
    return await importInto(file, layout, key, options, duck);
  } finally {
    unlock();
    duck.close();
  }
}

export type ImportResult = Awaited<ReturnType<typeof importFile>>;

/** The series that a file belongs to; throws a `Refusal` when its name and rows do not say. */
export function keyOf({ path }: Pick<DataFile, 'path'>, { kind, symbol, interval, form }: Layout): SeriesKey {
  if (symbol === undefined || symbol === '')
    throw new Refusal(`${path}: neither its name nor its rows contain the symbol: give --symbol BTCUSDT`);
  if (kind !== 'klines') return { kind, symbol };
  if (interval === undefined)
    throw new Refusal(
      form.is === 'parquet'
        ? `${path}: the interval of its klines is unknown: give --interval 1min`
        : `${path}: most rows are not one interval apart: give the interval (--interval), or import 1min klines and resample them`,
    );
  return { kind, symbol, interval };
}

async function importInto(file: DataFile, layout: Layout, key: SeriesKey, options: ImportOptions, duck: Duck) {
  const { dir } = options;
  const before = readManifest(dir, key);
  const source = options.source ?? layout.source ?? before?.source ?? 'unknown';
  if (before !== undefined) refuseOtherSeries(file, before, key, source);
  const reading = await readRows(file, layout, { ...options, symbol: key.symbol }, duck);
  const writer = new MonthWriter(duck, dir, key, before, options.replace);
  try {
    const taken = await takeRows(file, layout, key, options, reading, writer);
    const staged = await writer.finish();
    refuseConflicts(file, staged, options, taken.rows);
    const record: Imported = {
      at: options.now,
      files: [{ name: basename(file.path), bytes: file.bytes(), sha256: file.sha256() }],
      ...{ layout: layout.about, rows: taken.rows },
      repairs: taken.repaired,
      findings: taken.findings,
    };
    const written = manifestOf(before, key, source, record, { reading, taken, staged, options });
    const continuity = accepted(await continuityFindings(dir, before, written, taken), options.acceptJumps);
    refuseImport(file.path, continuity, taken.rows);
    const more = [...continuity, ...(await compareSeries(dir, written))];
    const manifest = withFindings(written, more);
    writeManifest(dir, manifest);
    sweep(dir, manifest, before?.months ?? []);
    sweepCache(dir);
    const { rows, from, to, repaired } = taken;
    return {
      ...{ key, source, path: file.path, layout: layout.about },
      ...{ rows, added: staged.added, known: staged.known, replaced: staged.conflicts, from, to },
      findings: [...taken.findings, ...more] as readonly Finding[],
      repaired,
      sha256: file.sha256(),
      bytes: file.bytes(),
      /** Series made of this one that are now stale: what to do, each. */
      stale: staleTexts(dir, manifest),
    };
  } catch (error) {
    await writer.discard(before);
    throw error;
  }
}

function refuseOtherSeries({ path }: DataFile, before: Manifest, key: SeriesKey, source: string): void {
  if (before.source !== source)
    throw new Refusal(
      `${path} comes from ${source}, and ${seriesName(key)} has data from ${before.source}: give another --symbol, or, if both are the same source, --source ${before.source}`,
    );
  if (before.zone !== undefined)
    throw new Refusal(
      `${seriesName(key)} has days of ${before.zone}, but the file's times are UTC: remove it first (sluice data remove ${key.symbol} --interval ${key.interval} --yes)`,
    );
}

function staleTexts(dir: string, source: Manifest): readonly string[] {
  const all = readableSeries(dir);
  return staleOf(all, source).map((one) => `${seriesName(one)} is ${staleText(all, one)}`);
}

interface Taken {
  readonly rows: number;
  readonly from: number;
  readonly to: number;
  readonly findings: readonly Finding[];
  readonly repaired: readonly Repaired[];
}

export function checksOf({ kind, interval, zone }: Pick<Manifest, 'kind' | 'interval' | 'zone'>): Checks {
  if (kind === 'trades') return new TradeChecks();
  return kind === 'depth' || interval === undefined ? new DepthChecks() : new KlineChecks(interval, zone);
}
type Checks = KlineChecks | TradeChecks | DepthChecks;

/** Reads, checks and stages the rows: batch by batch, or all at once where they are repaired or begin with the newest. */
async function takeRows(
  file: DataFile,
  layout: Layout,
  key: SeriesKey,
  options: ImportOptions,
  reading: Reading,
  writer: MonthWriter,
): Promise<Taken> {
  const { repair, acceptJumps } = options;
  const all = repair.size > 0 || layout.newestFirst ? new GrowingTable(key.kind, 2 ** 16) : undefined;
  const checks = checksOf(key);
  const times = new LocalTimes(layout.isLocal === true || reading.isLocal === true, key, options.zone);
  const span = { rows: 0, from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  for await (const batch of reading.batches) {
    if (!layout.newestFirst) times.toUtc(batch.columns, batch.rows);
    if (layout.endStamps || options.endStamps) endsToOpens(batch, key);
    extendSpan(span, batch);
    if (all === undefined) {
      checks.add(batch.columns, batch.rows, batch.lines);
      await writer.add(batch.columns, batch.rows);
    } else {
      all.append(batch.columns, 0, batch.rows);
      if (all.rows > maxRowsInMemory)
        throw new Refusal(
          `${file.path} has more than ${counted(maxRowsInMemory, 'row')}, too many to repair: split the file`,
        );
    }
  }
  const { unreadable } = reading;
  if (span.rows === 0 && unreadable.count === 0) throw new Refusal(`${file.path} has no rows: fetch it again`);
  const findings = (rows: number): readonly Finding[] => {
    const found = [
      ...readingFindings(layout, reading, repair.has('unreadable')),
      ...accepted(checks.findings(), acceptJumps),
      ...times.findings(checks instanceof KlineChecks ? checks.gaps : []),
      ...futureFinding(span.to, frameOf(key), options.now),
    ];
    refuseImport(file.path, found, rows);
    return found;
  };
  if (all === undefined) return { ...span, findings: findings(span.rows), repaired: [] };
  const ordered = layout.newestFirst ? reversed(all) : all;
  if (layout.newestFirst) times.toUtc(ordered.columns, ordered.rows);
  const { table, repaired } = repairRows(ordered, repair);
  checks.add(table.columns, table.rows);
  const found = findings(table.rows);
  if (table.rows === 0)
    throw new Refusal(`${file.path}: not imported: no row is left after the repairs (--repair); is it the right file?`);
  await writer.add(table.columns, table.rows);
  const first = { line: unreadable.first[0]?.line ?? 0 };
  const dropped: Repaired[] =
    repair.has('unreadable') && unreadable.count > 0 ? [{ repair: 'unreadable', rows: unreadable.count, first }] : [];
  return { ...span, rows: table.rows, findings: found, repaired: [...dropped, ...repaired] };
}

function extendSpan(span: { rows: number; from: number; to: number }, { columns, rows }: Batch): void {
  const times = columns[0] as Float64Array;
  span.rows += rows;
  for (let row = 0; row < rows; row++) {
    const time = times[row] as number;
    if (time < span.from) span.from = time;
    if (time > span.to) span.to = time;
  }
}

/** Replaces the end of a kline, given as the next opening or a moment before, by its opening. */
function endsToOpens({ columns, rows }: Batch, { interval }: SeriesKey): void {
  if (interval === undefined) return;
  const times = columns[0] as Float64Array;
  for (let row = 0; row < rows; row++) {
    const end = times[row] as number;
    const open = openTimeOf(interval, end - 1);
    // Other times stay, for the checks to find.
    if (closeTime(interval, open) - end <= 1_000) times[row] = open;
  }
}

function readingFindings(layout: Layout, reading: Reading, isDropped: boolean): readonly Finding[] {
  const { unreadable, units, ended, lines } = reading;
  const found: Finding[] = [];
  if (unreadable.count > 0 && !isDropped) {
    const places = unreadable.first;
    const cut = !ended && places.some(({ line }) => line === lines) ? ' (the last one: the file may be cut off)' : '';
    found.push({
      ...{ check: 'unreadable', count: unreadable.count, refused: true, effect: 'rows would be missing', places },
      what: `${counted(unreadable.count, 'line')} that cannot be read${cut}`,
      advice: 'correct the file, or drop these lines (--repair unreadable)',
    });
  }
  const note = (check: Finding['check'], what: string, effect: string): void => {
    found.push({ check, count: 1, refused: false, what, effect, places: [] });
  };
  if (!ended && unreadable.count === 0) note('cut-off', 'the last line is incomplete', 'the file may be cut off');
  if (units.size > 1)
    note('assumed', `times change from ${[...units].join(' to ')}`, 'each is read in the unit that its size implies');
  if (layout.newestFirst) note('assumed', 'the newest rows come first', 'they are stored in order of time');
  if (layout.endStamps) note('assumed', 'times are closing times', 'stored by opening time');
  for (const text of notesOf(layout, reading)) {
    const [what = '', doubt] = text.split(`: ${readAsBase}`);
    if (doubt === undefined) note('assumed', text, 'not stated by the file');
    else note('contracts', what, readAsBase);
  }
  return found;
}

/** What was assumed about a file. */
export const notesOf = ({ notes }: Layout, { notes: more = [] }: Reading): readonly string[] => [...notes, ...more];

function refuseConflicts({ path }: DataFile, staged: Staged, { replace }: ImportOptions, rows: number): void {
  if (staged.conflicts === 0 || replace) return;
  const first = new Date(staged.firstConflict ?? 0).toISOString();
  throw new Refusal(
    `${path}: not imported: ${counted(staged.conflicts, 'stored row')} (the first of ${first}) would be replaced by different ones from its ${counted(rows, 'row')}: find the correct ones (sluice data sql), then use --replace`,
  );
}

function withFindings(manifest: Manifest, more: readonly Finding[]): Manifest {
  const last = manifest.imports.at(-1);
  if (last === undefined || more.length === 0) return manifest;
  const findings = [...last.findings, ...more];
  return { ...manifest, imports: [...manifest.imports.slice(0, -1), { ...last, findings }] };
}

/** Findings in trades and depth that were all replaced no longer hold. */
function importsBefore(
  before: Manifest | undefined,
  { from, to }: Taken,
  { replace }: ImportOptions,
): readonly Imported[] {
  const { kind, months = [], imports = [] } = before ?? {};
  const isAll = replace && kind !== 'klines' && from <= (months[0]?.from ?? 0) && to >= (months.at(-1)?.to ?? 0);
  return isAll ? imports.map((one) => ({ ...one, repairs: [], findings: [] })) : imports;
}

function manifestOf(
  before: Manifest | undefined,
  key: SeriesKey,
  source: string,
  record: Imported,
  { reading, taken, staged, options }: { reading: Reading; taken: Taken; staged: Staged; options: ImportOptions },
): Manifest {
  const decimals = (...of: readonly string[]): number =>
    Math.max(0, ...columnsOf[key.kind].map(({ name }, at) => (of.includes(name) ? (reading.decimals[at] ?? 0) : 0)));
  // Known holes that the rows now cover go; new ones are added.
  const uncovered = (before?.holes ?? []).filter(([from, to]) => from < taken.from || to > taken.to);
  const holes = [...uncovered, ...(options.holes ?? [])];
  return {
    version: 1,
    ...key,
    source,
    ...(holes.length > 0 && { holes }),
    ...(before?.staleBy !== undefined && { staleBy: before.staleBy }),
    priceDecimals: Math.max(before?.priceDecimals ?? 0, decimals('open', 'high', 'low', 'close', 'price')),
    quantityDecimals: Math.max(before?.quantityDecimals ?? 0, decimals('volume', 'quantity')),
    months: staged.months,
    imports: [...importsBefore(before, taken, options), record],
  };
}
