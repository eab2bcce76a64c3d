/**
 * The balance proof: an open order that no list shows locks funds, and a fill that no list shows moved funds. It reads sweep, account,
 * sweep. Only if nothing changed in between do all three show one moment.
 */

import type { Instrument } from '../../domain/instrument.ts';
import { baseUnits, minus, notional, noUnits, plus, type Units, unitsText } from '../../domain/money.ts';
import type { OrderReport } from '../../domain/order.ts';
import { counted } from '../../domain/words.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Balance, failed, queryFailure } from '../../venue/venue.ts';
import type { Books, Execution } from '../context.ts';
import { differenceText } from '../ledger.ts';
import type { Sweeps } from '../sweep.ts';

export interface Proof {
  /**
   * - `explained`: exact, with known fills and orders alone
   * - `impossible`: there can be no proof
   * - `failed`: a request failed, which proves nothing
   * - `moving`: there was no quiet moment
   */
  readonly kind: 'explained' | 'unexplained' | 'failed' | 'moving' | 'impossible';
  /** A sentence for the timeline. */
  readonly text: string;
}

/** Account and lists at one moment. */
export interface AccountReading {
  readonly balances: readonly Balance[];
  readonly open: readonly OrderReport[];
}

/** Whether known fills and open orders explain the balances of an order's two assets without it, to the last decimal. */
export async function prove(execution: Execution, sweeps: Sweeps, { intent }: WorkingOrder): Promise<Proof> {
  const { books, account, doubtful, portfolio } = execution;
  if (books?.balances === undefined)
    return {
      kind: 'impossible',
      text: `there are no balances to compare with${account === 'margin' ? ': the exchange has no such operation for margin' : ''}`,
    };
  if (!books.ledger.begun)
    return { kind: 'impossible', text: 'it is not known what the account held when this journal began' };
  const moment = await oneMoment(execution, sweeps, books);
  // Checked after the sweeps: the trades of an order without a proven owner would explain the balances.
  const other = doubtful.since(intent.symbol, intent.createdAt);
  if (other !== undefined)
    return { kind: 'impossible', text: `order ${other} may be it, and the exchange does not show its owner` };
  return 'kind' in moment ? moment : compare(execution, books, moment, portfolio.instrument(intent.symbol));
}

/** Sweep, account, sweep: account and lists of one moment, or why they are not of one moment. */
export async function oneMoment(
  execution: Execution,
  sweeps: Sweeps,
  books: Books,
): Promise<AccountReading | (Proof & { readonly kind: 'failed' | 'moving' })> {
  const broken = (text: string) => ({ kind: 'failed', text }) as const;
  const moving = (text: string) => ({ kind: 'moving', text }) as const;
  const { changes, portfolio } = execution;
  const first = await sweeps.sweepAll();
  if (first !== undefined) return broken(first);
  const { count } = changes;
  const before = fingerprint(sweeps.open());
  const answer = (await books.balances?.()) ?? failed('there are no balances to compare with');
  if (answer.kind === 'failed') return broken(queryFailure('account', answer.cause));
  const second = await sweeps.sweepAll();
  if (second !== undefined) return broken(second);
  const open = sweeps.open();
  if (changes.count !== count || fingerprint(open) !== before)
    return moving('something moved while the balances were read');
  for (const { state, cancelRequested } of portfolio.orders())
    if (state === 'sending' || (state === 'open' && cancelRequested)) return moving('a request was in flight');
  return { balances: answer.value, open };
}

const fingerprint = (open: readonly OrderReport[]): string =>
  open
    .map(({ orderId, executed }) => `${orderId}:${executed}`)
    .sort()
    .join();

function compare(execution: Execution, { ledger }: Books, moment: AccountReading, { base, quote }: Instrument): Proof {
  const facts: string[] = [];
  const off = ledger.differences(moment.balances);
  for (const asset of [base, quote]) {
    const difference = off.find((one) => one.asset === asset);
    if (difference !== undefined)
      facts.push(`the exchange has ${differenceText(difference)} that no known fill explains`);
  }
  const locks = lockedBy(execution, moment.open);
  if ('kind' in locks) return locks;
  for (const asset of [base, quote]) {
    const fact = lockFact(moment.balances, locks, asset);
    if (fact !== undefined) facts.push(fact);
  }
  return facts.length > 0
    ? { kind: 'unexplained', text: facts.join(', and ') }
    : { kind: 'explained', text: `${base} and ${quote} exact, ${counted(moment.open.length, 'open order')} known` };
}

/** A sentence if an asset's locked amount differs from what known open orders lock. */
function lockFact(balances: readonly Balance[], locks: ReadonlyMap<string, Units>, asset: string): string | undefined {
  const known = locks.get(asset) ?? noUnits;
  const held = balances.find((one) => one.asset === asset)?.locked ?? noUnits;
  return held === known
    ? undefined
    : `${unitsText(held)} ${asset} are locked where known open orders lock ${unitsText(known)}`;
}

/**
 * Why lists and balances are not of one moment: the list of a lagging server shows an ended order, or lacks a new one. Undefined if the
 * locked amounts agree, or if an order's report is not complete.
 */
export function lag(execution: Execution, { balances, open }: AccountReading): string | undefined {
  const locks = lockedBy(execution, open);
  if ('kind' in locks) return undefined;
  for (const asset of new Set([...locks.keys(), ...balances.map((one) => one.asset)])) {
    const fact = lockFact(balances, locks, asset);
    if (fact !== undefined) return fact;
  }
  return undefined;
}

/** What all open orders lock, by asset. */
function lockedBy({ portfolio }: Execution, open: readonly OrderReport[]): ReadonlyMap<string, Units> | Proof {
  const locked = new Map<string, Units>();
  for (const report of open) {
    const locks = locksOf(report, portfolio.instrument(report.symbol));
    if (locks === 'incomplete')
      return { kind: 'impossible', text: `the report of order ${report.orderId} does not show what it locks` };
    if (locks === 'ending') return { kind: 'moving', text: `order ${report.orderId} is at market and about to end` };
    locked.set(locks.asset, plus(locked.get(locks.asset) ?? noUnits, locks.amount));
  }
  return locked;
}

/** What an open order locks. A MARKET order is about to end; a report may be incomplete. */
function locksOf(
  { side, price, quantity, executed, type }: OrderReport,
  instrument: Instrument,
): { readonly asset: string; readonly amount: Units } | 'ending' | 'incomplete' {
  if (type === 'MARKET') return 'ending';
  if (quantity === undefined || price === undefined) return 'incomplete';
  const left = minus(quantity, executed);
  return side === 'BUY'
    ? { asset: instrument.quote, amount: notional(price, left, instrument) }
    : { asset: instrument.base, amount: baseUnits(left, instrument) };
}
