/** The probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey et al.). */
import { mean, type Sample } from './moments.ts';

export interface Overfit {
  /** Share of splits in which the best of one half ranks in the lower half of the other. */
  readonly probability: number;
  /** ln(ω / (1 − ω)) of each split, ω = rank / (N + 1). */
  readonly logits: readonly number[];
  /** Share of splits in which the best of one half loses in the other. */
  readonly lossProbability: number;
}

/** 12,870 ways to halve sixteen blocks; more blocks would take hours for nothing. */
const mostBlocks = 16;

/** Every way to choose half of the blocks. */
function halves(blocks: number): number[][] {
  const found: number[][] = [];
  const choose = (from: number, chosen: readonly number[]): void => {
    if (chosen.length === blocks / 2) {
      found.push([...chosen]);
      return;
    }
    for (let block = from; block < blocks; block++) choose(block + 1, [...chosen, block]);
  };
  choose(0, []);
  return found;
}

/**
 * `columns` are the returns of one try each, all of one length; `performance` judges a try. Undefined where there are fewer than
 * two tries or fewer rows than blocks.
 */
export function overfitting(
  columns: readonly Sample[],
  blocks: number,
  performance: (returns: Sample) => number = mean,
): Overfit | undefined {
  const rows = columns[0]?.length ?? 0;
  if (blocks % 2 !== 0 || blocks < 2 || blocks > mostBlocks)
    throw new RangeError(`blocks must be even, 2 to ${mostBlocks}, not ${blocks}`);
  if (columns.length < 2 || rows < blocks) return undefined;
  const size = Math.floor(rows / blocks);
  const part = (column: Sample, chosen: readonly number[]): Float64Array => {
    const values = new Float64Array(chosen.length * size);
    for (const [place, block] of chosen.entries())
      for (let row = 0; row < size; row++) values[place * size + row] = column[block * size + row] as number;
    return values;
  };
  const every = Array.from({ length: blocks }, (_, block) => block);
  const logits: number[] = [];
  let lost = 0;
  for (const inside of halves(blocks)) {
    const outside = every.filter((block) => !inside.includes(block));
    const within = columns.map((column) => performance(part(column, inside)));
    const best = within.indexOf(Math.max(...within));
    const beyond = columns.map((column) => performance(part(column, outside)));
    const own = beyond[best] as number;
    // Ties share the middle of their ranks, so that equal tries say nothing either way.
    const below = beyond.filter((value) => value < own).length;
    const equal = beyond.filter((value) => value === own).length;
    const share = (below + (equal + 1) / 2) / (columns.length + 1);
    logits.push(Math.log(share / (1 - share)));
    if (own < 0) lost++;
  }
  return {
    probability: logits.filter((logit) => logit <= 0).length / logits.length,
    logits,
    lossProbability: lost / logits.length,
  };
}
