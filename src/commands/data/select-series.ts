/** Selects the stored series that a command is about. */
import { resolve } from 'node:path';
import { type SeriesKey, seriesName } from '../../data/catalogue/kinds.ts';
import { type Manifest, readManifest, seriesKeys } from '../../data/catalogue/manifest.ts';
import { intervalOf, namedSymbol, symbolOf } from '../../data/import/file-names.ts';
import { didYouMean, orRefusal, Refusal } from '../../domain/refusal.ts';
import type { Output } from '../../terminal/output.ts';

export interface DataGiven extends Output {
  /** The folder of the catalogue. */
  readonly data: string;
}

/** Selects stored series; without values, all. */
export interface WhichSeries extends DataGiven {
  readonly symbol?: string;
  readonly kind?: string;
  readonly interval?: string;
}

/** The selected series. Throws a `Refusal` if one cannot be read. */
export const chosen = (given: WhichSeries): readonly Manifest[] =>
  chosenKeys(given).flatMap((key) => readManifest(resolve(given.data), key) ?? []);

/** The selected series that can be read, and why the others cannot. */
export function chosenReadable(given: WhichSeries) {
  const all = chosenKeys(given).map((key) => orRefusal(() => readManifest(resolve(given.data), key)));
  const damaged = all.filter((one) => one instanceof Refusal);
  const found = all.filter((one): one is Manifest => one !== undefined && !(one instanceof Refusal));
  return { found, damaged };
}

/** The selected series, readable or not. Throws a `Refusal` that lists the stored ones if none matches. */
export function chosenKeys({ data, symbol, kind, interval }: WhichSeries): readonly SeriesKey[] {
  const dir = resolve(data);
  const all = seriesKeys(dir);
  if (all.length === 0)
    throw new Refusal(`${dir} has no data: run sluice data import FILE, or name another folder (--data)`);
  // What is stored can always be named, as it was by an older version, too.
  const spelt = symbol === undefined ? undefined : symbolOf(symbol);
  const isStored = spelt === undefined || all.some((one) => one.symbol === spelt);
  const wantedSymbol = isStored ? spelt : namedSymbol(symbol ?? '');
  const wantedInterval = interval === undefined ? undefined : intervalOf(interval);
  const found = all.filter(
    (one) =>
      (wantedSymbol === undefined || one.symbol === wantedSymbol) &&
      (kind === undefined || one.kind === kind) &&
      (wantedInterval === undefined || one.interval === wantedInterval),
  );
  if (found.length > 0) return found;
  const names = all.map(seriesName);
  const symbols = all.map((one) => one.symbol);
  const meant = isStored ? '' : didYouMean(wantedSymbol ?? '', symbols);
  throw new Refusal(
    `no such data in ${dir}${meant}; it has ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`,
  );
}

/** The only selected series. Throws a `Refusal` if several match. */
export function chosenOne(given: WhichSeries): Manifest {
  const found = chosen(given);
  const [one, other] = found;
  if (one === undefined || other !== undefined)
    throw new Refusal(
      `${found.length} series match (${found.slice(0, 8).map(seriesName).join(', ')}): choose one with SYMBOL, --kind or --interval`,
    );
  return one;
}
