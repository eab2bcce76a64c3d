/**
 * Many strategies on one account: what each holds by its own fills must add up to what our fills moved on the account, asset by
 * asset and to the last decimal, after every event. Where it does not, a fill counts for the account and for nobody, or twice.
 */
import { minus, negate, noUnits, plus, type Units } from '../domain/money.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Difference, Ledger } from './ledger.ts';

/** What all strategies together moved of each asset: of the base what they hold, of the quote what they paid, took and left as fees. */
function sumOfStrategies(portfolio: Portfolio): ReadonlyMap<string, Units> {
  const sums = new Map<string, Units>();
  const add = (asset: string, amount: Units): void => {
    sums.set(asset, plus(sums.get(asset) ?? noUnits, amount));
  };
  for (const { strategy, symbol } of portfolio.places()) {
    const { base, quote } = portfolio.instrument(symbol);
    const position = portfolio.position(strategy, symbol);
    add(base, position.base);
    add(quote, minus(minus(position.realised, position.fees), position.cost));
  }
  return sums;
}

/** Where they differ; positive: the account moved more. Fees in a third asset are nobody's position and are not compared. */
export function subLedgerDifferences(portfolio: Portfolio, ledger: Pick<Ledger, 'ownOf'>): readonly Difference[] {
  return [...sumOfStrategies(portfolio)]
    .map(([asset, sum]): Difference => ({ asset, amount: plus(ledger.ownOf(asset), negate(sum)) }))
    .filter(({ amount }) => amount !== 0n);
}
