/** The exchange's operator, who decides about withdrawals (specification §3.2, §4.5). */
import type { Exchange } from './core/exchange.ts';
import { type WithdrawalRow, type WithdrawalStep, withdrawalRow } from './core/withdrawals.ts';
import type { Driver } from './driver.ts';

export type Operator = ReturnType<typeof openOperator>;

/** Each step throws a `Refusal` for an unknown withdrawal or a step that its state does not allow. */
export function openOperator(exchange: Exchange, driver: Driver) {
  const { withdrawals } = exchange;
  const move = (id: number, to: WithdrawalStep, info?: string, txId?: string): WithdrawalRow =>
    driver.act(() => withdrawalRow(withdrawals.move(id, to, { info, txId }, exchange.now)));
  return {
    /** Every withdrawal, or those of a user, the oldest first. */
    withdrawals: (uid?: string): WithdrawalRow[] => withdrawals.list(uid).map(withdrawalRow),
    approve: (id: number) => move(id, 'approved'),
    /** The user reads the reason in `info`. */
    reject: (id: number, info?: string) => move(id, 'rejected', info),
    /** Begins the payment. */
    pay: (id: number, txId?: string) => move(id, 'paying', undefined, txId),
    fail: (id: number) => move(id, 'failed'),
    complete: (id: number) => move(id, 'completed'),
    revoke: (id: number) => move(id, 'revoked'),
  };
}
