/** What the verdict card says of figures that there are not is true. */
import { expect, test } from 'vitest';
import type { Summary } from '../research/summary.ts';
import type { Verdict } from '../research/verdict.ts';
import { verdictSection } from './tables.ts';

function textOf(verdict: Partial<Verdict>, fees: string): string {
  const none = {
    sharpeLow: null,
    sharpeHigh: null,
    psr: null,
    dsr: null,
    breakEvenFees: null,
    ambiguousShare: 0,
    reasons: [],
  };
  const metrics: Partial<Summary['metrics']> = { fees, trackRecordYears: null, psr: null };
  const summary: Partial<Summary> = {
    verdict: { ...none, sharpe: null, trials: 1, worstProfit: 0.4, bestProfit: 0.4, ...verdict } as Verdict,
    metrics: metrics as Summary['metrics'],
    ...{ stress: [], criticalWarnings: [], kills: [], entries: null },
  };
  return verdictSection({ summary: summary as Summary, asset: 'Z' }).html.replace(/<[^>]*>/g, ' ');
}

test.for([
  [{ trials: 3 }, /DSR +n\/a +needs a Sharpe ratio/],
  [{ trials: 1, sharpe: 1 }, /DSR +n\/a +needs two trials /],
  [{ trials: 3, sharpe: 1 }, /DSR +n\/a +needs two trials with a Sharpe ratio/],
] as const)('what a DSR lacks: %o', ([verdict, said]) => {
  expect(textOf(verdict, '1')).toMatch(said);
});

test('fees at which a profit dies need a fee, and a profit before it', () => {
  expect(textOf({}, '0')).toMatch(/Break-even fees +n\/a +no fee was paid/);
  expect(textOf({}, '1')).toMatch(/Break-even fees +n\/a +nothing was earned before them/);
});
