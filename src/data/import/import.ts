/** Files into a series of the catalogue: guess, read, check, mend if asked, stage, and then make it count in one step. */
import { closeTime, openTimeOf } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { compared } from '../catalogue/compare-series.ts';
import { staleOf, staleText } from '../catalogue/derived-series.ts';
import { type Duck, openDuck } from '../catalogue/duckdb.ts';
import { frameOf } from '../catalogue/gap-ledger.ts';
import { columnsOf, type SeriesKey, seriesName } from '../catalogue/kinds.ts';
import {
  type Imported,
  listSeries,
  lockCatalogue,
  type Manifest,
  readManifest,
  sweep,
  sweepCache,
  writeManifest,
} from '../catalogue/manifest.ts';
import { MonthWriter, type Staged } from '../catalogue/month-writer.ts';
import { seamFindings } from '../catalogue/price-continuity.ts';
import { GrowingTable } from '../catalogue/rows.ts';
import { DepthChecks } from '../check/depth.ts';
import { accepted, refuseImport } from '../check/errors.ts';
import { counted, type Finding, type Repair, type Repaired } from '../check/finding.ts';
import { futureFinding } from '../check/future-rows.ts';
import { KlineChecks } from '../check/klines.ts';
import { TradeChecks } from '../check/trades.ts';
import type { Batch, Reading } from './batch.ts';
import { readAsBase } from './contracts.ts';
import { guess } from './guess-layout.ts';
import type { Layout, Told } from './layout.ts';
import { Clocks } from './local-times.ts';
import { toldOfParquet } from './parquet-rows.ts';
import { notesOf, readRows } from './read.ts';
import { mend, reversed } from './repair.ts';
import { ofOneSymbol } from './symbols.ts';
import { type DataFile, openData } from './unpack.ts';

export interface ImportOptions extends Told {
  readonly dir: string;
  readonly endStamps: boolean;
  readonly repair: ReadonlySet<Repair>;
  /** Rows that say something else than what is stored take its place. */
  readonly replace: boolean;
  /** Prices that jump to another scale are the market's: they are taken, and told of. */
  readonly acceptJumps?: boolean;
  /** UTC ms, for the record. */
  readonly now: number;
  /** Stretches of trades or depth that nobody looked at, UTC ms, as a recorder knows them. */
  readonly holes?: readonly (readonly [from: number, to: number])[];
}

export interface ImportResult {
  readonly key: SeriesKey;
  readonly source: string;
  readonly path: string;
  readonly layout: string;
  readonly rows: number;
  readonly added: number;
  readonly known: number;
  readonly replaced: number;
  readonly from: number;
  readonly to: number;
  readonly findings: readonly Finding[];
  readonly repaired: readonly Repaired[];
  readonly sha256: string;
  readonly bytes: number;
  /** Series that were made of this one and kept, and that are not what would be made of it now: what to do, each. */
  readonly stale: readonly string[];
}

/** Rows that are held in memory for a repair, or a file that begins with the newest; about 3 GB of klines. */
const mostHeldRows = 60_000_000;

