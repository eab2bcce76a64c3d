/** Invariants that hold at every step, each a function that says what is wrong or nothing. */
import type { Database } from 'better-sqlite3';
import {
  lots,
  noLots,
  notional,
  noUnits,
  plus,
  quantityText,
  ticks,
  type Units,
  units,
  unitsNumber,
  unitsText,
} from '../../src/domain/money.ts';
import { isClosed, isFinal, type OrderState } from '../../src/domain/order.ts';
import type { Entry, FillEntry, OrderEntryRow } from '../../src/journal/entries.ts';
import { restoreFill } from '../../src/journal/fill-entries.ts';
import type { SimOrder } from '../../src/simulator/core/order.ts';
import type { HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import { slowestCommitMs } from './disk.ts';
import { maxPosition } from './process.ts';
import { fillRows, orderRow, sendingWith } from './rows.ts';
import { maxTarget, moneyOf, severalMarkets, symbolsOf } from './strategies.ts';
import { idOf, instrumentOf, strategyOf, type Truth } from './truth.ts';

/** Breaks of an invariant: its number, and what was seen. */
export interface Violation {
  readonly invariant: string;
  readonly text: string;
}
export type Verdict = string | undefined;

/** I1: each order at the exchange with an id that we made has an intent of its own. */
export function ordersHaveIntents(fresh: readonly SimOrder[], truth: Truth, db: Database): Verdict {
  for (const order of fresh) {
    const [id, { orderId }] = [idOf(order), order];
    if ((truth.ours.get(id)?.length ?? 0) > 1) return `two orders carry ${id}, the second is ${orderId}`;
    if (orderRow(db, id) === undefined) return `order ${orderId} has no intent ${id}`;
  }
  return undefined;
}

/** The client id in the body of a create; undefined for every other request. */
export function createdId({ url, method, body }: HttpRequest): string | undefined {
  if (method !== 'POST' || !url.pathname.endsWith('/order')) return undefined;
  return /"newClientOrderId":"([^"]*)"/.exec(body ?? '')?.[1] ?? '';
}

/** I2: a create leaves once, and only after its intent is on disk as it is sent. */
export function createsFollowCommits(id: string, bodyHash: string, sent: Set<string>, db: Database): Verdict {
  if (sent.has(id)) return `the create ${id} leaves a second time`;
  sent.add(id);
  const row = orderRow(db, id);
  if (row === undefined) return `the create ${id} leaves without an intent on disk`;
  if (row.state === 'intended') return `the create ${id} leaves while its intent on disk says ${row.state}`;
  return row.bodyHash === bodyHash ? undefined : `the create ${id} leaves with another body than was journalled`;
}

/** The client ids of the intents that leave in one request, each with an intent on disk with this very body. */
export const batchIds = ({ url, method }: HttpRequest, bodyHash: string, db: Database): readonly string[] =>
  method === 'POST' && url.pathname.endsWith('/batchOrders') ? sendingWith(db, bodyHash) : [];

/** I2 of several in one request: each has an intent on disk with this very body, and none of them has left before. */
export function batchFollowsCommits(
  { url, method, body = '' }: HttpRequest,
  ids: readonly string[],
  sent: Set<string>,
): Verdict {
  if (method !== 'POST' || !url.pathname.endsWith('/batchOrders')) return undefined;
  const wanted = body.match(/"batchType"/g)?.length ?? 0;
  const rows = ids.filter((id) => !sent.has(id));
  for (const id of rows) sent.add(id);
  return rows.length === wanted
    ? undefined
    : `a batch of ${wanted} leaves, and ${rows.length} intents on disk are being sent with it`;
}

/** I3, one way: a fill that is written down is one of the exchange's, with its numbers. */
export function fillsAreTheExchanges(row: FillEntry, truth: Truth): Verdict {
  const own = truth.leg(row.tradeId, row.orderId);
  if (own === undefined) return `the fill ${row.tradeId} of ${row.orderId} is none of the exchange's of our orders`;
  const fill = restoreFill(row, instrumentOf(row.symbol));
  const { trade, leg, isBuyer, order } = own;
  const same =
    fill.price === trade.price &&
    fill.quantity === trade.quantity &&
    fill.fee === leg.fee &&
    fill.feeAsset === leg.feeAsset &&
    (fill.side === 'BUY') === isBuyer &&
    row.clientOrderId === idOf(order) &&
    row.strategy === strategyOf(order);
  return same
    ? undefined
    : `the fill ${row.tradeId} of ${row.orderId} differs: ours ${row.side} ${row.quantity} at ${row.price} fee ${row.fee} ${row.feeAsset} of ${row.strategy}, the exchange's fee ${unitsNumber(leg.fee)} ${leg.feeAsset}`;
}

