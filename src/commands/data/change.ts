/** `sluice data export`, `resample` and `remove`. */

import { statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { systemClock } from '../../clock/clock.ts';
import { lostText, ofMaking, staleText } from '../../data/catalogue/derived-series.ts';
import { kinds, seriesName } from '../../data/catalogue/kinds.ts';
import { type Manifest, readAgain, readableSeries } from '../../data/catalogue/manifest.ts';
import { exportSeries } from '../../data/catalogue/query.ts';
import { removeSeries, storeResampled } from '../../data/catalogue/store.ts';
import { findingText, lengthText, momentText } from '../../data/check/finding.ts';
import { intervalOf } from '../../data/import/file-names.ts';
import { allIntervals, type Interval } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { placeFault } from '../writable.ts';
import { chosen, chosenKeys, chosenOne, type WhichSeries } from './select-series.ts';

export async function exportOne(
  given: WhichSeries & {
    readonly output: string;
    readonly from?: number;
    readonly to?: number;
    readonly replace: boolean;
  },
): Promise<void> {
  const { data, output, from, to, json, out, say } = given;
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal(`--from ${momentText(from)} is not before --to ${momentText(to)}: swap them, or leave one out`);
  refuseTaken(given);
  const { series, rows } = await readAgain(resolve(data), async () => {
    const one = chosenOne(given);
    return { series: one, rows: await exportSeries(resolve(data), one, resolve(output), { from, to }) };
  });
  const name = seriesName(series);
  const stale = staleText(readableSeries(resolve(data)), series);
  if (stale !== undefined) say(`note: ${name}: ${stale}`);
  out(
    json
      ? JSON.stringify({ series: name, file: resolve(output), rows })
      : `${name}: ${counted(rows, 'row')} into ${output}`,
  );
}

/** Refuses to write over a file that nobody said may go, into the folders of the catalogue, whose files are its own, and where no file can be. */
function refuseTaken({
  data,
  output,
  replace,
}: Pick<WhichSeries, 'data'> & { readonly output: string; readonly replace: boolean }) {
  const path = resolve(output);
  if ([...kinds, 'cache'].some((folder) => path.startsWith(join(resolve(data), folder, sep))))
    throw new Refusal(
      `${output} is in a folder of the catalogue ${resolve(data)}, which only Sluice writes: name another folder`,
    );
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory())
    throw new Refusal(`${output} is a folder: name a file in it, such as ${join(output, 'klines.csv')}`);
  if (found !== undefined && found.size > 0 && !replace)
    throw new Refusal(`${output} exists: name another file, or overwrite it with --replace`);
  const fault = placeFault(dirname(path));
  if (fault !== undefined) throw new Refusal(`-o ${output}: ${fault}`);
}

export async function resample(given: WhichSeries & { readonly into: string; readonly zone: string }): Promise<void> {
  const { data, into, zone, json, out, say, symbol, kind, interval } = given;
  const dir = resolve(data);
  const wanted = into.split(',').map((text) => intervalOf(text.trim()));
  const found = chosen(given).filter((one) => one.kind !== 'depth');
  // The smallest klines are meant, and trades only where there are none, unless something is said.
  const [from] = found.toSorted((a, b) => a.kind.localeCompare(b.kind) || orderOf(a.interval) - orderOf(b.interval));
  if (from === undefined) throw new Refusal('klines cannot be made from depth: import trades or klines of this symbol');
  if (symbol === undefined && new Set(found.map((one) => one.symbol)).size > 1)
    throw new Refusal(`choose a symbol: ${[...new Set(found.map((one) => one.symbol))].join(', ')}`);
  if (kind === undefined && interval === undefined && from.zone !== undefined)
    throw new Refusal(`${seriesName(from)} has zone ${from.zone}: choose the source with --interval`);
  const longer = found.find(
    (one) =>
      one.kind === 'klines' &&
      spanOf(one) > 2 * spanOf(from) &&
      wanted.every((to) => orderOf(one.interval) < orderOf(to)),
  );
  if (interval === undefined && longer !== undefined)
    say(
      `note: made from ${seriesName(from)}, which spans ${lengthText(spanOf(from))}; ${seriesName(longer)} spans ${lengthText(spanOf(longer))}: --interval ${longer.interval} uses that`,
    );
  for (const one of wanted) {
    const stored = await storeResampled(dir, from, { interval: one, zone, now: systemClock.now() });
    const name = seriesName(stored);
    const rows = stored.months.reduce((sum, month) => sum + month.rows, 0);
    const findings = ofMaking(stored);
    if (json) {
      out(JSON.stringify({ series: name, from: seriesName(from), rows, zone, findings }));
      continue;
    }
    out(`${name}: ${counted(rows, 'kline')} from ${seriesName(from)}${zone === 'UTC' ? '' : `, ${zone}`}`);
    for (const finding of findings) out(`  ${findingText(finding)}`);
  }
}

/** From the first to the last row, ms. */
const spanOf = ({ months }: Manifest): number => (months.at(-1)?.to ?? 0) - (months[0]?.from ?? 0);

const orderOf = (interval: Interval = '1min'): number => allIntervals.indexOf(interval);

export function remove(given: WhichSeries & { readonly yes: boolean; readonly all: boolean }): void {
  const { data, yes, all, json, out, say, symbol, kind, interval } = given;
  const isNarrowed = symbol !== undefined || kind !== undefined || interval !== undefined;
  if (all && isNarrowed)
    throw new Refusal('--all selects everything: leave out SYMBOL, --kind and --interval, or --all');
  const found = chosenKeys(given);
  const names = found.map(seriesName);
  if (!isNarrowed && !all)
    throw new Refusal(
      `this would remove everything, ${names.join(', ')}: choose series with SYMBOL, --kind or --interval, or confirm with --all`,
    );
  if (!yes) throw new Refusal(`this would remove ${names.join(', ')}: confirm with --yes`);
  for (const [index, one] of found.entries()) {
    const stale = removeSeries(resolve(data), one);
    out(json ? JSON.stringify({ removed: names[index] }) : `${names[index]}: removed`);
    for (const left of stale.filter((each) => !names.includes(seriesName(each))))
      say(`note: ${seriesName(left)} is ${lostText(left)}`);
  }
}
