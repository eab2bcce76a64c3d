/**
 * Read replicas with a lag. Each is an exchange of its own without requests or a market: it gets every change of the real one once
 * the lag has passed, and answers signed queries. Public market data always comes from the real one.
 */
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Account } from '../../domain/order.ts';
import type { Holding } from '../core/accounts.ts';
import type { Changes, Exchange } from '../core/exchange.ts';
import { holderOf, isOpen, type SimOrder, type SimTrade } from '../core/order.ts';

/** Changes that wait for one replica; beyond it the oldest apply early, so that a long lag cannot fill the memory. */
const waitingLimit = 100_000;

interface Waiting {
  readonly at: number;
  readonly orders: readonly SimOrder[];
  readonly trades: readonly SimTrade[];
  readonly busted: readonly SimTrade[];
  readonly balances: readonly Balance[];
}

/** A user's balance of an asset. */
export interface Balance {
  readonly holder: string;
  readonly asset: string;
  readonly holding: Readonly<Holding>;
}

export interface ReplicaSetup<Answer> {
  readonly exchange: Exchange;
  readonly users: readonly string[];
  /** Makes an exchange of the same instruments with empty markets, at the current time. */
  readonly empty: () => Exchange;
  /** Makes the API of a replica. */
  readonly serve: (replica: Exchange) => Answer;
  /** A lag in exchange time. */
  readonly lengthOf: (lagMs: number) => number;
}

interface Replica<Answer> {
  readonly exchange: Exchange;
  readonly answer: Answer;
  readonly waiting: Waiting[];
}

export class Replicas<Answer> {
  readonly #setup: ReplicaSetup<Answer>;
  readonly #byLag = new Map<number, Replica<Answer>>();

  constructor(setup: ReplicaSetup<Answer>) {
    this.#setup = setup;
  }

  /** Opens a replica with this lag; it begins with the current state. */
  open(lagMs: number): Replica<Answer> {
    return getOrMake(this.#byLag, lagMs, () => {
      const exchange = copied(this.#setup);
      return { exchange, answer: this.#setup.serve(exchange), waiting: [] };
    });
  }

  /** False without replicas, so that no changes need to be recorded. */
  areOpen(): boolean {
    return this.#byLag.size > 0;
  }

  record(
    { orders, trades, busted = [] }: Pick<Changes, 'orders' | 'trades'> & Partial<Pick<Changes, 'busted'>>,
    balances: readonly Balance[],
  ): void {
    if (this.#byLag.size === 0 || orders.size + trades.length + busted.length + balances.length === 0) return;
    const copies = [...orders].map((order) => ({ ...order }));
    const change = { at: this.#setup.exchange.now, orders: copies, trades, busted, balances };
    for (const { exchange, waiting } of this.#byLag.values()) {
      waiting.push(change);
      if (waiting.length > waitingLimit) for (const early of waiting.splice(0, 1_000)) apply(early, exchange);
    }
  }

  /** Changes that have not reached every replica. */
  waiting(): number {
    return [...this.#byLag.values()].reduce((sum, one) => sum + one.waiting.length, 0);
  }

  /** The API of the replica with this lag, as of now. */
  ask(lagMs: number): Answer {
    const { exchange, answer, waiting } = this.open(lagMs);
    const { now } = this.#setup.exchange;
    const due = now - this.#setup.lengthOf(lagMs);
    const later = waiting.findIndex(({ at }) => at > due);
    for (const change of waiting.splice(0, later < 0 ? waiting.length : later)) apply(change, exchange);
    exchange.advanceTo(now);
    return answer;
  }
}

function apply({ orders, trades, busted, balances }: Waiting, replica: Exchange): void {
  for (const order of orders) {
    const known = replica.orders.byId(order.orderId);
    if (known === undefined) replica.orders.add({ ...order });
    else {
      const wasOpen = isOpen(known);
      Object.assign(known, order);
      if (wasOpen && !isOpen(known)) replica.orders.ended(known);
    }
  }
  for (const trade of trades) replica.orders.addTrade(trade);
  for (const trade of busted) replica.orders.removeTrade(trade);
  for (const { holder, asset, holding } of balances) replica.accounts.restore(holder, asset, { ...holding });
}

const accounts: readonly Account[] = ['spot', 'margin'];

/** A replica of the current state. */
function copied<Answer>({ exchange, users, empty }: ReplicaSetup<Answer>): Exchange {
  const replica = empty();
  const holders = users.flatMap((uid) => accounts.map((account) => holderOf(uid, account)));
  const symbols = [...exchange.instruments.keys()];
  const own = holders.flatMap((holder) => symbols.flatMap((symbol) => exchange.orders.trades(holder, symbol)));
  const balances = holders.flatMap((holder) =>
    [...exchange.accounts.holdings(holder)].map(([asset, holding]) => ({ holder, asset, holding })),
  );
  const orders = [...exchange.orders.all()];
  const trades = [...new Set(own.map(({ trade }) => trade))];
  apply({ at: exchange.now, orders, trades, busted: [], balances }, replica);
  return replica;
}
