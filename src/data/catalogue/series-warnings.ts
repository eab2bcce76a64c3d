/** Warnings of a result about a series: gaps, repairs, and findings that make it doubtful. */

import type { Columns } from '../../domain/market.ts';
import { counted } from '../../domain/words.ts';
import {
  type Found,
  gapNotes,
  gapsWithin,
  isReported,
  klineFindings,
  type Notes,
  notesOf,
  recordedNotes,
  repairText,
  type Stretch,
  together,
} from '../data-warnings.ts';
import { isMade } from './derived-series.ts';
import { ledgerOf } from './gap-ledger.ts';
import type { Imported, Manifest } from './manifest.ts';

/** The findings that everything made of a series reports. */
export const seriousFindings = ({ imports }: Manifest): readonly Imported['findings'][number][] =>
  imports.flatMap(({ findings }) => findings).filter(isReported);

/** Checks of the klines themselves, which can be repeated for a part. */
const inRows: ReadonlySet<string> = new Set(['stuck', 'outliers', 'wicks', 'scale', 'zero-volume']);

/** Findings of a kind that are listed one by one: recordings of weeks have hundreds of imports. */
const maxAlike = 3;

/** The warnings of a part of a series; `columns` are its klines. */
export function seriesNotes(series: Manifest, part: Stretch, columns?: Columns): Notes {
  const { interval, imports } = series;
  const name = nameOf(series);
  const isWhole = covers(part, series);
  const where = isWhole ? '' : ', of all stored data';
  const repairs = once(
    imports.flatMap((one) => one.repairs).map(({ repair, rows }) => `${name}: ${repairText(repair, rows)}${where}`),
  );
  const found = isWhole ? seriousFindings(series) : foundIn(part, series, columns, where);
  return together(
    gapNotes(name, gapsWithin(ledgerOf(series), part), interval),
    { warnings: repairs, doubts: repairs },
    ...fewOf(found, series),
    ...(columns === undefined ? [] : [recordedNotes(name, columns, found)]),
  );
}

/** Files that were imported twice have the same findings twice. */
const once = (lines: readonly string[]): readonly string[] => [...new Set(lines)];

/** A few of each kind, and how many more there are. */
function fewOf(found: readonly Found[], series: Manifest): readonly Notes[] {
  const kinds = Map.groupBy(found.filter(isReported), ({ check }) => check);
  return [...kinds.values()].map((alike) => {
    const notes = notesOf(nameOf(series), alike);
    const [warnings, doubts] = [once(notes.warnings), once(notes.doubts)];
    const left = warnings.length - maxAlike;
    if (left <= 0) return { warnings, doubts };
    const more = `${nameOf(series)}: ${counted(left, 'finding')} more of this kind in other imports: sluice data check ${series.symbol} lists all`;
    return { warnings: [...warnings.slice(0, maxAlike), more], doubts };
  });
}

const nameOf = ({ kind, symbol, interval }: Manifest): string => `${symbol} ${interval ?? kind}`;

const covers = ({ from, to }: Stretch, { months }: Manifest): boolean =>
  (from === undefined || from <= (months[0]?.from ?? from)) && (to === undefined || to > (months.at(-1)?.to ?? to - 1));

/** The findings of a part: checked again where its klines are at hand, else as stored unless they lie elsewhere. */
function foundIn(part: Stretch, series: Manifest, columns: Columns | undefined, where: string): readonly Found[] {
  const { interval } = series;
  // Made klines have no rows of their source.
  const isAgain = columns !== undefined && interval !== undefined && !isMade(series);
  const again = isAgain ? klineFindings(interval, columns) : [];
  const kept = seriousFindings(series).filter((one) => !(isAgain && inRows.has(one.check)) && !liesOutside(part, one));
  return [...again, ...kept.map((one) => ({ ...one, what: `${one.what}${where}` }))];
}

/** Whether all places lie outside; only the first few are stored. */
const liesOutside = ({ from = -Infinity, to = Infinity }: Stretch, { count, places }: Found): boolean =>
  places.length >= count && places.every(({ time }) => time !== undefined && (time < from || time >= to));
