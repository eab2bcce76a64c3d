/** What a result must carry with it of a series: gaps, repairs, and findings that cast doubt on it. */
import type { Columns } from '../../domain/market.ts';
import { counted } from '../check/finding.ts';
import {
  type Found,
  gapNotes,
  gapsWithin,
  isTold,
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

/** The findings that go with whatever is made of a series. */
export const doubtsOf = ({ imports }: Manifest): readonly Imported['findings'][number][] =>
  imports.flatMap(({ findings }) => findings).filter(isTold);

/** Found in klines themselves: in a part of them it can be found again. */
const inRows: ReadonlySet<string> = new Set(['stuck', 'outliers', 'wicks', 'scale', 'zero-volume']);

/** Findings of a kind that are told one by one: what was recorded for weeks came in by hundreds of imports. */
const mostAlike = 3;

/** Of all that is stored, or of a part of it; `columns` are the klines of that. */
export function stampsOf(series: Manifest, part: Stretch, columns?: Columns): Notes {
  const { interval, imports } = series;
  const name = nameOf(series);
  const isWhole = covers(part, series);
  const where = isWhole ? '' : ', of all that is stored';
  const repairs = once(
    imports.flatMap((one) => one.repairs).map(({ repair, rows }) => `${name}: ${repairText(repair, rows)}${where}`),
  );
  const found = isWhole ? doubtsOf(series) : foundIn(part, series, columns, where);
  return together(
    gapNotes(name, gapsWithin(ledgerOf(series), part), interval),
    { warnings: repairs, doubts: repairs },
    ...fewOf(found, series),
    ...(columns === undefined ? [] : [recordedNotes(name, columns, found)]),
  );
}

/** Files that were imported twice found the same twice. */
const once = (lines: readonly string[]): readonly string[] => [...new Set(lines)];

/** Of each kind a few and how many more there are. */
function fewOf(found: readonly Found[], series: Manifest): readonly Notes[] {
  const kinds = Map.groupBy(found.filter(isTold), ({ check }) => check);
  return [...kinds.values()].map((alike) => {
    const notes = notesOf(nameOf(series), alike);
    const [warnings, doubts] = [once(notes.warnings), once(notes.doubts)];
    const left = warnings.length - mostAlike;
    if (left <= 0) return { warnings, doubts };
    const more = `${nameOf(series)}: ${counted(left, 'finding')} more of this kind, of other imports: sluice data check ${series.symbol} lists them all`;
    return { warnings: [...warnings.slice(0, mostAlike), more], doubts };
  });
}

const nameOf = ({ kind, symbol, interval }: Manifest): string => `${symbol} ${interval ?? kind}`;

const covers = ({ from, to }: Stretch, { months }: Manifest): boolean =>
  (from === undefined || from <= (months[0]?.from ?? from)) && (to === undefined || to > (months.at(-1)?.to ?? to - 1));

/** Found in a part of a series: again where its klines tell it, as it was kept where it is not known to lie elsewhere. */
function foundIn(part: Stretch, series: Manifest, columns: Columns | undefined, where: string): readonly Found[] {
  const { interval } = series;
  // What made klines were made of is not at hand.
  const isAgain = columns !== undefined && interval !== undefined && !isMade(series);
  const again = isAgain ? klineFindings(interval, columns) : [];
  const kept = doubtsOf(series).filter((one) => !(isAgain && inRows.has(one.check)) && !liesOutside(part, one));
  return [...again, ...kept.map((one) => ({ ...one, what: `${one.what}${where}` }))];
}

/** Of more than a few places not all are known. */
const liesOutside = ({ from = -Infinity, to = Infinity }: Stretch, { count, places }: Found): boolean =>
  places.length >= count && places.every(({ time }) => time !== undefined && (time < from || time >= to));
