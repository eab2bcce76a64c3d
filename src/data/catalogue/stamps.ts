/** What a result must carry with it of the data it was made of: gaps, repairs, and findings that cast doubt on it. */
import { gapsText } from '../gaps.ts';
import { frameOf, ledgerOf } from './ledger.ts';
import type { Imported, Manifest } from './manifest.ts';

type Found = Imported['findings'][number];

/** What casts doubt on a result; the rest is said by `sluice data check`. */
const told: ReadonlySet<string> = new Set(
  'stuck outliers wicks scale cut-off slip one-sided locked delivered-twice partial'.split(' '),
);

/** Single klines without volume are usual; runs of them may be an outage that the source filled. */
const isFilled = ({ check, what }: Found): boolean => check === 'zero-volume' && what.includes('longest run');

/** The findings that go with whatever is made of a series. */
export const doubtsOf = ({ imports }: Manifest): readonly Found[] =>
  imports.flatMap(({ findings }) => findings).filter((one) => told.has(one.check) || isFilled(one));

/** A line each. */
export function stampsOf(series: Manifest): readonly string[] {
  const { kind, symbol, interval } = series;
  const name = `${symbol} ${interval ?? kind}`;
  const gaps = gapsText(ledgerOf(series), frameOf(series));
  const repairs = series.imports.flatMap((one) => one.repairs);
  return [
    ...(gaps === '' ? [] : [`${name}: ${gaps}`]),
    ...repairs.map(({ repair, rows }) => `${name}: repaired (${repair}): ${rows} ${rows === 1 ? 'row' : 'rows'}`),
    ...doubtsOf(series).map(({ what, effect }) => `${name}: ${what}: ${effect}`),
  ];
}
