/** Withdrawals in words and as JSON. */
import { unitsText } from '../domain/money.ts';
import type { Withdrawal } from '../venue/exchange/orders/withdrawals.ts';
import type { Entry, State } from './journal.ts';

const states: Readonly<Record<State, string>> = {
  sending: 'not known whether it was sent',
  unknown: 'not known',
  accepted: 'accepted',
  refused: 'refused',
  notSent: 'not sent',
  absent: 'never reached the exchange',
};

/** `w7k… 25.5 TUSDT to T…: accepted (unapproved), 183745 at the exchange`. */
export function entryText({ withdrawOrderId, asset, amount, address, label, state, cause, id }: Entry): string {
  const to = label === undefined ? address : `${address} with label ${label}`;
  const why = cause === undefined ? '' : ` (${cause})`;
  const there = id === undefined ? '' : `, ${id} at the exchange`;
  return `${withdrawOrderId} ${unitsText(amount)} ${asset} to ${to}: ${states[state]}${why}${there}`;
}

export const entryJson = (entry: Entry): object => ({
  version: 2,
  ...entry,
  amount: unitsText(entry.amount),
  label: entry.label ?? null,
  id: entry.id ?? null,
  cause: entry.cause ?? null,
});

export const withdrawalRow = (one: Withdrawal) => ({
  createTime: one.createdAt ?? null,
  id: one.id,
  withdrawOrderId: one.withdrawOrderId ?? null,
  asset: one.asset,
  amount: unitsText(one.amount),
  fee: one.fee === undefined ? null : unitsText(one.fee),
  address: one.address,
  status: one.status,
  txId: one.txId ?? null,
  info: one.info ?? null,
});
