/**
 * What the account should hold, asset by asset: what was there at the beginning, what our fills moved, what others' trades on
 * the account moved, and what the operator said (I6). Exact, and compared to the last decimal.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { minus, negate, noUnits, plus, type Units, units, unitsText } from '../domain/money.ts';
import type { Fill, VenueTrade } from '../domain/order.ts';
import { movementOf } from '../domain/position.ts';
import type { AdjustmentEntry } from '../journal/entries.ts';
import type { Balance } from '../venue/venue.ts';

type Amounts = Map<string, Units>;

function add(amounts: Amounts, asset: string, amount: Units): void {
  amounts.set(asset, plus(amounts.get(asset) ?? noUnits, amount));
}

/** Books what one side of a trade moves. A fee in a third asset leaves the account as well. */
function book(amounts: Amounts, leg: Parameters<typeof movementOf>[0], at: Instrument): void {
  const moved = movementOf(leg, at);
  add(amounts, at.base, moved.base);
  add(amounts, at.quote, moved.quote);
  if (leg.feeAsset !== at.base && leg.feeAsset !== at.quote) add(amounts, leg.feeAsset, negate(leg.fee));
}

/** How the balances of the exchange differ from what they should be. */
export interface Difference {
  readonly asset: string;
  /** Positive: the exchange has more. */
  readonly amount: Units;
}

export class Ledger {
  readonly #own: Amounts = new Map();
  readonly #said: Amounts = new Map();
  /** By order, so that one that turns out to be ours can be taken out again. */
  readonly #foreign = new Map<string, Amounts>();
  readonly #legs = new Set<string>();
  #begun = false;

  constructor(adjustments: readonly AdjustmentEntry[]) {
    for (const entry of adjustments) this.adjust(entry);
  }

  /** False until it is known what the account held at the beginning: nothing can be compared before. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Books a fill of ours; the caller has made sure that it is new. */
  own(fill: Fill, at: Instrument): void {
    book(this.#own, fill, at);
  }

  /** Books one side of a trade that is not ours; true when it was not booked yet. */
  foreign(trade: VenueTrade, orderId: string, side: Side, at: Instrument, takesFee = true): boolean {
    const key = `${trade.symbol}|${trade.tradeId}|${orderId}`;
    if (this.#legs.has(key)) return false;
    this.#legs.add(key);
    const amounts = this.#foreign.get(orderId) ?? new Map<string, Units>();
    this.#foreign.set(orderId, amounts);
    book(amounts, takesFee ? { ...trade, side } : { ...trade, side, fee: noUnits }, at);
    return true;
  }

  /** An order that was taken for somebody else's is ours: its fills are booked as ours from now on. */
  reclaim(orderId: string): void {
    this.#foreign.delete(orderId);
  }

  /** Counts what the operator says, or what was there at the beginning. */
  adjust({ what, asset, amount }: Pick<AdjustmentEntry, 'what' | 'asset' | 'amount'>): void {
    if (what === 'baseline') this.#begun = true;
    add(this.#said, asset, units(amount));
  }

  /** What the account should hold of each asset that is known. */
  expected(): ReadonlyMap<string, Units> {
    const sums: Amounts = new Map(this.#own);
    for (const amounts of [this.#said, ...this.#foreign.values()])
      for (const [asset, amount] of amounts) add(sums, asset, amount);
    return sums;
  }

  /** What our own fills moved of an asset. */
  ownOf(asset: string): Units {
    return this.#own.get(asset) ?? noUnits;
  }

  /** Where free and locked together are not what they should be, to the last decimal. */
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

/** What each asset held before anything that the ledger knows moved it. */
export const baselineOf = (ledger: Ledger, balances: readonly Balance[]): ReadonlyMap<string, Units> => {
  const expected = ledger.expected();
  return new Map(
    balances.map(({ asset, free, locked }) => [asset, minus(plus(free, locked), expected.get(asset) ?? noUnits)]),
  );
};
