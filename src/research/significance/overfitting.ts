/** The probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey et al.). */
import type { Sample } from '../sample-moments.ts';

/** 12,870 ways to halve sixteen blocks; more blocks take hours and add nothing. */
const maxBlocks = 16;

/** Every way to choose half of the blocks, in the order of their numbers: so the rest of the first is the last, and so on. */
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

type Judge = 'mean' | 'sharpe';

/** Sums over blocks of rows of every trial, from which the sums of any half are added up. */
class Blocks {
  readonly #size: number;
  readonly #judge: Judge;
  /** By block, of each trial. */
  readonly #sums: readonly Float64Array[];
  readonly #squares: readonly Float64Array[];
  readonly #sum: Float64Array;
  readonly #square: Float64Array;

  constructor(columns: readonly Sample[], blocks: number, size: number, judge: Judge) {
    const ofTrials = (): Float64Array => new Float64Array(columns.length);
    this.#size = size;
    this.#judge = judge;
    this.#sums = Array.from({ length: blocks }, ofTrials);
    this.#squares = Array.from({ length: blocks }, ofTrials);
    [this.#sum, this.#square] = [ofTrials(), ofTrials()];
    for (const [trial, column] of columns.entries())
      for (let row = 0; row < blocks * size; row++) {
        const value = column[row] as number;
        const block = Math.floor(row / size);
        add(this.#sums[block] as Float64Array, trial, value);
        add(this.#squares[block] as Float64Array, trial, value * value);
      }
  }

  /** How each trial does in these blocks, into `into`. */
  performance(chosen: readonly number[], into: Float64Array): void {
    const [sum, square] = [this.#sum.fill(0), this.#square.fill(0)];
    for (const block of chosen) {
      const [sums, squares] = [this.#sums[block] as Float64Array, this.#squares[block] as Float64Array];
      for (let trial = 0; trial < sum.length; trial++) {
        sum[trial] = (sum[trial] as number) + (sums[trial] as number);
        square[trial] = (square[trial] as number) + (squares[trial] as number);
      }
    }
    const count = chosen.length * this.#size;
    for (let trial = 0; trial < sum.length; trial++) {
      const mean = (sum[trial] as number) / count;
      const variance =
        ((square[trial] as number) - ((sum[trial] as number) * (sum[trial] as number)) / count) / (count - 1);
      into[trial] = this.#judge === 'mean' ? mean : variance > 0 ? mean / Math.sqrt(variance) : 0;
    }
  }
}

function add(to: Float64Array, at: number, value: number): void {
  to[at] = (to[at] as number) + value;
}

/** How the best trial of one half does in the other: its rank as ln(ω / (1 − ω)), and whether it loses. */
function splitOf(within: Float64Array, beyond: Float64Array): { readonly logit: number; readonly isLost: boolean } {
  let best = 0;
  for (let trial = 1; trial < within.length; trial++)
    if ((within[trial] as number) > (within[best] as number)) best = trial;
  const own = beyond[best] as number;
  // Ties share the middle of their ranks, so that equal trials count neither way.
  let [below, equal] = [0, 0];
  for (let trial = 0; trial < beyond.length; trial++) {
    if ((beyond[trial] as number) < own) below++;
    if (beyond[trial] === own) equal++;
  }
  const share = (below + (equal + 1) / 2) / (within.length + 1);
  return { logit: Math.log(share / (1 - share)), isLost: own < 0 };
}

/**
 * `columns` are the returns of one trial each, all of one length; rows beyond a whole number of blocks are left out. Undefined for fewer
 * than two trials or fewer rows than blocks.
 */
export function overfitting(columns: readonly Sample[], blocks: number, judge: Judge = 'mean') {
  const rows = columns[0]?.length ?? 0;
  if (blocks % 2 !== 0 || blocks < 2 || blocks > maxBlocks)
    throw new RangeError(`blocks must be even, 2 to ${maxBlocks}, not ${blocks}`);
  if (columns.length < 2 || rows < blocks) return undefined;
  const size = Math.floor(rows / blocks);
  const trials = new Blocks(columns, blocks, size, judge);
  const [within, beyond] = [new Float64Array(columns.length), new Float64Array(columns.length)];
  const splits = halves(blocks);
  const logits = Array.from(splits, () => Number.NaN);
  let lost = 0;
  for (let index = 0; index < splits.length / 2; index++) {
    const rest = splits.length - 1 - index;
    trials.performance(splits[index] as number[], within);
    trials.performance(splits[rest] as number[], beyond);
    for (const [at, split] of [
      [index, splitOf(within, beyond)],
      [rest, splitOf(beyond, within)],
    ] as const) {
      logits[at] = split.logit;
      if (split.isLost) lost++;
    }
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
