/** Whose an order at the exchange is (step 2): found by its echoed client id, never guessed. */
import { isClosed, isFinal, type OrderReport, type VenueTrade } from '../../domain/order.ts';
import type { EventEntry, ForeignWhy } from '../../journal/entries.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { bind, type Execution, move, quarantine, reclaim, witness } from '../context.ts';
import { clocksApartMs, isTooOld } from './creation-window.ts';
import { cancelLate } from './late-orders.ts';
import { candidatesFor, decideByLikeness } from './orders-without-id.ts';

/** The exchange's code for an order that it does not know, as after it has forgotten an old one (specification §7). */
export const noSuchOrder = '-2013';
/** What could not be seen, and whether because a request failed. */
export interface Unseen {
  readonly cause: string | undefined;
  readonly failed: boolean;
}
export const allSeen: Unseen = { cause: undefined, failed: false };

/** After so long without an order that traded, ms of the clock, its id counts as somebody else's (§2 #20), or after the horizon. */
const forgottenMs = 300_000;

const doubtTexts = {
  forgotten: 'the exchange does not know it any more',
  silent: 'the exchange does not say its client id',
} as const;

const byLikeness: EventEntry['detail'] = { by: 'its side, type, price, volume and time' };

const none: ReadonlySet<string> = new Set<string>();

/** An id that nobody could attribute so far. */
interface Doubtful {
  since: number;
  looks: number;
}

export class Attribution {
  readonly #execution: Execution;
  readonly #noteReport: (order: WorkingOrder, report: OrderReport) => void;
  readonly #doubts = new Map<string, Doubtful>();

  constructor(execution: Execution, noteReport: (order: WorkingOrder, report: OrderReport) => void) {
    this.#execution = execution;
    this.#noteReport = noteReport;
  }

  /** Trades from before this journal's first order cannot be ours, and their orders may be forgotten at the exchange. One without a readable time (0) can be. */
  isBeforeOurs({ time }: VenueTrade): boolean {
    const { clock, firstOrderAt } = this.#execution;
    return time !== 0 && time < firstOrderAt - clock.machine(clocksApartMs);
  }

  /** Finds out whose the order ids are that nobody knows yet; a promise where somebody has to be asked. */
  bind(symbol: string, open: readonly OrderReport[], trades: readonly VenueTrade[]): Promise<Unseen> | Unseen {
    const unknown = this.#unknownIds(open, trades);
    if (unknown.size > 0) return this.#ask(symbol, unknown, trades);
    const asking = this.#settleOthers(symbol);
    return asking === undefined ? allSeen : asking.then(() => allSeen);
  }

  async #ask(symbol: string, unknown: ReadonlySet<string>, trades: readonly VenueTrade[]): Promise<Unseen> {
    const { owners, foreign, orders } = this.#execution;
    let unseen = allSeen;
    const unnamed: OrderReport[] = [];
    for (const orderId of unknown) {
      // While another was asked for, the order's own answer may have told.
      if (owners.has(orderId) || foreign.has(orderId)) continue;
      const answer = await orders.query({ symbol, orderId });
      if (owners.has(orderId)) continue;
      const trade = trades.find(({ orderIds }) => orderIds.includes(orderId));
      if (answer.kind === 'ok') unseen = this.#take(symbol, answer.value, unseen, unnamed);
      else if (answer.code !== noSuchOrder) unseen = { cause: `order ${orderId}: ${answer.cause}`, failed: true };
      else if (!this.#forget(symbol, orderId, trade, 'forgotten'))
        unseen = { ...unseen, cause: `order ${orderId}: ${answer.cause}` };
    }
    // An order that could not be asked for may be a second one of the same likeness.
    if (!unseen.failed)
      for (const orderId of decideByLikeness(this.#execution, unnamed, (order, report) =>
        this.#bind(order, report, byLikeness),
      ))
        this.#setAside(symbol, orderId, 'silent');
    await this.#settleOthers(symbol);
    return unseen;
  }

