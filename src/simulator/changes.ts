/** Tells the truth log and the replicas what changed for users; what other participants do among themselves is the market. */

import { unitsText } from '../domain/money.ts';
import type { Account } from '../domain/order.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import { holderOf, type SimTrade } from './core/order.ts';
import { withdrawalRow } from './core/withdrawals.ts';
import type { Balance } from './faults/replica.ts';
import { type BalanceRow, fillRows, type LogEntry, orderRow } from './log.ts';

/** `holders` are the accounts whose balances may have changed. */
export type Recorder = (changes: Changes, holders: readonly string[]) => void;

export interface RecorderSetup {
  readonly exchange: Exchange;
  /** By uid. */
  readonly users: readonly string[];
  readonly log: (entry: LogEntry) => void;
  /** False while neither the log nor a replica wants to know: writing down what changed costs more than changing it. */
  readonly isHeard: () => boolean;
  readonly replicate: (changes: Pick<Changes, 'orders' | 'trades' | 'busted'>, balances: readonly Balance[]) => void;
}

interface Owner {
  readonly uid: string;
  readonly account: Account;
}

export function openRecorder({ exchange, users, log, isHeard, replicate }: RecorderSetup): Recorder {
  const known = new Set(users);
  const owners = new Map<string, Owner>(
    users.flatMap((uid) => (['spot', 'margin'] as const).map((account) => [holderOf(uid, account), { uid, account }])),
  );
  const concerns = ({ buyer, seller }: SimTrade): boolean =>
    known.has(buyer?.uid ?? '') || known.has(seller?.uid ?? '');
  const changedBalances = openBalances(exchange, owners);

  return ({ orders, trades, busted, withdrawals }, holders) => {
    if (!isHeard()) return;
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
    replicate(ofUsers, balances);
  };
}

/** Users' balances that are not what they were when this was last asked. */
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
