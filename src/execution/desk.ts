/** What every part of execution works with, and the small things they share. */
import type { Clock } from '../clock/clock.ts';
import type { Side } from '../domain/market.ts';
import type { Account, Fill, OrderReport, OrderState, VenueTrade } from '../domain/order.ts';
import type { EventEntry, EventKind } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Owner } from '../journal/load.ts';
import type { Portfolio, WorkingOrder } from '../portfolio/portfolio.ts';
import type { OrderEntry } from '../venue/venue.ts';
import { orderRow } from './records.ts';

/** Delays and horizons; about the market and the exchange's rules, so in ms of the clock. */
export interface Timing {
  /** Between looks for fills while an order works. */
  readonly pollMs: number;
  /** Between looks when none does: foreign orders and late fills show up here. */
  readonly sweepMs: number;
  /** How long after its receive window an order may still appear: gateway queue plus replica lag (order-protocol §3.4, D). */
  readonly horizonMs: number;
  /** Between the two complete sweeps that an absence needs (L). */
  readonly sweepGapMs: number;
}

export const defaultTiming: Timing = { pollMs: 1_000, sweepMs: 5_000, horizonMs: 60_000, sweepGapMs: 5_000 };

export interface Notice {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** Parses our own client order ids; undefined for anybody else's. */
export type ReadId = (clientOrderId: string) => { readonly strategy: string } | undefined;

export interface Execution {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly portfolio: Portfolio;
  readonly orders: OrderEntry;
  readonly account: Account;
  readonly timing: Timing;
  readonly readId: ReadId;
  /** Whose an exchange order id is: every order of ours that has one. Grows with the journal. */
  readonly owners: Map<string, Owner>;
  /** Exchange order ids that are not ours. */
  readonly foreign: Set<string>;
  /** When the first order of the journal was created, or this run began if it has none, UTC ms. */
  readonly firstOrderAt: number;
  readonly notice: (notice: Notice) => void;
}

/** Writes one step of an order's life and the order as it now stands. */
export function record(
  { journal, portfolio, clock }: Pick<Execution, 'journal' | 'portfolio' | 'clock'>,
  order: WorkingOrder,
  event: EventKind,
  detail: EventEntry['detail'] = {},
): void {
  const at = clock.now();
  journal.append({ kind: 'event', at, clientOrderId: order.intent.clientOrderId, event, detail });
  journal.latest(order.intent.clientOrderId, () => orderRow(order, portfolio.instrument(order.intent.symbol), at));
}

/** Ends an order: no reservation is left and nothing more is expected of it. */
export function close(execution: Execution, order: WorkingOrder, state: OrderState): void {
  execution.portfolio.close(order, state);
  record(execution, order, 'closed', { state });
}

/** Binds an order of ours to the id the exchange gave it. */
export function bind({ owners }: Execution, order: WorkingOrder, report: OrderReport): void {
  const { clientOrderId, strategy, side, purpose } = order.intent;
  order.orderId = report.orderId;
  owners.set(report.orderId, { clientOrderId, strategy, side, purpose });
}

/** Our fills in a trade of the account: none, one, or two when we traded with ourselves; the fee is the taker's side's as reported. */
export function fillsIn(execution: Execution, trade: VenueTrade): readonly Fill[] {
  const fills: Fill[] = [];
  for (const orderId of trade.orderIds) {
    const owner = execution.owners.get(orderId);
    if (owner !== undefined) fills.push(fillOf(execution.account, trade, orderId, owner, trade.orderIds.length > 1));
  }
  return fills;
}

function fillOf(account: Account, trade: VenueTrade, orderId: string, owner: Owner, isSelf: boolean): Fill {
  const side: Side = owner.side;
  const other = isSelf && side !== trade.side;
  return {
    tradeId: trade.tradeId,
    orderId,
    clientOrderId: owner.clientOrderId,
    strategy: owner.strategy,
    account,
    symbol: trade.symbol,
    side,
    price: trade.price,
    quantity: trade.quantity,
    fee: other ? (0n as Fill['fee']) : trade.fee,
    feeAsset: trade.feeAsset,
    maker: other ? !trade.maker : trade.maker,
    time: trade.time,
    purpose: owner.purpose,
    ...(trade.evidence === undefined ? {} : { evidence: trade.evidence }),
  };
}
