/**
 * The expected balance of each asset: first balances, our fills, foreign trades and the operator's adjustments (I6). Exact to the last
 * decimal.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { minus, negate, noUnits, plus, type Units, units, unitsText } from '../domain/money.ts';
import type { Fill, VenueTrade } from '../domain/order.ts';
import { movementOf } from '../domain/position.ts';
import type { AdjustmentEntry } from '../journal/entries.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Balance } from '../venue/venue.ts';

type Amounts = Map<string, Units>;

function add(amounts: Amounts, asset: string, amount: Units): void {
  amounts.set(asset, plus(amounts.get(asset) ?? noUnits, amount));
}

/** Books one side of a trade. A fee in a third asset leaves the account as well. */
function book(amounts: Amounts, side: Parameters<typeof movementOf>[0], instrument: Instrument): void {
  const { base, quote } = instrument;
  const moved = movementOf(side, instrument);
  add(amounts, base, moved.base);
  add(amounts, quote, moved.quote);
  if (side.feeAsset !== base && side.feeAsset !== quote) add(amounts, side.feeAsset, negate(side.fee));
}

/** A difference between the exchange's balance of an asset and the ledger. */
export interface Difference {
  readonly asset: string;
  /** Positive: the exchange has more. */
  readonly amount: Units;
}

export class Ledger {
  readonly #own: Amounts = new Map();
  readonly #adjusted: Amounts = new Map();
  /** By order, so that one that proves to be ours can be removed. */
  readonly #foreign = new Map<string, Amounts>();
  readonly #bookedSides = new Set<string>();
  #begun = false;

  constructor(adjustments: readonly AdjustmentEntry[]) {
    for (const entry of adjustments) this.adjust(entry);
  }

  /** False until the first balances are known: nothing can be compared before. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Books our fill; the caller knows that it is new. */
  own(fill: Fill, instrument: Instrument): void {
    book(this.#own, fill, instrument);
  }

  /** Books one side of a foreign trade; true when it was new. */
  foreign(trade: VenueTrade, orderId: string, side: Side, instrument: Instrument, takesFee = true): boolean {
    const key = `${trade.symbol}|${trade.tradeId}|${orderId}`;
    if (this.#bookedSides.has(key)) return false;
    this.#bookedSides.add(key);
    const amounts = this.#foreign.get(orderId) ?? new Map<string, Units>();
    this.#foreign.set(orderId, amounts);
    book(amounts, { ...trade, side, ...(takesFee ? {} : { fee: noUnits }) }, instrument);
    return true;
  }

  /** A foreign order proves to be ours: its fills are booked as ours from now on. */
  reclaim(orderId: string): void {
    this.#foreign.delete(orderId);
  }

  /** Books an adjustment of the operator, or a first balance. */
  adjust({ what, asset, amount }: Pick<AdjustmentEntry, 'what' | 'asset' | 'amount'>): void {
    if (what === 'baseline') this.#begun = true;
    add(this.#adjusted, asset, units(amount));
  }

  /** What the account should hold, by asset. */
  expected(): ReadonlyMap<string, Units> {
    const sums: Amounts = new Map(this.#own);
    for (const amounts of [this.#adjusted, ...this.#foreign.values()])
      for (const [asset, amount] of amounts) add(sums, asset, amount);
    return sums;
  }

  /** What our fills moved of an asset. */
  ownOf(asset: string): Units {
    return this.#own.get(asset) ?? noUnits;
  }

  /** Assets whose free and locked amounts together differ from the ledger. */
  differences(balances: readonly Balance[]): readonly Difference[] {
    const off: Amounts = new Map();
    for (const { asset, free, locked } of balances) add(off, asset, plus(free, locked));
    for (const [asset, amount] of this.expected()) add(off, asset, negate(amount));
    return [...off].filter(([, amount]) => amount !== 0n).map(([asset, amount]) => ({ asset, amount }));
  }
}

/** `+0.5 BTC`, `-12 USDT`. */
export const differenceText = ({ asset, amount }: Difference): string =>
  `${amount > 0n ? '+' : ''}${unitsText(amount)} ${asset}`;

/** What the account held of each asset before anything in the ledger moved it. */
export const baselineOf = (ledger: Ledger, balances: readonly Balance[]): ReadonlyMap<string, Units> => {
  const expected = ledger.expected();
  return new Map(
    balances.map(({ asset, free, locked }) => [asset, minus(plus(free, locked), expected.get(asset) ?? noUnits)]),
  );
};

/**
 * Where the positions of all strategies do not add up to what our fills moved on the account; positive: the account moved more. Then a
 * fill counts twice, or for no strategy. Fees in a third asset belong to no position and are not compared.
 */
export function subLedgerDifferences(portfolio: Portfolio, ledger: Pick<Ledger, 'ownOf'>): readonly Difference[] {
  const sums: Amounts = new Map();
  for (const { strategy, symbol } of portfolio.subAccounts()) {
    const { base, quote } = portfolio.instrument(symbol);
    const position = portfolio.position(strategy, symbol);
    add(sums, base, position.base);
    add(sums, quote, minus(minus(position.realised, position.fees), position.cost));
  }
  return [...sums]
    .map(([asset, sum]): Difference => ({ asset, amount: minus(ledger.ownOf(asset), sum) }))
    .filter(({ amount }) => amount !== 0n);
}
