/** Attributes orders at the exchange to ours or to others (§3.4, step 2): by their client id, never by a guess. */
import { isClosed, isFinal, type OrderReport, type VenueTrade } from '../../domain/order.ts';
import type { EventEntry, ForeignWhy } from '../../journal/entries.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { cancelLate } from '../cancel-until-final.ts';
import type { Execution, QuarantineCause } from '../context.ts';
import { bind, move, quarantine, reclaim, recordReport } from '../order-steps.ts';
import { clocksApartMs, isTooOld } from './creation-window.ts';
import { candidatesFor, decideByLikeness } from './orders-without-id.ts';

/** The exchange's code for an order that it does not find, such as an old one that it has dropped (specification §7). */
export const noSuchOrder = '-2013';

/** What could not be read, and whether a request failed. */
export interface Unseen {
  readonly cause: string | undefined;
  readonly failed: boolean;
}
export const allSeen: Unseen = { cause: undefined, failed: false };

/** After this long, and the horizon, an order that the exchange does not find counts as foreign, ms of the clock (§2 #20). */
const forgottenMs = 300_000;

const doubtTexts = {
  forgotten: 'the exchange does not find it any more',
  silent: 'the exchange does not show its client id',
} as const;

const byLikeness: EventEntry['detail'] = { by: 'its side, type, price, volume and time' };

const none: ReadonlySet<string> = new Set<string>();

/** An order that could not be attributed so far. */
interface Unattributed {
  since: number;
  reads: number;
}

export class Attribution {
  readonly #execution: Execution;
  readonly #noteReport: (order: WorkingOrder, report: OrderReport) => void;
  readonly #unattributed = new Map<string, Unattributed>();

  constructor(execution: Execution, noteReport: (order: WorkingOrder, report: OrderReport) => void) {
    this.#execution = execution;
    this.#noteReport = noteReport;
  }

  /** Trades before this journal's first order cannot be ours. One without a readable time (0) can be. */
  isBeforeOurs({ time }: VenueTrade): boolean {
    const { clock, firstOrderAt } = this.#execution;
    return time !== 0 && time < firstOrderAt - clock.machine(clocksApartMs);
  }

  /** Attributes the unknown order ids; a promise where the exchange must be queried. */
  bind(symbol: string, open: readonly OrderReport[], trades: readonly VenueTrade[]): Promise<Unseen> | Unseen {
    const unknown = this.#unknownIds(open, trades);
    if (unknown.size > 0) return this.#query(symbol, unknown, trades);
    const querying = this.#queryUnproven(symbol);
    return querying === undefined ? allSeen : querying.then(() => allSeen);
  }

  async #query(symbol: string, unknown: ReadonlySet<string>, trades: readonly VenueTrade[]): Promise<Unseen> {
    const { owners, foreign, orders } = this.#execution;
    let unseen = allSeen;
    const unnamed: OrderReport[] = [];
    for (const orderId of unknown) {
      // An answer may have attributed it during another query.
      if (owners.has(orderId) || foreign.has(orderId)) continue;
      const answer = await orders.query({ symbol, orderId });
      if (owners.has(orderId)) continue;
      const trade = trades.find(({ orderIds }) => orderIds.includes(orderId));
      if (answer.kind === 'ok') unseen = this.#take(symbol, answer.value, unseen, unnamed);
      else if (answer.code !== noSuchOrder) unseen = { cause: `order ${orderId}: ${answer.cause}`, failed: true };
      else if (!this.#forget(symbol, orderId, trade, 'forgotten'))
        unseen = { ...unseen, cause: `order ${orderId}: ${answer.cause}` };
    }
    // An order whose query failed may be a second match.
    if (!unseen.failed)
      for (const orderId of decideByLikeness(this.#execution, unnamed, (order, report) =>
        this.#bind(order, report, byLikeness),
      ))
        this.#setAside(symbol, orderId, 'silent');
    await this.#queryUnproven(symbol);
    return unseen;
  }

