/** How many tries a result is the best of: each run of the same strategies on overlapping data counts (fill-engine §4). */
import type { Tries } from './verdict.ts';

/** One line of the ledger of runs. */
export interface Try {
  /** Of code, parameters, rules and costs: the same try again is no new one. */
  readonly hash: string;
  /** Which strategies, by what they are, not by their parameters: names of shipped ones and paths of files. */
  readonly family: string;
  readonly symbols: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Of one day; null where there is none. */
  readonly sharpe: number | null;
  /** How many tries this line stands for: a grid is written as one. */
  readonly count?: number;
  /** Of the Sharpe ratios of one day of those. */
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
/** Without `./`, `../` and `/`. */
const withoutStart = (path: string): string => path.replace(/^(\.{0,2}\/)+/, '');

/** Counts a try among those before it; each different one once. */
export function triesOf(ledger: readonly Try[], own: Try): Tries {
  const known = new Map<string, Try>([[own.hash, own]]);
  for (const one of ledger) if (overlaps(one, own) && !known.has(one.hash)) known.set(one.hash, one);
  const all = [...known.values()];
  const count = all.reduce((sum, one) => sum + (one.count ?? 1), 0);
  return { count, variance: varianceOf(all) };
}

/** Of all ratios together, from the mean and variance of each line. */
function varianceOf(all: readonly Try[]): number | undefined {
  const judged = all.filter((one): one is Try & { readonly sharpe: number } => one.sharpe !== null);
  const count = judged.reduce((sum, one) => sum + (one.count ?? 1), 0);
  if (count < 2) return undefined;
  const mean = judged.reduce((sum, one) => sum + one.sharpe * (one.count ?? 1), 0) / count;
  const squares = judged.reduce((sum, one) => {
    const of = one.count ?? 1;
    return sum + of * (one.sharpe - mean) ** 2 + (of - 1) * (one.variance ?? 0);
  }, 0);
  return squares / (count - 1);
}