/** I4: an order is closed only when the exchange has ended it and all its fills are rows. */
export function closedAddsUp(row: OrderEntryRow, truth: Truth, db: Database): Verdict {
  if (row.state !== 'filled' && row.state !== 'canceled') return undefined;
  const order = truth.order(row.clientOrderId);
  if (order === undefined) return `${row.clientOrderId} is closed as ${row.state}, but the exchange has no such order`;
  if (!isFinal(order.status))
    return `${row.clientOrderId} is closed as ${row.state}, but the exchange says ${order.status}`;
  const at = instrumentOf(row.symbol);
  const filled = fillRows(db, row.clientOrderId).reduce((sum, fill) => plus(sum, lots(fill.quantity, at)), noLots);
  return filled === order.executed
    ? undefined
    : `${row.clientOrderId} is closed with ${quantityText(filled, at)} filled, the exchange executed ${quantityText(order.executed, at)}`;
}

/** I5: fills never come to more than was ordered. */
export function fillsFitOrders(row: FillEntry, db: Database): Verdict {
  const order = orderRow(db, row.clientOrderId);
  if (order === undefined) return `the fill ${row.tradeId} belongs to no intent`;
  const at = instrumentOf(row.symbol);
  let [filled, spent] = [noLots, noUnits];
  for (const { price, quantity } of fillRows(db, row.clientOrderId)) {
    filled = plus(filled, lots(quantity, at));
    spent = plus(spent, notional(ticks(price, at), lots(quantity, at), at));
  }
  const fits = order.amount === null ? filled <= lots(order.quantity ?? '0', at) : spent <= units(order.amount);
  return fits
    ? undefined
    : `${row.clientOrderId} ordered ${order.quantity ?? order.amount} and has fills of ${quantityText(filled, at)} (${unitsText(spent)} in quote)`;
}

/** Prices move between a decision and the exchange's door: so much above a limit is not a breach. */
const slack = 1.06;

/** I8: what is held and what is open never comes to more than the limit when an order is accepted. */
export function exposureStaysBelowLimit(order: SimOrder, truth: Truth, held: Units, price: number): Verdict {
  if (order.side === 'SELL') return undefined;
  const value = unitsNumber(plus(held, truth.openBuys(undefined, order.symbol))) * price;
  const limit = unitsNumber(maxPosition) * slack;
  return value <= limit
    ? undefined
    : `${order.symbol} comes to ${value.toFixed(2)} with ${order.clientOrderId}, the limit is ${limit}`;
}

/** I8, of one strategy: it never holds and asks for more than it ever signalled: nothing was bought twice. */
export function nothingIsBoughtTwice(order: SimOrder, truth: Truth): Verdict {
  const strategy = strategyOf(order);
  const most = strategy === undefined ? undefined : maxTarget[strategy];
  if (strategy === undefined || most === undefined || order.side === 'SELL') return undefined;
  const held = plus(truth.position(strategy, order.symbol), truth.openBuys(strategy, order.symbol));
  const asked = unitsNumber(held);
  return asked <= most * 1.05 + 0.02
    ? undefined
    : `${strategy} has ${asked} of ${order.symbol} with ${order.clientOrderId}, and never signalled more than ${most}`;
}

/** I8, of the money: a strategy of both symbols never spends more than it has for them. */
export function moneyIsNotSpentTwice(order: SimOrder, truth: Truth, priceOf: (symbol: string) => number): Verdict {
  const strategy = strategyOf(order);
  if (strategy === undefined || !severalMarkets.some((one) => one === strategy) || order.side === 'SELL')
    return undefined;
  const open = symbolsOf[strategy].reduce(
    (sum, symbol) => sum + unitsNumber(truth.openBuys(strategy, symbol)) * priceOf(symbol),
    0,
  );
  const spent = open - unitsNumber(truth.quoteMoved(strategy));
  const most = unitsNumber(moneyOf[strategy]) * slack;
  return spent <= most
    ? undefined
    : `${strategy} has spent ${spent.toFixed(2)} with ${order.clientOrderId}, and has ${unitsText(moneyOf[strategy])}`;
}

/** I9: nothing leaves a closed state, but an order that was taken for absent and turned up. */
export function closedStaysClosed(row: OrderEntryRow, before: OrderState | undefined): Verdict {
  if (before === undefined || !isClosed(before) || before === row.state || String(before) === 'absent')
    return undefined;
  return `${row.clientOrderId} went from ${before} to ${row.state}`;
}

/** I7, as it is decided: an order counts as absent only once nothing that has left for it can still be carried out. */
export function absenceIsNotTooEarly(
  row: OrderEntryRow,
  before: OrderState | undefined,
  pending: Iterable<string>,
  now: number,
): Verdict {
  if (row.state !== 'absent' || before === 'absent') return undefined;
  // The exchange refuses what comes after its window.
  if (now > (row.signedAt ?? now) + (row.recvWindowMs ?? 0)) return undefined;
  for (const body of pending)
    if (body.includes(row.clientOrderId))
      return `${row.clientOrderId} counts as absent while its create can still be carried out`;
  return undefined;
}

