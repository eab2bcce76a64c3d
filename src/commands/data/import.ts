/** `sluice data import`. */

import { resolve } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { openDuck } from '../../data/catalogue/duckdb.ts';
import { columnsOf, type Kind, seriesName } from '../../data/catalogue/kinds.ts';
import { findingText, type Repair, repairs } from '../../data/check/finding.ts';
import { detectLayout } from '../../data/import/detect-layout.ts';
import { intervalOf, namedSymbol } from '../../data/import/file-names.ts';
import { type ImportOptions, type ImportResult, importFile, keyOf, notesOf } from '../../data/import/import.ts';
import { formats } from '../../data/import/layout.ts';
import { withParquetKind } from '../../data/import/parquet-reader.ts';
import { readRows } from '../../data/import/read-rows.ts';
import { openData } from '../../data/import/unpack.ts';
import { zoneOf } from '../../data/time-zones.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import type { DataGiven } from './select-series.ts';

export interface ImportGiven extends DataGiven {
  readonly as?: Kind;
  readonly symbol?: string;
  readonly interval?: string;
  readonly source?: string;
  readonly columns?: string;
  readonly format?: string;
  readonly zone?: string;
  readonly stamps: 'open' | 'close';
  readonly repair?: string;
  readonly replace: boolean;
  readonly acceptJumps: boolean;
  readonly dryRun: boolean;
  /** Checked between two files: a file that was begun is finished. */
  readonly signal: AbortSignal;
}

/** Rows that `--dry-run` shows. */
const shownRows = 5;

/** Imports file after file; the first that is refused ends it, and those before it stay. */
export async function importAll(files: readonly string[], given: ImportGiven): Promise<void> {
  const options = optionsOf(given);
  for (const [index, file] of files.entries()) {
    if (given.signal.aborted)
      throw new Refusal(
        `stopped: ${files.length - index} of ${files.length} files were not imported, the first is ${file}; run the command again for them`,
        1,
      );
    try {
      await importOne(resolve(file), options, given);
    } catch (error) {
      const behind = files.length - index - 1;
      if (!(error instanceof Refusal) || behind === 0) throw error;
      const next = files[index + 1];
      throw new Refusal(
        `${error.message}\n${counted(behind, 'file')} of ${files.length} after it ${behind === 1 ? 'was' : 'were'} not read, the first is ${next}`,
        error.exitCode,
      );
    }
  }
  if (given.signal.aborted && !given.dryRun)
    given.say(`note: stopped after the last file: ${counted(files.length, 'file')} imported`);
}

async function importOne(path: string, options: ImportOptions, given: ImportGiven): Promise<void> {
  if (given.dryRun) return show(path, options, given);
  const result = await importFile(path, options);
  if (given.json) given.out(JSON.stringify(result));
  else for (const line of importLines(result)) given.out(line);
}

function optionsOf(given: ImportGiven): ImportOptions {
  if (given.zone !== undefined) zoneOf(given.zone);
  const format = formats[given.format ?? ''] ?? {};
  return {
    ...format,
    dir: resolve(given.data),
    ...(given.as !== undefined && { kind: given.as }),
    ...(given.symbol !== undefined && { symbol: namedSymbol(given.symbol) }),
    ...(given.interval !== undefined && { interval: intervalOf(given.interval) }),
    ...(given.source !== undefined && { source: given.source }),
    ...(given.columns !== undefined && { columns: given.columns.split(',').map((name) => name.trim()) }),
    ...(given.zone !== undefined && { zone: given.zone }),
    endStamps: format.endStamps === true || given.stamps === 'close',
    repair: repairsOf(given.repair),
    replace: given.replace,
    acceptJumps: given.acceptJumps,
    now: systemClock.now(),
  };
}

function repairsOf(text: string | undefined): ReadonlySet<Repair> {
  const known = Object.keys(repairs);
  const isRepair = (name: string): name is Repair => known.includes(name);
  const asked = (text ?? '').split(',').filter((name) => name !== '');
  return new Set(
    asked.map((name) => {
      if (isRepair(name)) return name;
      throw new Refusal(
        `--repair ${name} is none${didYouMean(name, known)}: ${Object.entries(repairs)
          .map(([one, does]) => `${one} ${does}`)
          .join('; ')}`,
      );
    }),
  );
}

export const moment = (time: number): string => new Date(time).toISOString().replace(/:\d\d\.000Z$/, 'Z');

/** What came of a file, for people. */
export function importLines(result: ImportResult): readonly string[] {
  const { key, source, layout, rows, added, known, replaced, from, to, findings, repaired, stale } = result;
  const parts = [
    `${counted(added, 'row')} new`,
    ...(known > 0 ? [`${counted(known, 'row')} known`] : []),
    ...(replaced > 0 ? [`${counted(replaced, 'row')} replaced`] : []),
  ];
  return [
    `${seriesName(key)} (${source}): ${counted(rows, 'row')}, ${moment(from)} to ${moment(to)}: ${parts.join(', ')}; read as ${layout}`,
    ...repaired.map(({ repair, rows }) => `  repaired (${repair}): ${counted(rows, 'row')}`),
    ...findings.map((finding) => `  ${findingText(finding)}`),
    ...stale.map((line) => `  ${line}`),
  ];
}

async function show(path: string, options: ImportOptions, { json, out }: ImportGiven): Promise<void> {
  const file = await openData(path);
  const layout = detectLayout(file, await withParquetKind(file, options));
  const duck = await openDuck(1);
  try {
    const known = layout.symbol === undefined ? options : { ...options, symbol: layout.symbol };
    const reading = await readRows(file, layout, known, duck);
    const names = columnsOf[layout.kind].map(({ name }) => name);
    const first = await reading.batches.next();
    const batch = first.done === true ? undefined : first.value;
    const rows = Array.from({ length: Math.min(shownRows, batch?.rows ?? 0) }, (_, row) =>
      names.map((_name, column) => batch?.columns[column]?.[row] ?? Number.NaN),
    );
    await reading.batches.return(undefined);
    const { kind, about, symbol, interval, source, newestFirst, endStamps } = layout;
    const notes = notesOf(layout, reading);
    if (json) {
      const detected = { path, kind, about, symbol, interval, source, newestFirst, endStamps };
      out(JSON.stringify({ ...detected, notes, columns: names, rows }));
      return;
    }
    out(`${path}: ${about}${file.packing === 'plain' ? '' : `, ${file.packing}`}`);
    out(
      `  kind ${kind}, symbol ${symbol ?? '? (--symbol)'}, ${kind === 'klines' ? `interval ${interval ?? '? (--interval)'}, ` : ''}source ${source ?? '? (--source)'}`,
    );
    for (const note of [...notes, ...(newestFirst ? ['the newest rows come first'] : [])]) out(`  ${note}`);
    for (const { line, what } of reading.unreadable.first) out(`  line ${line}: ${what}`);
    out(`  ${names.join(', ')}`);
    for (const [time = 0, ...values] of rows) out(`  ${new Date(time).toISOString()}, ${values.join(', ')}`);
    keyOf(file, layout);
  } finally {
    duck.close();
  }
}
