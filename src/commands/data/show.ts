/** `sluice data list`, `check` and `sql`. */

import { resolve } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { audit } from '../../data/catalogue/audit.ts';
import { ofMaking, seriesHash, staleText } from '../../data/catalogue/derived-series.ts';
import { ledgerOf } from '../../data/catalogue/gap-ledger.ts';
import { kinds, seriesName } from '../../data/catalogue/kinds.ts';
import { type Manifest, readAgain, readableSeries, readManifest } from '../../data/catalogue/manifest.ts';
import { isAbout, maxAnswerRows, query } from '../../data/catalogue/query.ts';
import { findingText } from '../../data/check/finding.ts';
import { cellText } from '../../data/import/csv-reader.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { textTable } from '../../terminal/table.ts';
import { chosenReadable, type DataGiven, type WhichSeries } from './select-series.ts';

const day = (time: number | undefined): string =>
  time === undefined ? '' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');

/** One line for each series. */
export function list(given: WhichSeries): void {
  const { out, json } = given;
  const all = readableSeries(resolve(given.data));
  const { found, damaged } = chosenReadable(given);
  const rows = found.map((one) => summaryOf(one, all));
  if (json) for (const row of rows) out(JSON.stringify(row));
  else {
    out(textTable(head, rows.map(cellsOf)));
    for (const row of rows) if (row.stale !== undefined) out(`${seriesName(row)}: ${row.stale}`);
  }
  refuseDamaged(damaged);
}

const head = ['kind', 'symbol', 'interval', 'rows', 'from', 'to', 'gaps', 'MB', 'source', 'repaired'];
const cellsOf = ({ zone, ...row }: ReturnType<typeof summaryOf>): readonly string[] => [
  ...[row.kind, row.symbol, `${row.interval ?? ''}${zone === undefined ? '' : ` ${zone}`}`],
  ...[row.rows.toLocaleString('en-US'), day(row.from), day(row.to), String(row.gaps), (row.bytes / 1e6).toFixed(1)],
  ...[row.source, row.repaired ? 'yes' : ''],
];

/** Once the others are shown. */
function refuseDamaged(damaged: readonly Refusal[]): void {
  if (damaged.length > 0) throw new Refusal(damaged.map(({ message }) => message).join('\n'));
}

function summaryOf(manifest: Manifest, all: readonly Manifest[]) {
  const { kind, symbol, interval, zone, source, months, imports } = manifest;
  return {
    kind,
    symbol,
    interval,
    zone,
    source,
    rows: months.reduce((sum, { rows }) => sum + rows, 0),
    from: months[0]?.from,
    to: months.at(-1)?.to,
    gaps: ledgerOf(manifest).length,
    bytes: months.reduce((sum, { bytes }) => sum + bytes, 0),
    repaired: imports.some(({ repairs }) => repairs.length > 0),
    stale: staleText(all, manifest),
    sha256: seriesHash(manifest),
    imports: imports.map(({ at, files, layout, rows }) => ({ at, files, layout, rows })),
  };
}

/** Everything read again. Exit code 1 when a file is not what was written. */
export async function check(given: WhichSeries): Promise<void> {
  const { out, json } = given;
  const dir = resolve(given.data);
  let damaged = 0;
  const all = readableSeries(dir);
  const { found, damaged: unreadable } = chosenReadable(given);
  for (const listed of found) {
    const now = systemClock.now();
    const isDamaged = (audited: Awaited<ReturnType<typeof audit>>): boolean => audited.damage.length > 0;
    const audited = await readAgain(dir, () => audit(dir, readManifest(dir, listed) ?? listed, now), isDamaged);
    const { manifest, damage } = audited;
    damaged += damage.length;
    const findings = [...ofMaking(manifest), ...audited.findings];
    const stale = staleText(all, manifest);
    const repairs = manifest.imports.flatMap((one) => one.repairs);
    const name = seriesName(manifest);
    if (json) {
      out(JSON.stringify({ series: name, stale, damage, findings, repairs, gaps: ledgerOf(manifest) }));
      continue;
    }
    const rows = manifest.months.reduce((sum, month) => sum + month.rows, 0);
    out(`${name}: ${counted(rows, 'row')}, ${damage.length === 0 ? 'as written' : 'DAMAGED'}`);
    for (const line of damage) out(`  ${line}`);
    if (stale !== undefined) out(`  ${stale}`);
    for (const { repair, rows: repaired } of repairs) out(`  repaired (${repair}): ${counted(repaired, 'row')}`);
    for (const finding of findings) out(`  ${findingText(finding)}`);
  }
  refuseDamaged(unreadable);
  if (damaged > 0) throw new Refusal(`${counted(damaged, 'file')} of the catalogue failed the check`, 1);
}

/** The answer as a table, or as one JSON object a row. */
export async function sql(text: string, { data, json, out, say }: DataGiven): Promise<void> {
  const { columns, rows, cut } = await query(resolve(data), text);
  const all = readableSeries(resolve(data));
  for (const one of all) {
    const stale = isAbout(text, one.kind) ? staleText(all, one) : undefined;
    if (stale !== undefined) say(`note: ${seriesName(one)}: ${stale}`);
  }
  for (const kind of kinds)
    if (isAbout(text, kind) && !all.some((one) => one.kind === kind))
      say(`note: ${resolve(data)} holds no ${kind}${all.length === 0 ? ' and nothing else' : ''}`);
  if (json)
    for (const row of rows) out(JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index]]))));
  else
    out(
      textTable(
        columns,
        rows.map((row) => row.map(cellText)),
      ),
    );
  if (cut) say(`note: cut after ${maxAnswerRows} rows: reduce the query (LIMIT), or use sluice data export`);
}
