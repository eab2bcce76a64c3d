/** The operator's desk: withdrawals wait until somebody decides about them (specification §3.2, §4.5). */
import type { Exchange } from './core/exchange.ts';
import { type Withdrawal, type WithdrawalRow, withdrawalRow } from './core/withdrawals.ts';

/** Each step throws a `Refusal` when there is no such withdrawal, or when it cannot follow on its state. */
export interface Operator {
  /** Every withdrawal, or a user's, the oldest first. */
  withdrawals(uid?: string): WithdrawalRow[];
  approve(id: number): WithdrawalRow;
  /** The user reads why in `info`. */
  reject(id: number, info?: string): WithdrawalRow;
  /** Begins the payment. */
  pay(id: number, txId?: string): WithdrawalRow;
  fail(id: number): WithdrawalRow;
  complete(id: number): WithdrawalRow;
  revoke(id: number): WithdrawalRow;
}

/** `acting` does something to the exchange at the time it is now, and shows it. */
export function openOperator(exchange: Exchange, acting: <T>(act: () => T) => T): Operator {
  const move = (
    id: number,
    to: Parameters<Exchange['withdrawals']['move']>[1],
    about: { info?: string; txId?: string } = {},
  ) => acting(() => withdrawalRow(exchange.withdrawals.move(id, to, about, exchange.now)));
  return {
    withdrawals: (uid) => exchange.withdrawals.list(uid).map((one: Withdrawal) => withdrawalRow(one)),
    approve: (id) => move(id, 'approved'),
    reject: (id, info) => move(id, 'rejected', info === undefined ? {} : { info }),
    pay: (id, txId) => move(id, 'paying', txId === undefined ? {} : { txId }),
    fail: (id) => move(id, 'failed'),
    complete: (id) => move(id, 'completed'),
    revoke: (id) => move(id, 'revoked'),
  };
}
