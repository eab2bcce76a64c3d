/** How many trials a result is the best of: each trial of the same strategies on overlapping data counts. */

export interface TrialCount {
  /** Different trials of the same strategies on overlapping data, the judged one included. */
  readonly count: number;
  /** Variance of the daily Sharpe ratios of those with the same settings; undefined for fewer than two. */
  readonly variance: number | undefined;
}

/** A trial, as the hash of code, parameters and data, and its Sharpe ratio of one day; null where there is none. */
export type Trial = readonly [hash: string, sharpe: number | null];

/** One line of the ledger of runs: a run or a grid. */
export interface LedgerLine {
  /** Hash of all settings except code, parameters and data. Only Sharpe ratios with equal settings are compared. */
  readonly settings: string;
  /** The strategies without their parameters: names of shipped ones and paths of files. */
  readonly family: string;
  readonly symbols: readonly string[];
  /** UTC ms. */
  readonly from: number;
  readonly to: number;
  readonly trials: readonly Trial[];
}

/** The strategies as the ledger names them, with a blank between two of them. */
export const familyOf = (uses: readonly string[]): string =>
  [...new Set(uses)]
    .toSorted()
    .map((path) => path.replaceAll(' ', '%20'))
    .join(' ');

const overlaps = (a: LedgerLine, b: LedgerLine): boolean =>
  isSameFamily(a.family, b.family) &&
  a.from <= b.to &&
  b.from <= a.to &&
  a.symbols.some((symbol) => b.symbols.includes(symbol));

function isSameFamily(a: string, b: string): boolean {
  const [some, others] = [a.split(' '), b.split(' ')];
  return some.length === others.length && some.every((one) => others.some((other) => isSameUse(one, other)));
}

/**
 * A file is known by its path from the configuration. Where one path ends with the other, they count as the same file: a trial too many is a
 * verdict too strict, a trial too few makes skill of luck.
 */
function isSameUse(a: string, b: string): boolean {
  if (a === b) return true;
  if (!isFile(a) || !isFile(b)) return false;
  const [one, other] = [`/${withoutStart(a)}`, `/${withoutStart(b)}`];
  return one.endsWith(other) || other.endsWith(one);
}

const isFile = (use: string): boolean => /\.[cm]?[jt]s$/.test(use);
/** Without `../`, `../../` and `/`. */
const withoutStart = (path: string): string => path.replace(/^(\.{0,2}\/)+/, '');

/** Counts the trials of a run or a grid and those before it, each once. The variance is that of trials with its settings. */
export function countTrials(ledger: readonly LedgerLine[], own: LedgerLine): TrialCount {
  const all = [...ledger.filter((one) => overlaps(one, own)), own];
  const same = new Map(all.filter(({ settings }) => settings === own.settings).flatMap(({ trials }) => trials));
  return {
    count: new Set(all.flatMap(({ trials }) => trials.map(([hash]) => hash))).size,
    variance: varianceOf([...same.values()].filter((sharpe) => sharpe !== null)),
  };
}

function varianceOf(ratios: readonly number[]): number | undefined {
  if (ratios.length < 2) return undefined;
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length;
  return ratios.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (ratios.length - 1);
}
