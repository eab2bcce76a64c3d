/**
 * Orders that were carried out after they had been given up: where an exchange carries requests out later than D after their window
 * (the late queue) an absence is a risk that was taken, and this counts what came of it.
 */
import type { SimOrder } from '../../src/simulator/core/order.ts';
import { idOf, strategyOf } from './truth.ts';

export class GivenUp {
  /** Orders that appeared although they counted as absent. */
  late = 0;
  /** Those of them for whose strategy and symbol another one had left meanwhile: second orders in fact. */
  second = 0;
  /** How many creates had left when an order was given up, by its id; and the newest of each place, by how many had left with it. */
  readonly #absent = new Map<string, number>();
  readonly #newest = new Map<string, number>();
  #left = 0;

  /** A create has left; `id`: its client id. */
  leaves(id: string, symbol: string): void {
    this.#newest.set(placeOf(id, symbol), ++this.#left);
  }

  absent(id: string): void {
    this.#absent.set(id, this.#left);
  }

  appears(order: SimOrder): void {
    const since = this.#absent.get(idOf(order));
    if (since === undefined || strategyOf(order) === undefined) return;
    this.late++;
    if ((this.#newest.get(placeOf(idOf(order), order.symbol)) ?? 0) > since) this.second++;
  }
}

/** Version, instance and epoch change with restarts; the strategy stands behind them. */
const placeOf = (id: string, symbol: string): string => `${id.slice(10, 13)} ${symbol}`;