  /** One that counts as somebody else's without proof is asked for now and then. */
  #settleOthers(symbol: string): Promise<void> | undefined {
    const { doubtful, clock } = this.#execution;
    const orderId = doubtful.due(symbol, clock.now());
    return orderId === undefined ? undefined : this.#askAgain(symbol, orderId);
  }

  /** It may be known again. */
  async #askAgain(symbol: string, orderId: string): Promise<void> {
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

  /** `unnamed`: takes what has to be told by its likeness. */
  #take(symbol: string, report: OrderReport, unseen: Unseen, unnamed: OrderReport[]): Unseen {
    const { orderId, clientOrderId } = report;
    const isProven = clientOrderId !== undefined && this.#execution.readId(clientOrderId.toLowerCase()) !== undefined;
    if (!isProven && candidatesFor(this.#execution, report).length > 0) {
      unnamed.push(report);
      return { ...unseen, cause: `order ${orderId} looks like one of unknown outcome` };
    }
    const likely = clientOrderId === undefined ? this.#likelyOurs(report) : undefined;
    if (clientOrderId !== undefined) this.#attribute(symbol, report, clientOrderId);
    else if (likely === undefined) this.#disown(symbol, report);
    else if (!this.#forget(symbol, orderId, report, 'silent', likely))
      return {
        ...unseen,
        cause: `order ${orderId} may be the one looked for, but the exchange does not say its client id`,
      };
    return unseen;
  }

  /** Ours always have a client id, but one that the exchange does not echo could be one whose outcome is open, or that was given up. */
  #likelyOurs(report: OrderReport): WorkingOrder | undefined {
    const { portfolio, givenUp, echo } = this.#execution;
    const open = [...portfolio.orders()].find(
      (order) => order.orderId === undefined && order.state !== 'intended' && isTheSame(order, report),
    );
    if (open !== undefined || !echo.missing) return open;
    return [...givenUp.values()].find((order) => isTheSame(order, report) && !isTooOld(this.#execution, order, report));
  }

  /**
   * An id that cannot be attributed must not keep looks incomplete for ever: after the horizon, five minutes for one that is not
   * known, and two looks it counts as somebody else's, is told of once, and what it may have been is quarantined. It is asked for
   * further on. True when that is so.
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
    const seen = this.#doubts.get(orderId) ?? { since: now, looks: 0 };
    this.#doubts.set(orderId, seen);
    // A clock that was ahead and is right again must not make it wait for as long as it was ahead.
    seen.since = Math.min(seen.since, now);
    const waitMs = why === 'forgotten' ? Math.max(horizon.ms, forgottenMs) : horizon.ms;
    if (++seen.looks < 2 || now - seen.since < waitMs) return false;
    this.#doubts.delete(orderId);
    this.#setAside(symbol, orderId, why);
    const text = doubtTexts[why];
    for (const order of [...portfolio.orders()])
      if (order.state === 'unknown' && order.intent.symbol === symbol && order.intent.side === like?.side)
        quarantine(this.#execution, order, 'forgotten', `order ${orderId} on the account may be it, but ${text}`);
    notice({
      level: 'error',
      text: `order ${orderId} on ${symbol} cannot be attributed: ${text}. What it traded counts as somebody else's until the exchange says whose it is; it is asked now and then${likely === undefined ? '' : `. If it is order ${likely.intent.clientOrderId} (${likely.state}): sluice resolve ${likely.intent.clientOrderId} --adopt ${orderId}`}`,
    });
    return true;
  }

  /** Counts as somebody else's from now on, and is asked for again. */
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
    witness(this.#execution, report);
    // Orders are told apart by their likeness only as long as nobody else places any.
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
    else this.#surprise(report, clientOrderId, mine.strategy);
  }

  #attributeTo(order: WorkingOrder, symbol: string, report: OrderReport): void {
    if (order.orderId !== undefined && order.orderId !== report.orderId) {
      this.#disown(symbol, report);
      if (order.state !== 'quarantined')
        quarantine(
          this.#execution,
          order,
          'copied',
          `orders ${order.orderId} and ${report.orderId} both bear its id: somebody copied it`,
        );
    } else if (isTheSame(order, report)) this.found(order, report);
    else {
      this.#disown(symbol, report);
      if (order.state !== 'quarantined')
        quarantine(
          this.#execution,
          order,
          'mismatch',
          `order ${report.orderId} bears its id but is not what was sent: somebody copied the id, or the exchange changed the order`,
        );
    }
  }

  /** The exchange shows an order of ours whose outcome was open; nothing happens when it is another one, or when that is known. */
  found(order: WorkingOrder, report: OrderReport): void {
    const { state, intent } = order;
    if (state !== 'sending' && state !== 'unknown' && state !== 'quarantined') return;
    if (order.quarantineReason === 'copied' || order.quarantineReason === 'changed') return;
    const echoed = report.clientOrderId?.toLowerCase();
    // Where the exchange returns no client ids, the id that it gave the order itself is proof enough.
    if (echoed === undefined ? order.orderId !== report.orderId : echoed !== intent.clientOrderId) return;
    if (isTheSame(order, report)) this.#bind(order, report, {});
  }

  /** A human says that an order at the exchange is the one of ours whose outcome is open, or that was given up. */
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

  /** One that was given up is there all the same: it counts again, its rest is cancelled, and somebody must look. */
  #adopt(order: WorkingOrder, symbol: string, report: OrderReport): void {
    const { halts, notice, clock } = this.#execution;
    const { clientOrderId } = order.intent;
    const was = order.state;
    if (!isTheSame(order, report)) {
      this.#disown(symbol, report);
      notice({
        level: 'error',
        text: `order ${report.orderId} bears the id of order ${clientOrderId}, which was ${was}, but is another one: it counts as somebody else's`,
      });
      return;
    }
    const then = move(this.#execution, order, 'find', { orderId: report.orderId, status: report.status, was });
    bind(this.#execution, order, report);
    const isOver = isFinal(report.status);
    notice({
      level: 'error',
      text: `order ${clientOrderId} (${report.orderId}) is at the exchange although this journal had given it up as ${was}; its fills are booked${isOver ? '' : ', and the rest is being cancelled'}: see sluice why ${clientOrderId}`,
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

  /** The horizon was too near: it doubles, at least to the lateness that was seen, and stays so over restarts. */
  #raiseHorizon({ signedAt, recvWindowMs }: WorkingOrder): void {
    const { clock, horizon, journal, notice } = this.#execution;
    const lateMs = clock.now() - (signedAt ?? clock.now()) - (recvWindowMs ?? 0);
    horizon.ms = Math.max(horizon.ms * 2, lateMs);
    journal.append({ kind: 'horizon', ms: horizon.ms });
    notice({
      level: 'warn',
      text: `an order appeared ${Math.round(lateMs / 1_000)} s after its window: from now on ${Math.round(horizon.ms / 1_000)} s are waited before one counts as absent`,
    });
  }

  /** Ours by its mac, but not to be found here: copied from an order that ended, or this journal is not the newest of its kind. */
  #surprise(report: OrderReport, clientOrderId: string, strategy: string): void {
    const { owners, journal, clock, notice, halts } = this.#execution;
    const { orderId, side, status, symbol } = report;
    const original = owners.idOf(clientOrderId);
    if (original !== undefined) {
      this.#disown(symbol, report);
      notice({
        level: 'error',
        text: `order ${orderId} bears the id of our order ${original}, which has ended: somebody copied it, and it counts as somebody else's`,
      });
      return;
    }
    owners.set(orderId, { clientOrderId, strategy, side, purpose: 'enter' });
    reclaim(this.#execution, report);
    witness(this.#execution, report);
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

/** The order that was sent, as far as the exchange says what it holds. */
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
