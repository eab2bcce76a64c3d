/**
 * Balances of every user and of the house, in exact units, as double entry. A holder is a user's spot or margin account
 * (`holderOf`). Each holding says where its money came from, and the house has the other side of every entry: who paid
 * deposits in and took withdrawals out, who traded, and who took the fees. So two sums are zero at every moment: over
 * each holding by itself, and over all holdings and the house together.
 */
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

const emptyHolding = (): Holding => ({
  free: noUnits,
  locked: noUnits,
  paidIn: noUnits,
  traded: noUnits,
  fees: noUnits,
});

export class Accounts {
  readonly #holders = new Map<string, Map<string, Holding>>();
  readonly #house = new Map<string, ClearingAccount>();
  /** Holders whose balances changed since they were last saved. */
  readonly changed = new Set<string>();

  /** The holding of an asset, made when it is not there yet. */
  holding(holder: string, asset: string): Holding {
    let assets = this.#holders.get(holder);
    if (assets === undefined) {
      assets = new Map();
      this.#holders.set(holder, assets);
    }
    let holding = assets.get(asset);
    if (holding === undefined) {
      holding = emptyHolding();
      assets.set(asset, holding);
    }
    return holding;
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
    const holding = this.#touch(holder, asset);
    const house = this.house(asset);
    holding.free = plus(holding.free, amount);
    holding.paidIn = plus(holding.paidIn, amount);
    house.outside = minus(house.outside, amount);
  }

  /** Pays locked funds out of the exchange. */
  payOut(holder: string, asset: string, amount: Units): void {
    const holding = this.#touch(holder, asset);
    const house = this.house(asset);
    holding.locked = minus(holding.locked, amount);
    holding.paidIn = minus(holding.paidIn, amount);
    house.outside = plus(house.outside, amount);
  }

  /** Moves free funds behind an order or a withdrawal; false, and nothing moved, when there are too few. */
  lock(holder: string, asset: string, amount: Units): boolean {
    const holding = this.holding(holder, asset);
    if (holding.free < amount) return false;
    holding.free = minus(holding.free, amount);
    holding.locked = plus(holding.locked, amount);
    this.changed.add(holder);
    return true;
  }

  unlock(holder: string, asset: string, amount: Units): void {
    if (amount === 0n) return;
    const holding = this.#touch(holder, asset);
    holding.locked = minus(holding.locked, amount);
    holding.free = plus(holding.free, amount);
  }

  /** Gives locked funds away in a trade. */
  pay(holder: string, asset: string, amount: Units): void {
    const holding = this.#touch(holder, asset);
    const house = this.house(asset);
    holding.locked = minus(holding.locked, amount);
    holding.traded = minus(holding.traded, amount);
    house.market = plus(house.market, amount);
  }

  /** Receives funds in a trade, less the fee on them. */
  receive(holder: string, asset: string, gross: Units, fee: Units): void {
    const holding = this.#touch(holder, asset);
    const house = this.house(asset);
    holding.free = plus(holding.free, minus(gross, fee));
    holding.traded = plus(holding.traded, gross);
    holding.fees = plus(holding.fees, fee);
    house.market = minus(house.market, gross);
    house.fees = plus(house.fees, fee);
  }

  /** Undoes `pay`: what was given is free again. */
  takeBack(holder: string, asset: string, amount: Units): void {
    const holding = this.#touch(holder, asset);
    const house = this.house(asset);
    holding.free = plus(holding.free, amount);
    holding.traded = plus(holding.traded, amount);
    house.market = minus(house.market, amount);
  }

  /** Undoes `receive`; the caller has seen that so much is free. */
  giveBack(holder: string, asset: string, gross: Units, fee: Units): void {
    this.receive(holder, asset, negate(gross), negate(fee));
  }

  /** The house's side of an asset. */
  house(asset: string): ClearingAccount {
    let house = this.#house.get(asset);
    if (house === undefined) {
      house = { outside: noUnits, market: noUnits, fees: noUnits };
      this.#house.set(asset, house);
    }
    return house;
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

  #touch(holder: string, asset: string): Holding {
    this.changed.add(holder);
    return this.holding(holder, asset);
  }
}
