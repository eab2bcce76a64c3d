/** Two strategies of one account on one symbol, each with money of its own, by the product and by the slow reference. */
import { runBacktest } from '../../src/backtest/engines.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { Decimal } from '../../src/domain/money.ts';
import { byReferenceTogether, type Case, inputOf, joined, type Rows, rowsOfEach, runStreams } from './agreement.ts';
import { type Drawn, measuredCase } from './measured-cases.ts';

const names = ['first', 'second'] as const;

/** What came of each strategy; the equity is that of both. */
export interface TwoAnswers {
  readonly expected: readonly Rows[];
  readonly found: readonly Rows[];
  /** By strategies made of streams, which hear every kline. */
  readonly byStreams: readonly Rows[];
}

/** Both trade the klines that were drawn; the second says what it says by another seed, and `maxPosition` limits both together. */
export async function twoAnswers(of: Drawn, rules: Case['rules'], maxPosition?: string): Promise<TwoAnswers> {
  const cases = [of.seed, of.seed + 1].map((says) => {
    const { given, signal } = measuredCase(of, rules, undefined, says);
    const limit = maxPosition !== undefined && given.margin === undefined ? { maxPosition } : {};
    return { given: { ...given, ...limit }, strategy: { kind: 'script', signal } as const };
  });
  const rows = byReferenceTogether(cases);
  const equity = Decimal.sum(...rows.map((one) => one.equity)).toFixed();
  const [first, second] = cases.map(({ given }) => inputOf(given)) as [RunInput, RunInput];
  const both = joined(first, second, [...names]);
  const rowsOf = (result: RunResult): readonly Rows[] => rowsOfEach(result, names);
  return {
    expected: rows.map((one) => ({ ...one, equity })),
    found: rowsOf(await runBacktest(both)),
    byStreams: rowsOf(await runStreams(both)),
  };
}
