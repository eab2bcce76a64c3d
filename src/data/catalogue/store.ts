/** Makes and stores series from others, and removes series. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Interval, isWithin } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { momentText } from '../check/finding.ts';
import { fetchedLock, fetchedPath } from '../fetch-file.ts';
import { type Frame, frameClose, resampleKlines, resampleTrades } from '../resample.ts';
import { klineColumns, tradeColumns } from '../tape.ts';
import { zoneOf } from '../time-zones.ts';
import { madeLayout, seriesHash, staleText, staleWithout } from './derived-series.ts';
import { openDuck } from './duckdb.ts';
import { frameOf, partialFindings } from './gap-ledger.ts';
import { type SeriesKey, seriesName } from './kinds.ts';
import { checkWhole, loadSeries } from './load.ts';
import { takeLock } from './lock.ts';
import {
  columnPath,
  folderOf,
  listSeries,
  lockCatalogue,
  type Manifest,
  readableSeries,
  readManifest,
  sweep,
  writeManifest,
} from './manifest.ts';
import { MonthWriter } from './month-writer.ts';
import { seriousFindings } from './series-warnings.ts';

/** Makes klines of a larger interval from a stored series and stores them. They replace a series only if that was made from the same. `now`: UTC ms, for the record. */
export async function storeResampled(
  dir: string,
  from: Manifest,
  { interval, zone, now }: { readonly interval: Interval; readonly zone: string; readonly now: number },
): Promise<Manifest> {
  zoneOf(zone);
  const key: SeriesKey = { kind: 'klines', symbol: from.symbol, interval };
  const name = seriesName(from);
  if (from.kind === 'depth' || (from.interval !== undefined && !isWithin(from.interval, interval)))
    throw new Refusal(`klines of ${interval} cannot be made from ${name}: use trades, or klines of a smaller interval`);
  const stale = staleText(
    listSeries(dir, (one) => one.symbol === from.symbol),
    from,
  );
  if (stale !== undefined) throw new Refusal(`${name} is ${stale}`);
  const layout = madeLayout(from);
  const before = readManifest(dir, key);
  if (before !== undefined) refuseOther(before, layout, zone);
  checkWhole(dir, from);
  const table = await loadSeries(dir, from);
  const frame = { interval, zone };
  const made =
    from.interval !== undefined
      ? resampleKlines(from.interval, klineColumns(table.columns), frame)
      : resampleTrades(tradeColumns(table.columns), frame);
  const rows = made.openTime.length;
  if (rows === 0) throw new Refusal(`${name} does not cover a single kline of ${interval}: import more`);
  refuseCut(from, table.columns[0] as Float64Array, frame, made.openTime);
  const unlock = lockCatalogue(dir);
  const duck = await openDuck(1);
  const writer = new MonthWriter(duck, dir, { ...key, ...(zone !== 'UTC' && { zone }) }, undefined);
  try {
    await writer.add([made.openTime, made.open, made.high, made.low, made.close, made.volume], rows);
    const { months } = await writer.finish();
    const source = { name, bytes: from.months.reduce((sum, { bytes }) => sum + bytes, 0), sha256: seriesHash(from) };
    const manifest: Manifest = {
      version: 1,
      ...key,
      interval,
      ...(zone !== 'UTC' && { zone }),
      source: from.source,
      priceDecimals: from.priceDecimals,
      quantityDecimals: from.quantityDecimals,
      months,
      imports: [
        {
          at: now,
          files: [source],
          layout,
          rows,
          repairs: from.imports.flatMap(({ repairs }) => repairs),
          findings: [...seriousFindings(from), ...partialFindings(from, made.openTime, frame)],
        },
      ],
    };
    writeManifest(dir, manifest);
    sweep(dir, manifest, before?.months ?? []);
    return manifest;
  } catch (error) {
    await writer.discard(before);
    throw error;
  } finally {
    duck.close();
    unlock();
  }
}

/** Refuses to put klines in the place of what was not made from the same, or for another place. */
function refuseOther(before: Manifest, layout: string, zone: string): void {
  const [name, there] = [seriesName(before), before.zone ?? 'UTC'];
  if (before.imports.at(-1)?.layout !== layout)
    throw new Refusal(
      `${name} exists and was not ${layout.replace('resampled', 'made')}: remove it first (sluice data remove)`,
    );
  if (there !== zone)
    throw new Refusal(
      `${name} exists with zone ${there} and would be replaced by a series with zone ${zone}: remove it first (sluice data remove ${before.symbol} --interval ${before.interval} --yes), or use --zone ${there}`,
    );
}

/** Refuses klines of the source that lie across an edge of those made: a week would know what happened after it. */
function refuseCut(from: Manifest, times: Float64Array, frame: Frame, opens: Float64Array): void {
  const source = frameOf(from);
  if (source === undefined) return;
  let row = 0;
  for (const open of opens)
    for (const edge of [open, frameClose(frame, open)]) {
      while (row + 1 < times.length && (times[row + 1] as number) < edge) row++;
      const last = times[row] as number;
      if (last >= edge || frameClose(source, last) <= edge) continue;
      const name = seriesName(from);
      throw new Refusal(
        `${name} has zone ${source.zone ?? 'UTC'}: ${frame.interval} in zone ${frame.zone ?? 'UTC'} begins inside its klines (${momentText(last)}): choose a smaller source (--interval) or the same zone (--zone)`,
      );
    }
}

/**
 * Removes a series, readable or not, with its column files and its record of fetched ranges. Returns the series that were derived from it;
 * they stay stale.
 */
export function removeSeries(dir: string, key: SeriesKey): readonly Manifest[] {
  const path = fetchedPath(dir, key);
  // A fetch that runs knows what it had asked for, and would never ask for it again.
  const unlockFetched = existsSync(dirname(path)) ? takeLock(fetchedLock(dir, key), path) : () => {};
  try {
    return removeAll(dir, key);
  } finally {
    unlockFetched();
  }
}

function removeAll(dir: string, key: SeriesKey): readonly Manifest[] {
  const unlock = lockCatalogue(dir);
  try {
    const stale = staleWithout(readableSeries(dir), key);
    for (const one of stale) writeManifest(dir, one);
    const hashes = hashesOf(dir, key);
    rmSync(folderOf(dir, key), { recursive: true, force: true });
    rmSync(fetchedPath(dir, key), { force: true });
    for (const sha256 of hashes) rmSync(columnPath(dir, sha256), { force: true });
    return stale;
  } finally {
    unlock();
  }
}

/** The hashes of its months; those of a series that cannot be read are computed from its files. */
function hashesOf(dir: string, key: SeriesKey): readonly string[] {
  const known = readableSeries(dir).find((one) => seriesName(one) === seriesName(key));
  if (known !== undefined) return known.months.map(({ sha256 }) => sha256);
  const folder = folderOf(dir, key);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.parquet'));
  return files.map((name) => hash('sha256', readFileSync(join(folder, name))));
}
