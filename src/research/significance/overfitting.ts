/** The probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey et al.). */
import type { Sample } from '../sample-moments.ts';

/** 12,870 ways to halve sixteen blocks; more blocks take hours and add nothing. */
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

/** Sums over blocks of rows, from which the sums of any half are added up. */
interface Blocks {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

function inBlocks(column: Sample, blocks: number, size: number): Blocks {
  const [sums, squares] = [new Float64Array(blocks), new Float64Array(blocks)];
  for (let row = 0; row < blocks * size; row++) {
    const value = column[row] as number;
    const block = Math.floor(row / size);
    sums[block] = (sums[block] as number) + value;
    squares[block] = (squares[block] as number) + value * value;
  }
  return { sums, squares };
}

type Judge = 'mean' | 'sharpe';

function performance({ sums, squares }: Blocks, chosen: readonly number[], size: number, judge: Judge): number {
  let [sum, square] = [0, 0];
  for (const block of chosen) {
    sum += sums[block] as number;
    square += squares[block] as number;
  }
  const count = chosen.length * size;
  if (judge === 'mean') return sum / count;
  const variance = (square - (sum * sum) / count) / (count - 1);
  return variance > 0 ? sum / count / Math.sqrt(variance) : 0;
}

/**
 * `columns` are the returns of one trial each, all of one length; rows beyond a whole number of blocks are left out. Undefined for fewer
 * than two trials or fewer rows than blocks.
 */
export function overfitting(columns: readonly Sample[], blocks: number, judge: Judge = 'mean') {
  const rows = columns[0]?.length ?? 0;
  if (blocks % 2 !== 0 || blocks < 2 || blocks > mostBlocks)
    throw new RangeError(`blocks must be even, 2 to ${mostBlocks}, not ${blocks}`);
  if (columns.length < 2 || rows < blocks) return undefined;
  const size = Math.floor(rows / blocks);
  const trials = columns.map((column) => inBlocks(column, blocks, size));
  const every = Array.from({ length: blocks }, (_, block) => block);
  const logits: number[] = [];
  let lost = 0;
  for (const inside of halves(blocks)) {
    const outside = every.filter((block) => !inside.includes(block));
    const within = trials.map((one) => performance(one, inside, size, judge));
    const best = within.indexOf(Math.max(...within));
    const beyond = trials.map((one) => performance(one, outside, size, judge));
    const own = beyond[best] as number;
    // Ties share the middle of their ranks, so that equal trials count neither way.
    let [below, equal] = [0, 0];
    for (const value of beyond) {
      if (value < own) below++;
      if (value === own) equal++;
    }
    const share = (below + (equal + 1) / 2) / (columns.length + 1);
    logits.push(Math.log(share / (1 - share)));
    if (own < 0) lost++;
  }
  return {
    /** Share of splits in which the best of one half ranks in the lower half of the other. */
    probability: logits.filter((logit) => logit <= 0).length / logits.length,
    /** ln(ω / (1 − ω)) of each split, ω = rank / (N + 1). */
    logits,
    /** Share of splits in which the best of one half loses in the other. */
    lossProbability: lost / logits.length,
  };
}
