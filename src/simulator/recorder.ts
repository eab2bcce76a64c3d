/** Logs what changed for users, and passes it to the replicas. Trades among other participants are the market's. */
import { unitsText } from '../domain/money.ts';
import type { Account } from '../domain/order.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import { holderOf, type SimTrade } from './core/order.ts';
import { withdrawalRow } from './core/withdrawals.ts';
import type { Balance, Replicas } from './faults/replica.ts';
import { type BalanceRow, fillRows, orderRow } from './log.ts';
import type { TruthLog } from './truth-log.ts';

/** `holders` are the accounts whose balances may have changed. */
export type Recorder = (changes: Changes, holders: readonly string[]) => void;

interface Owner {
  readonly uid: string;
  readonly account: Account;
}

/** `users` are the uids. */
export function openRecorder(
  exchange: Exchange,
  users: readonly string[],
  replicas: Pick<Replicas<unknown>, 'areOpen' | 'record'>,
  { write: log, isRead }: Pick<TruthLog, 'write' | 'isRead'>,
): Recorder {
  const known = new Set(users);
  const owners = new Map<string, Owner>(
    users.flatMap((uid) => (['spot', 'margin'] as const).map((account) => [holderOf(uid, account), { uid, account }])),
  );
  const concerns = ({ buyer, seller }: SimTrade): boolean =>
    known.has(buyer?.uid ?? '') || known.has(seller?.uid ?? '');
  const changedBalances = openBalances(exchange, owners);

  return ({ orders, trades, busted, withdrawals }, holders) => {
    // Logging costs more than the changes themselves.
    if (!isRead && !replicas.areOpen()) return;
    const at = exchange.now;
    const ofUsers = {
      orders: new Set([...orders].filter(({ uid }) => known.has(uid))),
      trades: trades.filter(concerns),
      busted: busted.filter(concerns),
    };
    for (const order of ofUsers.orders) {
      const row = orderRow(order, exchange.matching(order.symbol).instrument);
      log({ at, kind: 'order', ...row, ...(order.madeBy !== undefined && { madeBy: order.madeBy }) });
    }
    for (const trade of ofUsers.trades) {
      const { instrument } = exchange.matching(trade.symbol);
      for (const row of fillRows(trade, instrument, (id) => exchange.orders.byId(id)))
        if (known.has(row.uid)) log({ at, kind: 'fill', ...row });
    }
    for (const withdrawal of withdrawals) log({ at, kind: 'withdrawal', ...withdrawalRow(withdrawal) });
    const balances = changedBalances(holders);
    for (const balance of balances) log({ at, kind: 'balance', ...rowOf(balance, owners) });
    replicas.record(ofUsers, balances);
  };
}

/** Users' balances that changed since the last call. */
function openBalances(exchange: Exchange, owners: ReadonlyMap<string, Owner>) {
  const before = new Map<string, string>();
  return (holders: readonly string[]): Balance[] =>
    holders
      .filter((holder) => owners.has(holder))
      .flatMap((holder) =>
        [...exchange.accounts.holdings(holder)].flatMap(([asset, holding]) => {
          const key = `${holder} ${asset}`;
          const text = `${holding.free} ${holding.locked}`;
          if (before.get(key) === text) return [];
          before.set(key, text);
          return [{ holder, asset, holding: { ...holding } }];
        }),
      );
}

function rowOf({ holder, asset, holding }: Balance, owners: ReadonlyMap<string, Owner>): BalanceRow {
  const { uid, account } = owners.get(holder) ?? { uid: holder, account: 'spot' };
  return { uid, account, asset, free: unitsText(holding.free), locked: unitsText(holding.locked) };
}
