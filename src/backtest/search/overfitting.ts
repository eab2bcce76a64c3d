/** How much of a grid's best set may be luck: overfitting by splits of the days, and the best set against buy & hold. */

import { seededRng } from '../../clock/clock.ts';
import { shareText } from '../../report/figures.ts';
import { dailyReturns } from '../../research/curves.ts';
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
  /** The share of splits in which the best set in-sample is below the median out-of-sample; null for too few sets or days. */
  readonly pbo: number | null;
  /** The share of splits in which it loses money out-of-sample. */
  readonly pboLoss: number | null;
  readonly splits: number;
  /** P-values of the SPA test against buy & hold; null for too few days. */
  readonly spa: SpaProbabilities | null;
  /** How many independent trials the sets amount to; null for fewer than two whose equity moved. */
  readonly independent: EffectiveTrials | null;
  readonly sets: number;
}

/** The most daily returns of all sets together that are saved and judged: 4 million are some 60 MB on disk. */
export const maxReturns = 4_000_000;

/** Days of a block, and blocks: fewer days say nothing, more blocks than 16 take hours. */
const minDays = 10;
const maxBlocks = 16;

/** What of the gates by which results are judged by convention. */
const gates = { pbo: 0.2, spa: 0.05 } as const;

/** Judges the ranked sets. `hold`: daily returns of buy & hold. Undefined where the returns of a set were not saved: the others do not represent the grid. */
export function overfittingOf(hold: Float64Array, outcomes: readonly (Outcome | undefined)[]): Overfitting | undefined {
  const ran = outcomes.filter(isRanked);
  const columns = ran.flatMap(({ returns }) => (returns === null ? [] : [returns]));
  if (columns.length === 0 || columns.length < ran.length) return undefined;
  // A set that was ruined has no returns afterwards.
  const whole = columns.filter((column) => column.length === hold.length);
  const blocks = Math.min(maxBlocks, 2 * Math.floor(hold.length / minDays / 2));
  const overfit = blocks < 4 ? undefined : overfitting(whole, blocks, 'sharpe');
  const beyond = whole.map((column) => Float64Array.from(column, (value, day) => value - (hold[day] as number)));
  return {
    days: hold.length,
    pbo: overfit?.probability ?? null,
    pboLoss: overfit?.lossProbability ?? null,
    splits: overfit?.logits.length ?? 0,
    spa: spaTest(beyond, seededRng(1)) ?? null,
    independent: effectiveTrials(whole) ?? null,
    sets: whole.length,
  };
}

/** Of each whole day, of holding from the first close on, the entry's fee paid. */
export function buyAndHoldReturns(input: RunInput): Float64Array {
  const { days } = walkEquity(equityInput(input, fillTable([], input.instruments)));
  return dailyReturns(days, days.buyAndHold);
}

const unjudged = `n/a  (more than ${maxReturns.toLocaleString('en')} daily returns: use a smaller grid)`;

/** Names and sentences about the best set. */
export function overfittingTexts(doubt: Overfitting | undefined): readonly (readonly [string, string])[] {
  if (doubt === undefined)
    return [
      ['Overfit', unjudged],
      ['Against buy & hold', unjudged],
    ];
  const { days, pbo, pboLoss, splits, spa, independent, sets } = doubt;
  return [
    [
      'Overfit',
      pbo === null
        ? `n/a  (${days} days or ${sets} parameter sets are too few)`
        : `PBO ${pbo.toFixed(2)} (limit ${gates.pbo}): in ${shareText(pbo)} of ${splits.toLocaleString('en')} splits of the ${days} days the best set in-sample is below the median out-of-sample, in ${shareText(pboLoss ?? 0)} it loses there`,
    ],
    [
      'Against buy & hold',
      spa === null
        ? `n/a  (${days} days are too few)`
        : `${spa.consistent <= gates.spa ? 'better' : 'not shown to be better'}: SPA p-value ${spa.consistent.toFixed(2)} (${spa.lower.toFixed(2)} to ${spa.upper.toFixed(2)}; limit ${gates.spa})`,
    ],
    ...(independent === null
      ? []
      : [
          [
            'Independent',
            `${sets.toLocaleString('en')} parameter sets count as ${independent.count.toFixed(1)} independent trials: the mean correlation of their daily returns is ${independent.correlation.toFixed(2)}. The tests use all of them`,
          ] as const,
        ]),
  ];
}
