/** Balances of a simulated account: free and locked by orders, by asset, exact. */
import { getOrMake } from '../../domain/get-or-make.ts';
import { minus, negate, noUnits, plus, type Units, units } from '../../domain/money.ts';
import type { Balance } from '../venue.ts';

/** Fees in quote round up fill by fill, so an order's last fills may cost this little more than was locked for the whole. */
const dust = units('0.000001');

interface Holding {
  free: Units;
  locked: Units;
}

export class PaperBalances {
  readonly #holdings = new Map<string, Holding>();

  readonly #mayOwe: boolean;

  /** `mayOwe`: more can be locked and paid than the balance has; the rest is borrowed. */
  constructor(balances: readonly Balance[], mayOwe = false) {
    this.#mayOwe = mayOwe;
    for (const { asset, free, locked } of balances) this.#holdings.set(asset, { free, locked });
  }

  free(asset: string): Units {
    return this.#of(asset).free;
  }

  /** Locks an amount, or says false and locks nothing when less is free. */
  lock(asset: string, amount: Units): boolean {
    const holding = this.#of(asset);
    if (!this.#mayOwe && holding.free < amount) return false;
    holding.free = minus(holding.free, amount);
    holding.locked = plus(holding.locked, amount);
    return true;
  }

  release(asset: string, amount: Units): void {
    const holding = this.#of(asset);
    holding.locked = minus(holding.locked, amount);
    holding.free = plus(holding.free, amount);
  }

  /** Pays one amount from what is locked and another from what is free. */
  pay(asset: string, fromLocked: Units, fromFree: Units): void {
    const holding = this.#of(asset);
    holding.locked = minus(holding.locked, fromLocked);
    holding.free = minus(holding.free, fromFree);
    if ((!this.#mayOwe && holding.free < negate(dust)) || holding.locked < 0n)
      throw new Error(`the simulated account has less than no ${asset}`);
  }

  receive(asset: string, amount: Units): void {
    const holding = this.#of(asset);
    holding.free = plus(holding.free, amount);
  }

  balances(): readonly Balance[] {
    return [...this.#holdings].map(([asset, holding]) => ({ asset, ...holding }));
  }

  #of(asset: string): Holding {
    return getOrMake(this.#holdings, asset, () => ({ free: noUnits, locked: noUnits }));
  }
}
