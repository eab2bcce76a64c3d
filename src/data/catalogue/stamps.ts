/** What a result must carry with it of the data it was made of: gaps, repairs, and findings that cast doubt on it. */
import type { Columns } from '../../domain/market.ts';
import { asRecorded, asRecordedText } from '../as-recorded.ts';
import { counted, findingText } from '../check/finding.ts';
import { gapsText } from '../gaps.ts';
import { frameOf, ledgerOf } from './ledger.ts';
import type { Imported, Manifest } from './manifest.ts';

type Found = Imported['findings'][number];

/** What casts doubt on a result; the rest is said by `sluice data check`. */
const told: ReadonlySet<string> = new Set(
  'stuck outliers wicks scale cut-off slip one-sided locked old-books delivered-twice partial zone'.split(' '),
);

/** Single klines without volume are usual; runs of them may be an outage that the source filled. */
const isFilled = ({ check, what }: Found): boolean => check === 'zero-volume' && what.includes('longest run');

/** Rows that were dated after their import stay doubtful when that day has come; a kline that was only not over yet does not. */
const isMadeUp = ({ check, places }: Found): boolean => check === 'future' && places.length === 0;

/** The findings that go with whatever is made of a series. */
export const doubtsOf = ({ imports }: Manifest): readonly Found[] =>
  imports.flatMap(({ findings }) => findings).filter((one) => told.has(one.check) || isFilled(one) || isMadeUp(one));

/** Findings of a kind that are told one by one: what was recorded for weeks came in by hundreds of imports. */
const mostAlike = 3;

/** A line each. Files that were imported twice found the same twice. */
export function stampsOf(series: Manifest): readonly string[] {
  const name = nameOf(series);
  const gaps = gapsText(ledgerOf(series), frameOf(series));
  const repairs = series.imports.flatMap((one) => one.repairs);
  const lines = [
    ...(gaps === '' ? [] : [gaps]),
    ...repairs.map(({ repair, rows }) => `repaired (${repair}): ${rows} ${rows === 1 ? 'row' : 'rows'}`),
    ...Map.groupBy(doubtsOf(series), ({ check }) => check)
      .values()
      .flatMap((alike) => fewOf([...new Set(alike.map(doubtText))], series.symbol)),
  ];
  return [...new Set(lines)].map((line) => `${name}: ${line}`);
}

function fewOf(lines: readonly string[], symbol: string): readonly string[] {
  const left = lines.length - mostAlike;
  if (left <= 0) return lines;
  const more = `${counted(left, 'finding')} more of this kind, of other imports: sluice data check ${symbol} tells them together`;
  return [...lines.slice(0, mostAlike), more];
}

const nameOf = ({ kind, symbol, interval }: Manifest): string => `${symbol} ${interval ?? kind}`;

/** What was found and when; the lines of the file are not at hand any more, and what to do with it was said at its import. */
const doubtText = ({ what, effect, count, places }: Found): string =>
  findingText({ what, effect, count, places: places.map(({ time, what: row }) => ({ time, what: row })) });

/** What sources are known for, of all klines that were loaded; klines without volume only where nothing was said of them yet. */
export function recordedStamp(series: Manifest, columns: Columns): readonly string[] {
  const found = asRecorded(columns);
  const isTold = doubtsOf(series).some(isFilled);
  const text = asRecordedText({ ...found, ...(isTold && { zeroVolume: 0 }) });
  return text === '' ? [] : [`${nameOf(series)}: ${text}`];
}
