/** How many tries a result is the best of: each trial of the same strategies on overlapping data counts. */
import type { Tries } from '../verdict.ts';

/** One line of the ledger of runs. */
export interface Try {
  /** Of code, parameters, settings and data: the same run again is no new one. */
  readonly hash: string;
  /** Of code, parameters and data: runs that differ in their settings alone are one trial. Lines of earlier versions have none. */
  readonly trial?: string;
  /** Hash of all settings except code, parameters and data. Only Sharpe ratios with equal settings are compared. */
  readonly settings?: string;
  /** Which strategies, by what they are, not by their parameters: names of shipped ones and paths of files. */
  readonly family: string;
  readonly symbols: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Of one day; null where there is none. */
  readonly sharpe: number | null;
  /** The trials of a grid, each with its ratio. */
  readonly trials?: readonly (readonly [trial: string, sharpe: number | null])[];
  /** Of a grid in a line of an earlier version: how many tries it stands for, and the variance of their ratios. */
  readonly count?: number;
  readonly variance?: number;
}

/** As a ledger names them. A blank lies between two of them, and none in a path. */
export const familyOf = (uses: readonly string[]): string => [...new Set(uses)].toSorted().map(withoutBlanks).join(' ');

const withoutBlanks = (path: string): string => path.replaceAll(' ', '%20');

const overlaps = (a: Try, b: Try): boolean =>
  isSameFamily(a.family, b.family) &&
  a.from <= b.to &&
  b.from <= a.to &&
  a.symbols.some((symbol) => b.symbols.includes(symbol));

/**
 * A file is told by its path from a configuration, in lines of before as that spelled it. Where one path is the end of another they are
 * taken for the same file: a try too many is judged too strictly, one too few makes skill of luck.
 */
function isSameFamily(a: string, b: string): boolean {
  // One of before may have blanks in its path.
  if (withoutBlanks(a) === withoutBlanks(b)) return true;
  const [some, others] = [a.split(' '), b.split(' ')];
  return some.length === others.length && some.every((one) => others.some((other) => isSameUse(one, other)));
}

function isSameUse(a: string, b: string): boolean {
  if (a === b) return true;
  if (!isFile(a) || !isFile(b)) return false;
  const [one, other] = [`/${withoutStart(a)}`, `/${withoutStart(b)}`];
  return one.endsWith(other) || other.endsWith(one);
}

const isFile = (use: string): boolean => /\.[cm]?[jt]s$/.test(use);
/** Without `../`, `../../` and `/`. */
const withoutStart = (path: string): string => path.replace(/^(\.{0,2}\/)+/, '');

/** A trial as it counts: with the settings of the run that is judged, if it was run with them. */
type Trial = Pick<Try, 'settings' | 'sharpe' | 'count' | 'variance'>;

/** Counts the trials of a run or a grid among those before it, each once. Variance is that of trials with its own settings. */
export function triesOf(ledger: readonly Try[], own: Try): Tries {
  const all = [...ledger.filter((one) => overlaps(one, own)), own];
  const named = new Set(all.filter(({ trial, trials }) => trial ?? trials).map(({ hash }) => hash));
  const known = new Map<string, Trial>();
  for (const line of all) {
    // The same run, noted by an earlier version.
    if ((line.trial ?? line.trials) === undefined && named.has(line.hash)) continue;
    for (const [trial, one] of trialsIn(line))
      if (one.settings === own.settings || known.get(trial)?.settings !== own.settings) known.set(trial, one);
  }
  const trials = [...known.values()];
  const count = trials.reduce((sum, one) => sum + (one.count ?? 1), 0);
  return { count, variance: varianceOf(trials.filter(({ settings }) => settings === own.settings)) };
}

const trialsIn = (line: Try): readonly (readonly [trial: string, one: Trial])[] =>
  line.trials?.map(
    ([trial, sharpe]) => [trial, { ...(line.settings && { settings: line.settings }), sharpe }] as const,
  ) ?? [[line.trial ?? line.hash, line]];

/** Of all ratios together, from the mean and variance of each line. */
function varianceOf(all: readonly Trial[]): number | undefined {
  const judged = all.filter((one): one is Trial & { readonly sharpe: number } => one.sharpe !== null);
  const count = judged.reduce((sum, one) => sum + (one.count ?? 1), 0);
  if (count < 2) return undefined;
  const mean = judged.reduce((sum, one) => sum + one.sharpe * (one.count ?? 1), 0) / count;
  const squares = judged.reduce((sum, one) => {
    const of = one.count ?? 1;
    return sum + of * (one.sharpe - mean) ** 2 + (of - 1) * (one.variance ?? 0);
  }, 0);
  return squares / (count - 1);
}
