/** Withdrawals (specification §4.5). Replies and refusals have a code as text, 0 for success. */
import { minus, type Units, units, unitsText } from '../../domain/money.ts';
import type { Asset } from '../core/assets.ts';
import { malformed, refusals } from '../core/errors.ts';
import { type Withdrawal, withdrawalStates } from '../core/withdrawals.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { digits, type Json } from './json.ts';
import { decimal, exact, given, optional, type Params, Refused, required, valueOrRefused, whole } from './params.ts';

const longestText = 256;
/** Records on a page: the specification does not show how many. */
const pageSize = 100;
const standardWindowMs = 90 * 86_400_000;

const success = (data: Json): Json => ({ code: '0', msg: 'Success', data });

function apply({ params, exchange, uid }: Call): Json {
  const withdrawOrderId = shortText(required(params, 'withdrawOrderId'), 'withdrawOrderId');
  const address = shortText(required(params, 'address'), 'address');
  const label = shortText(optional(params, 'label') ?? '', 'label');
  // Not starred in §4.5; but no currency follows from the rest (docs/decisions/0013).
  const symbol = required(params, 'symbol').toUpperCase();
  const terms = exchange.assets.get(symbol);
  if (terms === undefined) throw new Refused(refusals.symbol);
  const amount = amountOf(params, terms);
  const { asset, fee } = terms;
  const request = { uid, withdrawOrderId, symbol, asset, amount, fee, address, label };
  return success({ id: valueOrRefused(exchange.withdrawals.apply(request, exchange.now)).id });
}

function amountOf(params: Params, { canWithdraw, fee, minWithdraw, maxWithdraw }: Asset): Units {
  if (!canWithdraw) throw new Refused(refusals.frozen);
  const amount = exact(() => units(decimal(params, 'amount')));
  if (amount <= 0n || amount < minWithdraw || minus(amount, fee) <= 0n) throw new Refused(refusals.belowAmount);
  if (maxWithdraw !== undefined && amount > maxWithdraw) throw new Refused(refusals.withdrawalTooLarge);
  return amount;
}

function shortText(text: string, name: string): string {
  if (text.length > longestText) throw new Refused(malformed(name));
  return text;
}

/** Of the last 90 days by default, the newest first. */
function query({ params, exchange, uid }: Call): Json {
  const from = whole(params, 'startTime') ?? exchange.now - standardWindowMs;
  const to = whole(params, 'endTime') ?? exchange.now;
  const page = Math.max(1, whole(params, 'page') ?? 1);
  const isWanted = filterOf(params);
  const found = exchange.withdrawals
    .list(uid)
    .filter((one) => one.createdAt >= from && one.createdAt <= to && isWanted(one))
    .reverse();
  const rows = found.slice((page - 1) * pageSize, page * pageSize);
  return success({ withdrawList: rows.map(recordShape), count: found.length });
}

/** Parameters that are left out or empty ask for nothing. */
function filterOf(params: Params): (one: Withdrawal) => boolean {
  const symbol = given(params, 'symbol')?.toUpperCase();
  const [id, orderId] = [given(params, 'withdrawId'), given(params, 'withdrawOrderId')];
  return (one) =>
    (symbol === undefined || one.symbol === symbol) &&
    (id === undefined || String(one.id) === id) &&
    (orderId === undefined || one.withdrawOrderId === orderId);
}

const recordShape = (one: Withdrawal): Json => ({
  id: one.id,
  withdrawOrderId: one.withdrawOrderId,
  symbol: one.symbol,
  amount: digits(unitsText(one.amount)),
  address: one.address,
  fee: digits(unitsText(one.fee)),
  ctime: one.createdAt,
  applyTime: one.paidAt ?? null,
  txId: one.txId,
  status: withdrawalStates[one.state],
  info: one.info,
});

const withdraw = { method: 'POST', permission: 'withdraw', family: 'withdraw', weight: 100 } as const;

export const withdrawEndpoints: readonly Endpoint[] = [
  { ...withdraw, path: '/sapi/v1/withdraw/apply', run: apply },
  { ...withdraw, path: '/sapi/v1/withdraw/query', run: query },
];
