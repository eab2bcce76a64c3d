/**
 * Many strategies on one account, looked at after every fill that a process books (I12 in the small): the fill counts for the strategy
 * whose intent it fills, it moves what the exchange says, and all strategies together hold what our fills moved on the account.
 */
import type { Database } from 'better-sqlite3';
import { noUnits, plus, type Units, unitsText } from '../../src/domain/money.ts';
import type { Fill } from '../../src/domain/order.ts';
import { differenceText, subLedgerDifferences } from '../../src/execution/ledger.ts';
import { readFills } from '../../src/journal/past-orders.ts';
import type { Assembled } from '../../src/trading/assemble.ts';
import type { Verdict } from './step-checks.ts';
import { baseMoved, instrumentOf, type OwnLeg, strategyOf, type Truth } from './truth.ts';

export class SubLedgers {
  readonly #truth: Truth;
  readonly #assembled: Assembled;
  /** What each strategy holds by the exchange's numbers of the fills that this process knows, by `strategy symbol`. */
  readonly #held = new Map<string, Units>();

  /** Begins with the rows that the process has begun with. */
  constructor(truth: Truth, assembled: Assembled, db: Database) {
    this.#truth = truth;
    this.#assembled = assembled;
    for (const { tradeId, orderId } of readFills(db, '1')) {
      const own = truth.leg(tradeId, orderId);
      if (own !== undefined) this.#count(own);
    }
  }

  /** Whatever of a fill that was just booked does not add up. */
  booked({ tradeId, orderId, strategy, symbol }: Fill): Verdict {
    const own = this.#truth.leg(tradeId, orderId);
    if (own === undefined) return `the fill ${tradeId} of ${orderId} was booked and is none of our orders'`;
    const owner = strategyOf(own.order);
    if (owner !== strategy)
      return `the fill ${tradeId} of ${orderId} counts for ${strategy}, the order is of ${owner ?? 'nobody'}`;
    const theirs = this.#count(own);
    const { portfolio, execution } = this.#assembled;
    const ours = portfolio.position(strategy, symbol).base;
    if (ours !== theirs)
      return `${strategy} holds ${unitsText(ours)} of ${symbol} after the fill ${tradeId}, by the exchange's numbers ${unitsText(theirs)}`;
    const { books } = execution;
    const off = books === undefined ? [] : subLedgerDifferences(portfolio, books.ledger);
    return off.length === 0
      ? undefined
      : `after the fill ${tradeId} the strategies together are off the account by ${off.map(differenceText).join(', ')}`;
  }

  /** Gives what the strategy holds with it. */
  #count(own: OwnLeg): Units {
    const { symbol } = own.trade;
    const place = `${strategyOf(own.order)} ${symbol}`;
    const held = plus(this.#held.get(place) ?? noUnits, baseMoved(own, instrumentOf(symbol)));
    this.#held.set(place, held);
    return held;
  }
}
