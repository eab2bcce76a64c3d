/** The exchange's operator, who decides about withdrawals (specification §3.2, §4.5). */

import type { Exchange } from './core/exchange.ts';
import { type WithdrawalRow, withdrawalRow } from './core/withdrawals.ts';
import type { Driver } from './driver.ts';

/** Each step throws a `Refusal` for an unknown withdrawal or a step that its state does not allow. */
export class Operator {
  readonly #exchange: Exchange;
  readonly #driver: Driver;

  constructor(exchange: Exchange, driver: Driver) {
    this.#exchange = exchange;
    this.#driver = driver;
  }

  /** Every withdrawal, or those of a user, the oldest first. */
  withdrawals(uid?: string): WithdrawalRow[] {
    return this.#exchange.withdrawals.list(uid).map(withdrawalRow);
  }

  approve(id: number): WithdrawalRow {
    return this.#move(id, 'approved');
  }

  /** The user reads the reason in `info`. */
  reject(id: number, info?: string): WithdrawalRow {
    return this.#move(id, 'rejected', info);
  }

  /** Begins the payment. */
  pay(id: number, txId?: string): WithdrawalRow {
    return this.#move(id, 'paying', undefined, txId);
  }

  fail(id: number): WithdrawalRow {
    return this.#move(id, 'failed');
  }

  complete(id: number): WithdrawalRow {
    return this.#move(id, 'completed');
  }

  revoke(id: number): WithdrawalRow {
    return this.#move(id, 'revoked');
  }

  #move(id: number, to: Parameters<Exchange['withdrawals']['move']>[1], info?: string, txId?: string): WithdrawalRow {
    const { withdrawals } = this.#exchange;
    return this.#driver.act(() => withdrawalRow(withdrawals.move(id, to, { info, txId }, this.#exchange.now)));
  }
}
