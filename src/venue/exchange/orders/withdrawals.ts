/** Queries withdrawals (specification §4.5). This folder cannot apply for one. */
import type { Units } from '../../../domain/money.ts';
import type { Answer } from '../../venue.ts';
import { endpoints } from '../rest/endpoints.ts';
import { amountOf, decimalOf, type Fields, idOf, isFields, textOf, timeOf } from '../rest/json.ts';
import { readEach, rowsOf } from '../rest/reply.ts';
import type { Rest } from '../rest/rest.ts';

/** §3.2, in its order; anything else is `unknown`, and never taken for an end. */
const statuses = ['unapproved', 'approved', 'rejected', 'paying', 'payment failed', 'completed', 'revoked'] as const;
export type WithdrawalStatus = (typeof statuses)[number] | 'unknown';

export interface Withdrawal {
  /** The exchange's. */
  readonly id: string;
  /** The caller's; undefined where the exchange leaves it out. */
  readonly withdrawOrderId: string | undefined;
  /** Name of the currency, on coins of several chains with the chain's name in it. */
  readonly asset: string;
  readonly amount: Units;
  readonly address: string;
  readonly fee: Units | undefined;
  readonly status: WithdrawalStatus;
  /** UTC ms. */
  readonly createdAt: number | undefined;
  readonly txId: string | undefined;
  /** Why it was rejected. */
  readonly info: string | undefined;
}

/** Everything is optional; without times the exchange lists the last 90 days. */
export interface WithdrawalQuestion {
  readonly asset?: string;
  readonly id?: string;
  readonly withdrawOrderId?: string;
  /** UTC ms. */
  readonly startTime?: number;
  readonly endTime?: number;
  /** From 1 on. */
  readonly page?: number;
}

export interface WithdrawalPage {
  readonly rows: readonly Withdrawal[];
  /** Of all pages together, as the exchange counts them; undefined where it does not: then there may be more. */
  readonly count: number | undefined;
}

export type Withdrawals = ReturnType<typeof withdrawals>;

export function withdrawals(rest: Rest) {
  return {
    query({
      asset,
      id,
      withdrawOrderId,
      startTime,
      endTime,
      page,
    }: WithdrawalQuestion): Promise<Answer<WithdrawalPage>> {
      // Texts throughout: the reference gives the times as text in one place and as numbers in another.
      const body = JSON.stringify({
        symbol: asset,
        withdrawId: id,
        withdrawOrderId,
        startTime: startTime?.toString(),
        endTime: endTime?.toString(),
        page: page?.toString(),
      });
      return rest.ask({ endpoint: endpoints.withdrawQuery, lane: 'reconcile', body }, readPage);
    },
  };
}

/**
 *     {"withdrawList":[{"id":183745,"withdrawOrderId":"w7k…","symbol":"TUSDT","amount":25.5,"address":"T…","fee":1,
 *       "ctime":1595563624731,"applyTime":1595563624731,"txId":"","status":0,"info":""}],"count":1}
 */
function readPage(value: unknown): WithdrawalPage | string {
  const list = isFields(value) ? rowsOf(value['withdrawList']) : undefined;
  if (list === undefined || !isFields(value)) return 'the answer is not a list';
  const rows = readEach(list, (row) => (isFields(row) ? readWithdrawal(row) : 'a withdrawal is not an object'));
  if (typeof rows === 'string') return rows;
  const count = Number(textOf(value['count']) ?? Number.NaN);
  return { rows, count: Number.isSafeInteger(count) && count >= 0 ? count : undefined };
}

function readWithdrawal(row: Fields): Withdrawal | string {
  const id = idOf(row['id']);
  if (id === undefined) return 'a withdrawal has no readable id';
  const asset = textOf(row['symbol']);
  const amount = amountOf(row['amount']);
  const address = textOf(row['address']);
  if (asset === undefined || amount === undefined || address === undefined)
    return `withdrawal ${id} has no readable currency, amount or address`;
  const code = decimalOf(row['status']);
  const status = code !== undefined && /^\d$/.test(code) ? statuses[Number(code)] : undefined;
  return {
    id,
    withdrawOrderId: textOf(row['withdrawOrderId']),
    asset,
    amount,
    address,
    fee: amountOf(row['fee']),
    status: status ?? 'unknown',
    createdAt: timeOf(row['ctime']),
    txId: textOf(row['txId']),
    info: textOf(row['info']),
  };
}
