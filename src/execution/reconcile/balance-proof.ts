/**
 * The balance proof: a live order that no list shows still locks funds, and a fill that no list shows
 * still moved some. Sweep, account, sweep; only if nothing changed in between, all three speak of one moment.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { baseUnits, minus, notional, noUnits, plus, type Units, unitsText } from '../../domain/money.ts';
import type { OrderReport } from '../../domain/order.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { type Balance, failed } from '../../venue/venue.ts';
import type { Books, Execution } from '../context.ts';
import { differenceText } from '../ledger.ts';
import type { Sweeps } from '../sweep.ts';

export interface Proof {
  /**
   * `explained`: exact, without anything that is not known. `impossible`: it will never be had. `failed`: a request failed, which
   * proves nothing, ask again. `moving`: there was no quiet moment, ask again.
   */
  readonly kind: 'explained' | 'unexplained' | 'failed' | 'moving' | 'impossible';
  /** For people, in the timeline. */
  readonly text: string;
}

/** The account and the lists at one moment. */
export interface Moment {
  readonly balances: readonly Balance[];
  readonly open: readonly OrderReport[];
}

/** Whether the two assets of an order's symbol are explained without it, to the last decimal, by known fills and known open orders. */
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
  // Asked after the looks: what it traded counts as somebody else's, and would explain the balances.
  const other = doubtful.since(intent.symbol, intent.createdAt);
  if (other !== undefined)
    return { kind: 'impossible', text: `order ${other} may be it, and the exchange does not say whose it is` };
  return 'kind' in moment ? moment : compare(execution, books, moment, portfolio.instrument(intent.symbol));
}

/** Sweep, account, sweep: what all three agree about, or in words why they speak of different moments. */
export async function oneMoment(
  execution: Execution,
  sweeps: Sweeps,
  books: Books,
): Promise<Moment | (Proof & { readonly kind: 'failed' | 'moving' })> {
  const broken = (text: string) => ({ kind: 'failed', text }) as const;
  const moving = (text: string) => ({ kind: 'moving', text }) as const;
  const { changes, portfolio } = execution;
  const first = await sweeps.sweepAll();
  if (first !== undefined) return broken(first);
  const { count } = changes;
  const before = fingerprint(sweeps.open());
  const answer = (await books.balances?.()) ?? failed('there are no balances to compare with');
  if (answer.kind === 'failed') return broken(`account: ${answer.cause}`);
  const second = await sweeps.sweepAll();
  if (second !== undefined) return broken(second);
  const open = sweeps.open();
  if (changes.count !== count || fingerprint(open) !== before)
    return moving('something moved while the balances were read');
  for (const { state, cancelRequested } of portfolio.orders())
    if (state === 'sending' || (state === 'open' && cancelRequested))
      return moving('a request was under way meanwhile');
  return { balances: answer.value, open };
}

const fingerprint = (open: readonly OrderReport[]): string =>
  open
    .map(({ orderId, executed }) => `${orderId}:${executed}`)
    .sort()
    .join();

function compare(execution: Execution, { ledger }: Books, moment: Moment, at: Instrument): Proof {
  const facts: string[] = [];
  const off = ledger.differences(moment.balances);
  for (const asset of [at.base, at.quote]) {
    const difference = off.find((one) => one.asset === asset);
    if (difference !== undefined)
      facts.push(`the exchange has ${differenceText(difference)} that no known fill explains`);
  }
  const locks = lockedBy(execution, moment.open);
  if ('kind' in locks) return locks;
  for (const asset of [at.base, at.quote]) {
    const fact = lockFact(moment.balances, locks, asset);
    if (fact !== undefined) facts.push(fact);
  }
  return facts.length > 0
    ? { kind: 'unexplained', text: facts.join(', and ') }
    : { kind: 'explained', text: `${at.base} and ${at.quote} exact, ${moment.open.length} open orders known` };
}

/** In words where an asset's locked amount is not what known open orders lock. */
function lockFact(balances: readonly Balance[], locks: ReadonlyMap<string, Units>, asset: string): string | undefined {
  const known = locks.get(asset) ?? noUnits;
  const held = balances.find((one) => one.asset === asset)?.locked ?? noUnits;
  return held === known
    ? undefined
    : `${unitsText(held)} ${asset} are locked where known open orders lock ${unitsText(known)}`;
}

/**
 * Why lists and balances cannot be of one moment: an order that has ended still stands on a list of a server that lags, or one
 * is not on it yet. undefined when what is locked agrees, or when nobody can say.
 */
export function lag(execution: Execution, { balances, open }: Moment): string | undefined {
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
    if (locks === 'unsaid') return { kind: 'impossible', text: `order ${report.orderId} does not say what it locks` };
    if (locks === 'ending') return { kind: 'moving', text: `order ${report.orderId} is at market and about to end` };
    locked.set(locks.asset, plus(locked.get(locks.asset) ?? noUnits, locks.amount));
  }
  return locked;
}

/** What an open order keeps locked; one at market is about to end, and one can say too little. */
function locksOf(
  { side, price, quantity, executed, type }: OrderReport,
  at: Instrument,
): { readonly asset: string; readonly amount: Units } | 'ending' | 'unsaid' {
  if (type === 'MARKET') return 'ending';
  if (quantity === undefined || price === undefined) return 'unsaid';
  const left = minus(quantity, executed);
  return side === 'BUY'
    ? { asset: at.quote, amount: notional(price, left, at) }
    : { asset: at.base, amount: baseUnits(left, at) };
}
