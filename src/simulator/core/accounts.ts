/**
 * Balances of every user and of the house, in exact units. The house is everybody who is not a user: who paid deposits in,
 * who stands behind the displayed book, and who takes the fees. So the sum over all accounts is zero at every moment.
 */
import { minus, noUnits, plus, type Units, unitsText } from '../../domain/money.ts';

export interface Holding {
  free: Units;
  locked: Units;
}

export class Accounts {
  readonly #users = new Map<string, Map<string, Holding>>();
  readonly #house = new Map<string, Units>();
  /** Users whose balances changed since they were last saved. */
  readonly changed = new Set<string>();

  /** The holding of a user, made when it is not there yet. */
  holding(uid: string, asset: string): Holding {
    let assets = this.#users.get(uid);
    if (assets === undefined) {
      assets = new Map();
      this.#users.set(uid, assets);
    }
    let holding = assets.get(asset);
    if (holding === undefined) {
      holding = { free: noUnits, locked: noUnits };
      assets.set(asset, holding);
    }
    return holding;
  }

  holdings(uid: string): ReadonlyMap<string, Readonly<Holding>> {
    return this.#users.get(uid) ?? new Map();
  }

  has(uid: string): boolean {
    return this.#users.has(uid);
  }

  deposit(uid: string, asset: string, amount: Units): void {
    const holding = this.holding(uid, asset);
    holding.free = plus(holding.free, amount);
    this.toHouse(asset, minus(noUnits, amount));
    this.changed.add(uid);
  }

  /** Moves free funds behind an order; false, and nothing moved, when there are too few. */
  lock(uid: string, asset: string, amount: Units): boolean {
    const holding = this.holding(uid, asset);
    if (holding.free < amount) return false;
    holding.free = minus(holding.free, amount);
    holding.locked = plus(holding.locked, amount);
    this.changed.add(uid);
    return true;
  }

  unlock(uid: string, asset: string, amount: Units): void {
    const holding = this.holding(uid, asset);
    holding.locked = minus(holding.locked, amount);
    holding.free = plus(holding.free, amount);
    this.changed.add(uid);
  }

  /** Takes locked funds away: they were paid. */
  pay(uid: string, asset: string, amount: Units): void {
    const holding = this.holding(uid, asset);
    holding.locked = minus(holding.locked, amount);
    this.changed.add(uid);
  }

  receive(uid: string, asset: string, amount: Units): void {
    const holding = this.holding(uid, asset);
    holding.free = plus(holding.free, amount);
    this.changed.add(uid);
  }

  toHouse(asset: string, amount: Units): void {
    this.#house.set(asset, plus(this.#house.get(asset) ?? noUnits, amount));
  }

  house(): ReadonlyMap<string, Units> {
    return this.#house;
  }

  /** Puts back what was saved. */
  restore(uid: string, asset: string, holding: Holding): void {
    this.holding(uid, asset);
    this.#users.get(uid)?.set(asset, holding);
  }

  restoreHouse(asset: string, amount: Units): void {
    this.#house.set(asset, amount);
  }

  /** Throws when an asset's accounts do not sum to zero or a user's balance is below zero: a fault of this program. */
  check(): void {
    const sums = new Map(this.#house);
    for (const [uid, assets] of this.#users) {
      for (const [asset, { free, locked }] of assets) {
        if (free < 0n || locked < 0n)
          throw new Error(`user ${uid} holds ${unitsText(free)} free and ${unitsText(locked)} locked ${asset}`);
        sums.set(asset, plus(plus(sums.get(asset) ?? noUnits, free), locked));
      }
    }
    for (const [asset, sum] of sums) {
      if (sum !== 0n) throw new Error(`the ledger of ${asset} is off by ${unitsText(sum)}`);
    }
  }
}
