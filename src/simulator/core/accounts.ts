/**
 * Balances of every user and of the house, in exact units, as double entry. A holder is a user's spot or margin account
 * (`holderOf`). Each holding says where its money came from, and the house has the other side of every entry: who paid
 * deposits in and took withdrawals out, who traded, and who took the fees. So two sums are zero at every moment: over
 * each holding by itself, and over all holdings and the house together.
 */
import { getOrMake } from '../../domain/get-or-make.ts';
import { minus, negate, noUnits, plus, type Units, unitsText } from '../../domain/money.ts';

export interface Holding {
  free: Units;
  locked: Units;
  /** Deposits less withdrawals. */
  paidIn: Units;
  /** Received in trades less what was given for it, before fees. */
  traded: Units;
  /** Fees paid. */
  fees: Units;
}

/** Counter-accounts of one asset: each is the negative of all holdings, except for fees, which the exchange keeps. */
export interface ClearingAccount {
  outside: Units;
  market: Units;
  fees: Units;
}

const none = noUnits;
const emptyHolding = (): Holding => ({ free: none, locked: none, paidIn: none, traded: none, fees: none });
const emptyHouse = (): ClearingAccount => ({ outside: none, market: none, fees: none });

export class Accounts {
  readonly #holders = new Map<string, Map<string, Holding>>();
  readonly #house = new Map<string, ClearingAccount>();
  /** Holders whose balances changed since they were last saved. */
  readonly changed = new Set<string>();

  /** The holding of an asset, made when it is not there yet. */
  holding(holder: string, asset: string): Holding {
    const assets = getOrMake(this.#holders, holder, () => new Map<string, Holding>());
    return getOrMake(assets, asset, emptyHolding);
  }

  holdings(holder: string): ReadonlyMap<string, Readonly<Holding>> {
    return this.#holders.get(holder) ?? new Map();
  }

  holders(): IterableIterator<string> {
    return this.#holders.keys();
  }

  has(holder: string): boolean {
    return this.#holders.has(holder);
  }

  deposit(holder: string, asset: string, amount: Units): void {
    this.#book(holder, asset, { free: amount, paidIn: amount });
  }

  /** Pays locked funds out of the exchange. */
  payOut(holder: string, asset: string, amount: Units): void {
    this.#book(holder, asset, { locked: negate(amount), paidIn: negate(amount) });
  }

  /** Moves free funds behind an order or a withdrawal; false, and nothing moved, when there are too few. */
  lock(holder: string, asset: string, amount: Units): boolean {
    if (this.holding(holder, asset).free < amount) return false;
    this.#book(holder, asset, { free: negate(amount), locked: amount });
    return true;
  }

  unlock(holder: string, asset: string, amount: Units): void {
    if (amount > 0n) this.#book(holder, asset, { free: amount, locked: negate(amount) });
  }

  /** Gives locked funds away in a trade. */
  pay(holder: string, asset: string, amount: Units): void {
    this.#book(holder, asset, { locked: negate(amount), traded: negate(amount) });
  }

  /** Receives funds in a trade, less the fee on them. */
  receive(holder: string, asset: string, gross: Units, fee: Units): void {
    this.#book(holder, asset, { free: minus(gross, fee), traded: gross, fees: fee });
  }

  /** Undoes `pay`: what was given is free again. */
  takeBack(holder: string, asset: string, amount: Units): void {
    this.#book(holder, asset, { free: amount, traded: amount });
  }

  /** Undoes `receive`; the caller has seen that so much is free. */
  giveBack(holder: string, asset: string, gross: Units, fee: Units): void {
    this.receive(holder, asset, negate(gross), negate(fee));
  }

  /** The house's side of an asset. */
  house(asset: string): ClearingAccount {
    return getOrMake(this.#house, asset, emptyHouse);
  }

  houses(): ReadonlyMap<string, Readonly<ClearingAccount>> {
    return this.#house;
  }

  /** Puts back what was saved. */
  restore(holder: string, asset: string, saved: Holding): void {
    Object.assign(this.holding(holder, asset), saved);
  }

  restoreHouse(asset: string, saved: ClearingAccount): void {
    Object.assign(this.house(asset), saved);
  }

  /** Throws when an entry has no other side or a balance is below zero: a fault of this program. */
  check(): void {
    const sums = new Map(
      [...this.#house].map(([asset, house]) => [asset, plus(house.outside, plus(house.market, house.fees))]),
    );
    for (const [holder, assets] of this.#holders) {
      for (const [asset, { free, locked, paidIn, traded, fees }] of assets) {
        const name = `user ${holder}`;
        if (free < 0n || locked < 0n)
          throw new Error(`${name} holds ${unitsText(free)} free and ${unitsText(locked)} locked ${asset}`);
        const off = minus(plus(free, locked), minus(plus(paidIn, traded), fees));
        if (off !== 0n) throw new Error(`the ledger of ${name} is off by ${unitsText(off)} ${asset}`);
        sums.set(asset, plus(sums.get(asset) ?? noUnits, plus(free, locked)));
      }
    }
    for (const [asset, sum] of sums) {
      if (sum !== 0n) throw new Error(`the ledger of ${asset} is off by ${unitsText(sum)}`);
    }
  }

  /** Changes a holding, and the house by the other side of it. */
  #book(holder: string, asset: string, change: Partial<Holding>): void {
    const { free = noUnits, locked = noUnits, paidIn = noUnits, traded = noUnits, fees = noUnits } = change;
    const holding = this.holding(holder, asset);
    holding.free = plus(holding.free, free);
    holding.locked = plus(holding.locked, locked);
    this.changed.add(holder);
    if (paidIn === 0n && traded === 0n && fees === 0n) return;
    holding.paidIn = plus(holding.paidIn, paidIn);
    holding.traded = plus(holding.traded, traded);
    holding.fees = plus(holding.fees, fees);
    const house = this.house(asset);
    house.outside = minus(house.outside, paidIn);
    house.market = minus(house.market, traded);
    house.fees = plus(house.fees, fees);
  }
}