/** Imports one file. A `Refusal` says everything that stands against it; then the catalogue is as it was. */
export async function importFile(path: string, options: ImportOptions): Promise<ImportResult> {
  const file = await openData(path);
  const layout = guess(file, await toldOfParquet(file, options));
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

/** The series that a file belongs to; a `Refusal` when its name and rows do not tell. */
export function keyOf({ path }: Pick<DataFile, 'path'>, { kind, symbol, interval, form }: Layout): SeriesKey {
  if (symbol === undefined || symbol === '')
    throw new Refusal(`${path}: neither its name nor its rows say which symbol it is: --symbol BTCUSDT`);
  if (kind !== 'klines') return { kind, symbol };
  if (interval === undefined && form.is === 'parquet')
    throw new Refusal(`${path}: say the interval of its klines (--interval 1min)`);
  if (interval === undefined)
    throw new Refusal(
      `${path}: most rows are not one of 1min, 5min, 15min, 30min, 60min, 1day, 1week or 1month apart: say the interval (--interval), or import 1min klines and resample them`,
    );
  return { kind, symbol, interval };
}

async function importInto(
  file: DataFile,
  layout: Layout,
  key: SeriesKey,
  options: ImportOptions,
  duck: Duck,
): Promise<ImportResult> {
  const { dir, source: told } = options;
  const before = readManifest(dir, key);
  const source = told ?? layout.source ?? before?.source ?? 'unknown';
  if (before !== undefined && before.source !== source)
    throw new Refusal(
      `${file.path} is of ${source}, and ${seriesName(key)} holds data of ${before.source}: give it another --symbol, or say that it is the same (--source ${before.source})`,
    );
  if (before?.zone !== undefined)
    throw new Refusal(
      `${seriesName(key)} was made with the days of ${before.zone}, and those of a file are of UTC: remove it first (sluice data remove ${key.symbol} --interval ${key.interval} --yes)`,
    );
  const reading = await readRows(ofOneSymbol(file, layout), layout, { ...options, symbol: key.symbol }, duck);
  const writer = new MonthWriter(duck, dir, key, before, options.replace);
  try {
    const taken = await takeRows(file, layout, key, options, reading, writer);
    const staged = await writer.finish();
    refuseConflicts(file, staged, options, taken.rows);
    const written = manifestOf({ before, key, source, file, layout, reading, taken, staged, options });
    const seams = await seamFindings(dir, before, written, taken);
    const seamed = accepted(seams, options.acceptJumps);
    refuseImport(file.path, seamed, taken.rows);
    const beside = [...seamed, ...(await compared(dir, written))];
    const manifest = withFindings(written, beside);
    writeManifest(dir, manifest);
    sweep(dir, manifest, before?.months ?? []);
    sweepCache(dir);
    const record = manifest.imports.at(-1)?.files[0];
    const { rows, from, to, repaired } = taken;
    const findings = [...taken.findings, ...beside];
    const replaced = staged.conflicts;
    const counts = { rows, added: staged.added, known: staged.known, replaced };
    const about = { key, source, path: file.path, layout: layout.about, from, to, findings, repaired };
    return { ...about, ...counts, sha256: record?.sha256 ?? '', bytes: file.bytes(), stale: staleTexts(dir, manifest) };
  } catch (error) {
    await writer.discard(before);
    throw error;
  }
}

function staleTexts(dir: string, source: Manifest): readonly string[] {
  const all = listSeries(dir, () => false);
  return staleOf(all, source).map((one) => `${seriesName(one as SeriesKey)} is ${staleText(all, one)}`);
}

interface Taken {
  readonly rows: number;
  readonly from: number;
  readonly to: number;
  readonly findings: readonly Finding[];
  readonly repaired: readonly Repaired[];
}

type Checks = KlineChecks | TradeChecks | DepthChecks;

/** Checks for the rows of a series. */
export function checksOf({ kind, interval, zone }: SeriesKey & Pick<Manifest, 'zone'>): Checks {
  if (kind === 'trades') return new TradeChecks();
  return kind === 'depth' || interval === undefined ? new DepthChecks() : new KlineChecks(interval, zone);
}

async function takeRows(
  file: DataFile,
  layout: Layout,
  key: SeriesKey,
  options: ImportOptions,
  reading: Reading,
  writer: MonthWriter,
): Promise<Taken> {
  const shift = layout.endStamps || options.endStamps;
  const held =
    options.repair.size > 0 || layout.newestFirst
      ? new GrowingTable(key.kind, columnsOf[key.kind].length, 2 ** 16)
      : undefined;
  const raw = checksOf(key);
  const ahead = (): readonly Finding[] => futureFinding(span.to, frameOf(key), options.now);
  const span = { rows: 0, from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  const clocks = new Clocks({ isLocal: layout.isLocal || reading.isLocal }, key, options);
  const found = (): readonly Finding[] => [
    ...accepted(raw.findings(), options.acceptJumps),
    ...clocks.findings(raw instanceof KlineChecks ? raw.gaps : []),
    ...ahead(),
  ];
  for await (const batch of reading.batches) {
    if (!layout.newestFirst) clocks.settle(batch.columns, batch.rows);
    if (shift) openInstead(batch, key);
    noteSpan(span, batch);
    if (held === undefined) {
      raw.add(batch.columns, batch.rows, batch.lines);
      await writer.add(batch.columns, batch.rows);
    } else {
      held.append(batch.columns, 0, batch.rows);
      if (held.rows > mostHeldRows)
        throw new Refusal(
          `${file.path} has more than ${counted(mostHeldRows, 'row')}, too many to repair at once: split the file`,
        );
    }
  }
  if (span.rows === 0 && reading.unreadable.count === 0) throw new Refusal(`${file.path} has no rows: fetch it again`);
  if (held === undefined) {
    const findings = [...readingFindings(layout, reading), ...found()];
    refuseImport(file.path, findings, span.rows);
    return { ...span, findings, repaired: [] };
  }
  const dropped: Repaired[] =
    options.repair.has('unreadable') && reading.unreadable.count > 0
      ? [
          {
            repair: 'unreadable',
            rows: reading.unreadable.count,
            first: { line: reading.unreadable.first[0]?.line ?? 0 },
          },
        ]
      : [];
  const ordered = layout.newestFirst ? reversed(held) : held;
  if (layout.newestFirst) clocks.settle(ordered.columns, ordered.rows);
  const { table, repaired } = mend(ordered, options.repair);
  raw.add(table.columns, table.rows);
  const read = readingFindings(layout, reading).filter(({ check }) => check !== 'unreadable' || dropped.length === 0);
  const findings = [...read, ...found()];
  refuseImport(file.path, findings, table.rows);
  if (table.rows === 0)
    throw new Refusal(`${file.path}: not imported: no row is left after the repairs (--repair); is it the right file?`);
  await writer.add(table.columns, table.rows);
  return { ...span, rows: table.rows, findings, repaired: [...dropped, ...repaired] };
}

function noteSpan(span: { rows: number; from: number; to: number }, { columns, rows }: Batch): void {
  const times = columns[0] as Float64Array;
  span.rows += rows;
  for (let row = 0; row < rows; row++) {
    const time = times[row] as number;
    if (time < span.from) span.from = time;
    if (time > span.to) span.to = time;
  }
}

/** Puts the opening of a kline in the place of its end, whether that is given as the next opening or a moment before. */
function openInstead({ columns, rows }: Batch, { interval }: SeriesKey): void {
  if (interval === undefined) return;
  const times = columns[0] as Float64Array;
  for (let row = 0; row < rows; row++) {
    const end = times[row] as number;
    const open = openTimeOf(interval, end - 1);
    // What is no end stays as it is, for the checks to find.
    if (closeTime(interval, open) - end <= 1_000) times[row] = open;
  }
}

/** What the reading itself has to say. */
function readingFindings(layout: Layout, reading: Reading): readonly Finding[] {
  const { unreadable, units, ended, lines } = reading;
  const found: Finding[] = [];
  if (unreadable.count > 0) {
    const places = unreadable.first;
    const cut = !ended && places.some(({ line }) => line === lines) ? ' (the last one: the file may be cut off)' : '';
    const what = `${counted(unreadable.count, 'line')} that cannot be read${cut}`;
    const advice = 'correct the file, or leave them out (--repair unreadable)';
    found.push({
      check: 'unreadable',
      count: unreadable.count,
      refused: true,
      what,
      effect: 'rows would be missing',
      advice,
      places,
    });
  }
  const remark = (check: Finding['check'], what: string, effect: string): void => {
    found.push({ check, count: 1, refused: false, what, effect, places: [] });
  };
  if (!ended && unreadable.count === 0) remark('cut-off', 'the last line has no end', 'the file may be cut off');
  if (units.size > 1)
    remark('assumed', `times are in ${[...units].join(' and then ')}`, 'each is read in the unit its size gives it');
  if (layout.newestFirst) remark('assumed', 'the newest rows come first', 'they are stored in the order of time');
  if (layout.endStamps) remark('assumed', 'times are ends of klines', 'they are stored by their opening');
  for (const note of notesOf(layout, reading)) {
    const [what, doubt] = note.split(`: ${readAsBase}`);
    if (doubt === undefined) remark('assumed', note, 'as guessed');
    else remark('contracts', what as string, readAsBase);
  }
  return found;
}

function refuseConflicts({ path }: DataFile, staged: Staged, { replace }: ImportOptions, rows: number): void {
  if (staged.conflicts === 0 || replace) return;
  const first = new Date(staged.firstConflict ?? 0).toISOString();
  throw new Refusal(
    `${path}: not imported: ${counted(staged.conflicts, 'stored row')} (the first of ${first}) would give way to other ones among its ${counted(rows, 'row')}: see which are right (sluice data sql), then --replace`,
  );
}

/** The last import found these, too. */
function withFindings(manifest: Manifest, more: readonly Finding[]): Manifest {
  const last = manifest.imports.at(-1);
  if (last === undefined || more.length === 0) return manifest;
  return {
    ...manifest,
    imports: [...manifest.imports.slice(0, -1), { ...last, findings: [...last.findings, ...more.map(plain)] }],
  };
}

const plain = (one: Finding): Imported['findings'][number] => ({
  ...one,
  places: one.places.map((place) => ({ ...place })),
});

interface Import {
  readonly before: Manifest | undefined;
  readonly key: SeriesKey;
  readonly source: string;
  readonly file: DataFile;
  readonly layout: Layout;
  readonly reading: Reading;
  readonly taken: Taken;
  readonly staged: Staged;
  readonly options: ImportOptions;
}

/** Holes that were known and that the rows now cover are none any more. */
function holesOf(
  before: Manifest | undefined,
  { from, to }: Taken,
  fresh: ImportOptions['holes'] = [],
): [number, number][] {
  const left = (before?.holes ?? []).filter(([start, end]) => start < from || end > to);
  return [...left, ...fresh.map(([start, end]): [number, number] => [start, end])];
}

/** What was found in trades and books that have all given way says nothing of those that took their place. */
function importsBefore(before: Manifest | undefined, { from, to }: Taken, { replace }: ImportOptions): Imported[] {
  const { kind, months = [], imports = [] } = before ?? {};
  const isAll = replace && kind !== 'klines' && from <= (months[0]?.from ?? 0) && to >= (months.at(-1)?.to ?? 0);
  return isAll ? imports.map((one) => ({ ...one, repairs: [], findings: [] })) : imports;
}

function manifestOf({ before, key, source, file, layout, reading, taken, staged, options }: Import): Manifest {
  const names = columnsOf[key.kind].map(({ name }) => name);
  const decimals = (wanted: readonly string[]): number =>
    Math.max(0, ...names.map((name, at) => (wanted.includes(name) ? (reading.decimals[at] ?? 0) : 0)));
  const record: Imported = {
    at: options.now,
    files: [{ name: file.path.replace(/^.*[/\\]/, ''), bytes: file.bytes(), sha256: file.sha256() }],
    layout: layout.about,
    rows: taken.rows,
    repairs: taken.repaired.map((one) => ({ ...one, ...(one.first && { first: { ...one.first } }) })),
    findings: taken.findings.map(plain),
  };
  const holes = holesOf(before, taken, options.holes);
  return {
    version: 1,
    ...key,
    source,
    ...(holes.length > 0 && { holes }),
    ...(before?.staleBy !== undefined && { staleBy: before.staleBy }),
    priceDecimals: Math.max(before?.priceDecimals ?? 0, decimals(['open', 'high', 'low', 'close', 'price'])),
    quantityDecimals: Math.max(before?.quantityDecimals ?? 0, decimals(['volume', 'quantity'])),
    months: [...staged.months],
    imports: [...importsBefore(before, taken, options), record],
  };
}
