/** Resampled series: from which series they were made, and whether those have changed since. */
import { createHash } from 'node:crypto';
import { type SeriesKey, seriesName } from './kinds.ts';
import type { Imported, Manifest } from './manifest.ts';

const layoutPrefix = 'resampled from ';

/** The origin of a made series (`imports.layout`). */
export const madeLayout = (source: Manifest): string => `${layoutPrefix}${seriesName(source)}`;

/** The last import that was made from another series. */
const making = ({ imports }: Manifest): Imported | undefined =>
  imports.findLast(({ layout }) => layout.startsWith(layoutPrefix));

/** Whether it was made from another series, and nothing else was imported into it since. */
export const isMade = (one: Manifest): boolean => one.imports.length > 0 && making(one) === one.imports.at(-1);

/** One hash for all the months of a series. */
export function seriesHash({ months }: Pick<Manifest, 'months'>): string {
  const hash = createHash('sha256');
  for (const { month, sha256 } of months) hash.update(`${month} ${sha256}\n`);
  return hash.digest('hex');
}

/** The series it was made of, if that is stored. */
function sourceOf(all: readonly Manifest[], one: Manifest): Manifest | undefined {
  const name = making(one)?.layout.slice(layoutPrefix.length);
  return all.find((each) => seriesName(each) === name);
}

/**
 * What a made series has to be made from again, since its source, or the source of that, is not what it was then. Undefined where it
 * still holds, where it was imported, and where its source was removed: then it is all there is.
 */
export function changedSource(all: readonly Manifest[], one: Manifest): Manifest | undefined {
  const made = making(one);
  const source = sourceOf(all, one);
  if (made === undefined || source === undefined) return undefined;
  const deeper = isMade(source) ? changedSource(all, source) : undefined;
  return deeper ?? (seriesHash(source) === made.files[0]?.sha256 ? undefined : source);
}

/** Text about a stale series, with the command that updates it; undefined if it is current. */
export function staleText(all: readonly Manifest[], one: Manifest): string | undefined {
  const source = changedSource(all, one);
  if (source === undefined) return sourceOf(all, one) === undefined ? lostText(one) : undefined;
  return isMade(one)
    ? `stale: ${seriesName(source)} has changed: resample again (${remaking(one)})`
    : `partly stale: ${seriesName(source)} has changed: remove the series (sluice data remove ${one.symbol} --interval ${one.interval} --yes), then import or resample it again`;
}

/** The text for a series that was stale when its source was removed: it cannot be made again. */
export const lostText = ({ staleBy, symbol, interval }: Manifest): string | undefined =>
  staleBy === undefined
    ? undefined
    : `stale: ${staleBy} has changed, and its source was removed: remove it (sluice data remove ${symbol} --interval ${interval} --yes), then import it or its source`;

/** The stale series that would no longer show it once another one is removed, marked as stale. */
export function staleWithout(all: readonly Manifest[], removed: SeriesKey): readonly Manifest[] {
  const left = all.filter((one) => seriesName(one) !== seriesName(removed));
  return left.flatMap((one): readonly Manifest[] => {
    const changed = changedSource(all, one);
    if (changed === undefined || changedSource(left, one) !== undefined) return [];
    return [{ ...one, staleBy: seriesName(changed) }];
  });
}

/** The command that updates a resampled series. */
export function remaking(one: Manifest): string {
  const { symbol, interval, zone } = one;
  const [kind, , own] = making(one)?.layout.slice(layoutPrefix.length).split(' ') ?? [];
  const from = own === undefined ? `--kind ${kind}` : `--interval ${own}`;
  return `sluice data resample ${symbol} ${from} --into ${interval}${zone === undefined ? '' : ` --zone ${zone}`}`;
}

/** The stale series that a change of this one made so, or left so. */
export const staleOf = (all: readonly Manifest[], source: Manifest): readonly Manifest[] =>
  all.filter((one) => {
    const changed = changedSource(all, one);
    return changed !== undefined && seriesName(changed) === seriesName(source);
  });

/** The findings of making it, which its rows do not show. */
export const ofMaking = ({ imports }: Manifest): readonly Imported['findings'][number][] =>
  imports.flatMap(({ findings }) => findings.filter(({ check }) => check === 'partial'));