  /** Queries an order that counts as foreign without proof, if one is due. */
  #queryUnproven(symbol: string): Promise<void> | undefined {
    const { doubtful, clock } = this.#execution;
    const orderId = doubtful.due(symbol, clock.now());
    return orderId === undefined ? undefined : this.#queryAgain(symbol, orderId);
  }

  async #queryAgain(symbol: string, orderId: string): Promise<void> {
    const { doubtful, orders } = this.#execution;
    const answer = await orders.query({ symbol, orderId });
    if (answer.kind === 'failed' || !doubtful.has(orderId)) return;
    const { clientOrderId } = answer.value;
    if (clientOrderId !== undefined) this.#attribute(symbol, answer.value, clientOrderId);
    else if (this.#likelyOurs(answer.value) === undefined) this.#disown(symbol, answer.value);
  }

  #unknownIds(open: readonly OrderReport[], trades: readonly VenueTrade[]): ReadonlySet<string> {
    const { owners, foreign } = this.#execution;
    let unknown: Set<string> | undefined;
    const note = (orderId: string): void => {
      if (!owners.has(orderId) && !foreign.has(orderId)) unknown = (unknown ?? new Set()).add(orderId);
    };
    for (const { orderId } of open) note(orderId);
    for (const trade of trades) if (!this.isBeforeOurs(trade)) for (const orderId of trade.orderIds) note(orderId);
    return unknown ?? none;
  }

  /** `unnamed` collects the reports that must be matched by what the order is. */
  #take(symbol: string, report: OrderReport, unseen: Unseen, unnamed: OrderReport[]): Unseen {
    const { orderId, clientOrderId } = report;
    const isProven = clientOrderId !== undefined && this.#execution.readId(clientOrderId.toLowerCase()) !== undefined;
    if (!isProven && candidatesFor(this.#execution, report).length > 0) {
      unnamed.push(report);
      return { ...unseen, cause: `order ${orderId} matches one of unknown outcome` };
    }
    const likely = clientOrderId === undefined ? this.#likelyOurs(report) : undefined;
    if (clientOrderId !== undefined) this.#attribute(symbol, report, clientOrderId);
    else if (likely === undefined) this.#disown(symbol, report);
    else if (!this.#forget(symbol, orderId, report, 'silent', likely))
      return {
        ...unseen,
        cause: `order ${orderId} may be the missing one, but the exchange does not show its client id`,
      };
    return unseen;
  }

  /** Our orders always have a client id. Where the exchange does not return it, an order may be one of open outcome, or one given up. */
  #likelyOurs(report: OrderReport): WorkingOrder | undefined {
    const { portfolio, givenUp, echo } = this.#execution;
    const open = [...portfolio.orders()].find(
      (order) => order.orderId === undefined && order.state !== 'intended' && isTheSame(order, report),
    );
    if (open !== undefined || !echo.missing) return open;
    return [...givenUp.values()].find((order) => isTheSame(order, report) && !isTooOld(this.#execution, order, report));
  }

  /**
   * An order that cannot be attributed must not keep sweeps incomplete for ever. After two reads and the horizon (at least five minutes if
   * the exchange does not find it), it counts as foreign and is reported. Our order that it may be is quarantined. Queries go on. Returns
   * whether that has happened.
   */
  #forget(
    symbol: string,
    orderId: string,
    like: Pick<OrderReport, 'side'> | undefined,
    why: keyof typeof doubtTexts,
    likely?: WorkingOrder,
  ): boolean {
    const { clock, horizon, portfolio, notice } = this.#execution;
    const now = clock.now();
    const seen = this.#unattributed.get(orderId) ?? { since: now, reads: 0 };
    this.#unattributed.set(orderId, seen);
    // The clock may have been set back.
    seen.since = Math.min(seen.since, now);
    const waitMs = why === 'forgotten' ? Math.max(horizon.ms, forgottenMs) : horizon.ms;
    if (++seen.reads < 2 || now - seen.since < waitMs) return false;
    this.#unattributed.delete(orderId);
    this.#setAside(symbol, orderId, why);
    const text = doubtTexts[why];
    for (const order of [...portfolio.orders()])
      if (order.state === 'unknown' && order.intent.symbol === symbol && order.intent.side === like?.side)
        quarantine(this.#execution, order, 'forgotten', `order ${orderId} on the account may be it, but ${text}`);
    notice({
      level: 'error',
      text: `order ${orderId} on ${symbol} cannot be attributed: ${text}. Its trades count as foreign until the exchange shows its owner; it is queried again${likely === undefined ? '' : `. If it is order ${likely.intent.clientOrderId} (${likely.state}): sluice resolve ${likely.intent.clientOrderId} --adopt ${orderId}`}`,
    });
    return true;
  }

  /** Counts an order as foreign without proof: it is queried again. */
  #setAside(symbol: string, orderId: string, why: keyof typeof doubtTexts): void {
    const now = this.#execution.clock.now();
    this.#foreign(symbol, orderId, why);
    this.#execution.doubtful.add({ symbol, orderId, at: now, why }, now);
  }

  #foreign(symbol: string, orderId: string, why: ForeignWhy | null): void {
    const { foreign, journal, clock } = this.#execution;
    foreign.add(orderId);
    journal.append({ kind: 'foreign', at: clock.now(), symbol, orderId, why });
  }

  #disown(symbol: string, report: OrderReport): void {
    const { dedicated, doubtful, firstOrderAt, halts } = this.#execution;
    const { orderId, clientOrderId, createdAt } = report;
    this.#foreign(symbol, orderId, null);
    doubtful.settle(orderId, false);
    recordReport(this.#execution, report);
    // Matching orders by what they are is safe only while nobody else places any.
    if (dedicated && clientOrderId === undefined && createdAt !== undefined && createdAt > firstOrderAt)
      halts.halt('notDedicated', `order ${orderId} on ${symbol} was not placed by Sluice`);
  }

  #attribute(symbol: string, report: OrderReport, echoed: string): void {
    const { portfolio, readId, givenUp } = this.#execution;
    const clientOrderId = echoed.toLowerCase();
    const order = portfolio.order(clientOrderId);
    const lost = givenUp.get(clientOrderId);
    const mine = readId(clientOrderId);
    if (order !== undefined) this.#attributeTo(order, symbol, report);
    else if (lost !== undefined) this.#adopt(lost, symbol, report);
    else if (mine === undefined) this.#disown(symbol, report);
    else this.#foundWithoutIntent(report, clientOrderId, mine.strategy);
  }

  #attributeTo(order: WorkingOrder, symbol: string, report: OrderReport): void {
    const isSecond = order.orderId !== undefined && order.orderId !== report.orderId;
    if (!isSecond && isTheSame(order, report)) {
      this.found(order, report);
      return;
    }
    this.#disown(symbol, report);
    if (order.state === 'quarantined') return;
    const [doubt, text]: [QuarantineCause, string] = isSecond
      ? ['copied', `orders ${order.orderId} and ${report.orderId} both have its id: somebody copied it`]
      : [
          'mismatch',
          `order ${report.orderId} has its id but is not what was sent: somebody copied the id, or the exchange changed the order`,
        ];
    quarantine(this.#execution, order, doubt, text);
  }

  /** The exchange shows our order of open outcome; ignores a report of another order. */
  found(order: WorkingOrder, report: OrderReport): void {
    const { state, intent } = order;
    if (state !== 'sending' && state !== 'unknown' && state !== 'quarantined') return;
    if (order.quarantineReason === 'copied' || order.quarantineReason === 'changed') return;
    const echoed = report.clientOrderId?.toLowerCase();
    // Where the exchange returns no client ids, the exchange id that it gave the order is proof.
    if (echoed === undefined ? order.orderId !== report.orderId : echoed !== intent.clientOrderId) return;
    if (isTheSame(order, report)) this.#bind(order, report, {});
  }

  /** A human assigns an order at the exchange to ours, of open outcome or given up. */
  adopt(order: WorkingOrder, report: OrderReport): void {
    if (isClosed(order.state)) this.#adopt(order, order.intent.symbol, report);
    else this.#bind(order, report, {});
  }

  #bind(order: WorkingOrder, report: OrderReport, detail: EventEntry['detail']): void {
    const { orderId, status } = report;
    move(this.#execution, order, 'find', { orderId, status, was: order.state, ...detail });
    bind(this.#execution, order, report);
    order.quarantineReason = undefined;
    this.#noteReport(order, report);
  }

  /** An order that was given up is at the exchange: it counts again, its rest is cancelled, and it is reported. */
  #adopt(order: WorkingOrder, symbol: string, report: OrderReport): void {
    const { halts, notice, clock } = this.#execution;
    const { clientOrderId } = order.intent;
    const was = order.state;
    if (!isTheSame(order, report)) {
      this.#disown(symbol, report);
      notice({
        level: 'error',
        text: `order ${report.orderId} has the id of order ${clientOrderId}, which was ${was}, but is another order: it counts as foreign`,
      });
      return;
    }
    const then = move(this.#execution, order, 'find', { orderId: report.orderId, status: report.status, was });
    bind(this.#execution, order, report);
    const isOver = isFinal(report.status);
    notice({
      level: 'error',
      text: `order ${clientOrderId} (${report.orderId}) is at the exchange although this journal resolved it as ${was}; its fills are booked${isOver ? '' : ', and the rest is being cancelled'}: see sluice why ${clientOrderId}`,
    });
    if (then === 'lateHalt')
      halts.halt(
        'foundAfterAll',
        `order ${clientOrderId} counted as ${was} but is at the exchange as ${report.orderId}`,
      );
    else if (was === 'absent') this.#raiseHorizon(order);
    this.#noteReport(order, report);
    if (isOver) return;
    order.cancelRequested = true;
    void clock.track(cancelLate(this.#execution, clientOrderId, { symbol, orderId: report.orderId }));
  }

  /** Doubles the horizon, at least to this order's lateness, also for later starts. */
  #raiseHorizon({ signedAt, recvWindowMs }: WorkingOrder): void {
    const { clock, horizon, journal, notice } = this.#execution;
    const lateMs = clock.now() - (signedAt ?? clock.now()) - (recvWindowMs ?? 0);
    horizon.ms = Math.max(horizon.ms * 2, lateMs);
    journal.append({ kind: 'horizon', ms: horizon.ms });
    notice({
      level: 'warn',
      text: `an order appeared ${Math.round(lateMs / 1_000)} s after its window: from now on Sluice waits ${Math.round(horizon.ms / 1_000)} s before an order counts as absent`,
    });
  }

  /** Ours by its mac, but without an intent here: copied from a closed order, or this journal is an old copy. */
  #foundWithoutIntent(report: OrderReport, clientOrderId: string, strategy: string): void {
    const { owners, journal, clock, notice, halts } = this.#execution;
    const { orderId, side, status, symbol } = report;
    const original = owners.idOf(clientOrderId);
    if (original !== undefined) {
      this.#disown(symbol, report);
      notice({
        level: 'error',
        text: `order ${orderId} has the id of our order ${original}, which has ended: somebody copied it, and it counts as foreign`,
      });
      return;
    }
    owners.set(orderId, { clientOrderId, strategy, side, purpose: 'enter' });
    reclaim(this.#execution, report);
    recordReport(this.#execution, report);
    journal.append({
      kind: 'event',
      at: clock.now(),
      clientOrderId,
      event: 'found',
      detail: { orderId, status, was: 'not in this journal' },
    });
    halts.halt('futureId', `order ${clientOrderId} (${orderId}) at the exchange is ours but not in this journal`);
    if (!isFinal(status)) void clock.track(cancelLate(this.#execution, clientOrderId, { symbol, orderId }));
  }
}

/** True if the report agrees with the order that was sent, as far as it is complete. */
export const isTheSame = ({ intent, state, orderId }: WorkingOrder, report: OrderReport): boolean =>
  (orderId === report.orderId && !isClosed(state)) ||
  (report.symbol === intent.symbol &&
    report.side === intent.side &&
    report.type === intent.type &&
    (report.price === undefined || intent.price === undefined || report.price === intent.price) &&
    (report.type === 'MARKET' ||
      report.quantity === undefined ||
      !('lots' in intent.volume) ||
      report.quantity === intent.volume.lots));