/** The same as a rule (§3.4, 4): not before the exchange's time has passed its window and D, whatever could still come. */
export function absenceWaitsForTheHorizon(
  row: OrderEntryRow,
  before: OrderState | undefined,
  { now, absentAfterMs, slackMs }: { readonly now: number; readonly absentAfterMs: number; readonly slackMs: number },
): Verdict {
  if (row.state !== 'absent' || before === 'absent' || row.signedAt === null) return undefined;
  const least = row.signedAt + (row.recvWindowMs ?? 0) + absentAfterMs;
  return now >= least - slackMs
    ? undefined
    : `${row.clientOrderId} counts as absent ${least - now} ms before its horizon`;
}

/** What each request costs, by the specification and not by the client's own table. */
export function weightOf({ url, method }: HttpRequest): number {
  if (method === 'POST' && /\/batch/.test(url.pathname)) return 10;
  return method === 'POST' && /\/(order|cancel)$/.test(url.pathname) ? 5 : 1;
}

/** Human orders are left alone: only what carries an id of ours is cancelled, and there is no kill of everything here. */
export function onlyOursIsCancelled({ url, method, body }: HttpRequest, truth: Truth): Verdict {
  if (method !== 'POST' || !/\/(cancel|batchCancel)$/.test(url.pathname)) return undefined;
  for (const [orderId] of (body ?? '').matchAll(/\d{10,}/g)) {
    const order = truth.byId(orderId);
    if (order === undefined) return `a cancel leaves for ${orderId}, which the exchange does not know`;
    if (!truth.ours.has(idOf(order)))
      return `a cancel leaves for ${orderId}, which somebody else placed as ${order.clientOrderId || 'nothing'}`;
  }
  return undefined;
}

/** I10: the weight of any 60 s stays within the limit, and nothing leaves while the exchange forbids it. */
export class Spending {
  readonly #most: number;
  readonly #slackMs: number;
  #sent: { readonly at: number; readonly weight: number; readonly creates: boolean }[] = [];
  #sum = 0;
  forbiddenUntil = 0;

  /** `slackMs`: how far the process's clock may be off the exchange's. */
  constructor(most: number, slackMs: number) {
    this.#most = most;
    this.#slackMs = slackMs;
  }

  /** How much of the limit creates may fill; the rest is kept for cancels and questions. */
  readonly #createShare = 0.8;

  spend(request: HttpRequest, now: number): Verdict {
    const weight = weightOf(request);
    while (this.#sent[0] !== undefined && now - this.#sent[0].at >= 60_000)
      this.#sum -= this.#sent.shift()?.weight ?? 0;
    const creates = createdId(request) !== undefined || request.url.pathname.endsWith('/batchOrders');
    this.#sent.push({ at: now, weight, creates });
    this.#sum += weight;
    if (now < this.forbiddenUntil - this.#slackMs)
      return `${request.method} ${request.url.pathname} leaves although nothing may for ${this.forbiddenUntil - now} ms`;
    const before = creates ? this.#sum - this.#writtenMeanwhile(now) : 0;
    if (before > this.#createShare * this.#most)
      return `a create takes the weight of 60 s to ${before}, of ${this.#most} the last fifth is not for creates`;
    return this.#sum <= this.#most ? undefined : `${this.#sum} of weight left within 60 s, the limit is ${this.#most}`;
  }

  /**
   * What a create could not know of when its weight was taken, or what was over by then: what has left since that was no create, and creates
   * that took theirs a minute before it and left later.
   */
  #writtenMeanwhile(now: number): number {
    let weight = 0;
    for (const one of this.#sent)
      if (one.creates ? one.at < now - 60_000 + slowestWriteMs : one.at >= now - slowestWriteMs) weight += one.weight;
    return weight;
  }
}

/** A create has its weight before its intent is written, ms: behind a write that is under way on a slow disk. */
const slowestWriteMs = 2 * slowestCommitMs;

/** Fills and orders of a batch that was just committed. */
export function committedEntries(entries: readonly Entry[]): {
  readonly fills: readonly FillEntry[];
  readonly orders: readonly OrderEntryRow[];
} {
  const fills: FillEntry[] = [];
  const orders = new Map<string, OrderEntryRow>();
  for (const entry of entries) {
    if (entry.kind === 'fill') fills.push(entry);
    else if (entry.kind === 'order') orders.set(entry.clientOrderId, entry);
  }
  return { fills, orders: [...orders.values()] };
}
