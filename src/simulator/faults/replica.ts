/**
 * Read replicas that are behind. Each is an exchange of its own without users' requests or a market: it gets every change of
 * the real one once its lag has passed, and answers signed queries. Public market data always comes from the real one.
 */
import type { Account } from '../../domain/order.ts';
import type { Holding } from '../core/accounts.ts';
import type { Changes, Exchange } from '../core/exchange.ts';
import { holderOf, isOpen, type SimOrder, type SimTrade } from '../core/order.ts';

/** Changes kept for one replica; beyond it the oldest reach it early, so that a long lag cannot fill the memory. */
const waitingLimit = 100_000;

interface Waiting {
  readonly at: number;
  readonly orders: readonly SimOrder[];
  readonly trades: readonly SimTrade[];
  readonly busted: readonly SimTrade[];
  readonly balances: readonly Balance[];
}

/** What a user's account has of an asset. */
export interface Balance {
  readonly holder: string;
  readonly asset: string;
  readonly holding: Readonly<Holding>;
}

export interface Replicas<Answer> {
  /** Has a replica with this lag; it begins with the state of now. */
  open(lagMs: number): void;
  /** False when there are none, so that nothing need be handed on. */
  areOpen(): boolean;
  /** Hands on what changed. */
  record(
    changes: Pick<Changes, 'orders' | 'trades'> & Partial<Pick<Changes, 'busted'>>,
    balances: readonly Balance[],
  ): void;
  /** Changes that have not reached every replica. */
  waiting(): number;
  /** Asks the replica with this lag. */
  ask(lagMs: number): Answer;
}

export interface ReplicaSetup<Answer> {
  readonly exchange: Exchange;
  readonly users: readonly string[];
  /** An exchange of the same instruments with empty markets, at the time of now. */
  readonly empty: () => Exchange;
  /** What answers on a replica. */
  readonly serve: (replica: Exchange) => Answer;
  /** How long a lag is in exchange time. */
  readonly lengthOf: (lagMs: number) => number;
}

export function openReplicas<Answer>(setup: ReplicaSetup<Answer>): Replicas<Answer> {
  const { exchange, serve, lengthOf } = setup;
  const replicas = new Map<number, { readonly replica: Exchange; readonly answer: Answer; waiting: Waiting[] }>();
  const open = (lagMs: number) => {
    const known = replicas.get(lagMs);
    if (known !== undefined) return known;
    const replica = copied(setup);
    const opened = { replica, answer: serve(replica), waiting: [] };
    replicas.set(lagMs, opened);
    return opened;
  };
  return {
    open: (lagMs) => void open(lagMs),
    areOpen: () => replicas.size > 0,
    record({ orders, trades, busted = [] }, balances) {
      if (replicas.size === 0 || orders.size + trades.length + busted.length + balances.length === 0) return;
      const copies = [...orders].map((order) => ({ ...order }));
      const change = { at: exchange.now, orders: copies, trades, busted, balances };
      for (const one of replicas.values()) {
        one.waiting.push(change);
        if (one.waiting.length > waitingLimit)
          for (const early of one.waiting.splice(0, 1_000)) apply(early, one.replica);
      }
    },
    waiting: () => [...replicas.values()].reduce((sum, one) => sum + one.waiting.length, 0),
    ask(lagMs) {
      const one = open(lagMs);
      const due = exchange.now - lengthOf(lagMs);
      const later = one.waiting.findIndex(({ at }) => at > due);
      for (const change of one.waiting.splice(0, later < 0 ? one.waiting.length : later)) apply(change, one.replica);
      one.replica.advanceTo(exchange.now);
      return one.answer;
    },
  };
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

/** A replica that knows everything up to now. */
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
