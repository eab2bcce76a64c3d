/** How much of a grid's best cell may be luck: overfitting by halves of the days, and the best of all against holding. */

import { seededRng } from '../../clock/clock.ts';
import { shareText } from '../../report/figures.ts';
import { dailyReturns } from '../../research/daily.ts';
import { walkEquity } from '../../research/equity-walk.ts';
import { fillTable } from '../../research/fill-table.ts';
import { type EffectiveTrials, effectiveTrials } from '../../research/significance/effective-trials.ts';
import { overfitting } from '../../research/significance/overfitting.ts';
import { type SpaProbabilities, spaTest } from '../../research/significance/spa-test.ts';
import { equityInput } from '../result/summary.ts';
import type { RunInput } from '../run.ts';
import { isRanked, type Outcome } from './outcome.ts';

export interface Overfitting {
  readonly days: number;
  /** Of ways to halve the days, the share in which the best cell of one half is in the lower half of the other; null for too few cells or days. */
  readonly pbo: number | null;
  /** The share in which it loses money there. */
  readonly pboLoss: number | null;
  readonly splits: number;
  /** The chance that cells with no advantage over holding would look as good; null for too few days. */
  readonly spa: SpaProbabilities | null;
  /** How many independent tries its cells amount to; null for fewer than two whose equity moved. */
  readonly independent: EffectiveTrials | null;
  readonly cells: number;
}

/** Daily returns of all cells together that are kept and judged: 4 million are some 60 MB on disk. */
export const mostReturns = 4_000_000;

/** Days of a block, and blocks: fewer days say nothing, more blocks than 16 take hours. */
const leastDays = 10;
const mostBlocks = 16;

/** What of the gates by which results are judged by convention. */
const gates = { pbo: 0.2, spa: 0.05 } as const;

/** Of the cells that are ranked. `hold`: the daily returns of holding. Undefined where the returns of a cell were not kept: those of the others say nothing of the grid. */
export function overfittingOf(hold: Float64Array, outcomes: readonly (Outcome | undefined)[]): Overfitting | undefined {
  const ran = outcomes.filter(isRanked);
  const columns = ran.flatMap(({ returns }) => (returns === null ? [] : [returns]));
  if (columns.length === 0 || columns.length < ran.length) return undefined;
  // A cell that was ruined has no returns afterwards.
  const whole = columns.filter((column) => column.length === hold.length);
  const blocks = Math.min(mostBlocks, 2 * Math.floor(hold.length / leastDays / 2));
  const overfit = blocks < 4 ? undefined : overfitting(whole, blocks, 'sharpe');
  const beyond = whole.map((column) => Float64Array.from(column, (value, day) => value - (hold[day] as number)));
  return {
    days: hold.length,
    pbo: overfit?.probability ?? null,
    pboLoss: overfit?.lossProbability ?? null,
    splits: overfit?.logits.length ?? 0,
    spa: spaTest(beyond, seededRng(1)) ?? null,
    independent: effectiveTrials(whole) ?? null,
    cells: whole.length,
  };
}

/** Of each whole day, of holding from the first close on, the entry's fee paid. */
export function buyAndHoldReturns(input: RunInput): Float64Array {
  const { days } = walkEquity(equityInput(input, fillTable([], input.instruments)));
  return dailyReturns(days, days.hold);
}

const unjudged = `n/a  (it takes the daily returns of all cells, more than ${mostReturns.toLocaleString('en')} of them here: a grid of fewer cells is judged, and the more cells, the more luck is in the best)`;

/** Sentences, each with what it says of the best cell. */
export function overfittingTexts(doubt: Overfitting | undefined): readonly (readonly [string, string])[] {
  if (doubt === undefined)
    return [
      ['Overfit', unjudged],
      ['Against hold', unjudged],
    ];
  const { days, pbo, pboLoss, splits, spa, independent, cells } = doubt;
  return [
    [
      'Overfit',
      pbo === null
        ? `n/a  (${days} days are too few, or cells)`
        : `PBO ${pbo.toFixed(2)} (limit ${gates.pbo}): of ${splits.toLocaleString('en')} ways to halve the ${days} days, the best cell of one half is in the lower half of the other in ${shareText(pbo)}, and loses in ${shareText(pboLoss ?? 0)}`,
    ],
    [
      'Against hold',
      spa === null
        ? `n/a  (${days} days are too few)`
        : `${spa.consistent <= gates.spa ? 'better' : 'not shown to be better'}: cells without an advantage look as good with a chance of ${spa.consistent.toFixed(2)} (SPA, ${spa.lower.toFixed(2)} to ${spa.upper.toFixed(2)}; limit ${gates.spa})`,
    ],
    ...(independent === null
      ? []
      : [
          [
            'Independent',
            `${cells.toLocaleString('en')} cells count as ${independent.count.toFixed(1)} independent trials: their daily returns are correlated by ${independent.correlation.toFixed(2)} on average; luck is judged by all`,
          ] as const,
        ]),
  ];
}
