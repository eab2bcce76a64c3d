/** Every order on its way out: likeness, risk, id, reservation, the check at the last moment, sending and cancelling. */
import type { Clock } from '../clock/clock.ts';
import { makeClientOrderId, readClientOrderId } from '../domain/ids.ts';
import type { Decision, Intent, SubmitResult } from '../domain/order.ts';
import { denialText } from '../domain/words.ts';
import { cancel, cancelTogether } from '../execution/cancel.ts';
import type { Execution, ReadId } from '../execution/context.ts';
import { execute, executeBatch } from '../execution/executor.ts';
import { record } from '../execution/order-steps.ts';
import { likenessOf, unlike } from '../execution/reconcile/match-orders.ts';
import { takenLikenesses } from '../execution/reconcile/orders-without-id.ts';
import type { Sweeps } from '../execution/sweep.ts';
import type { Identity } from '../journal/open.ts';
import { intentOf, type Judgement, type OrderDraft, type Step } from '../portfolio/plan.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import { pastOf } from '../risk/kill.ts';
import type { Sendable } from '../trader.ts';
import { maxInBatch } from '../venue/venue.ts';
import type { TradingComponents } from './components.ts';
import { denialRow, reductionFacts } from './format.ts';

/** Where an order is, and what it is for. */
type Placed = Pick<Intent, 'strategy' | 'symbol' | 'purpose'>;

export interface OrdersParts {
  readonly clock: Clock;
  /** undefined in memory: ids need no proof where nobody else trades. */
  readonly identity: Identity | undefined;
  /** After this time an order that has not been sent expires, ms of the clock: it waits for request weight. */
  readonly maxSendDelayMs: number;
  /** Why no order may be created at the moment although no rule denies it, as when the time is in doubt. */
  readonly blocked?: (order: Pick<Intent, 'symbol' | 'purpose'>) => string | undefined;
  /** Several quotes leave in one request, without client ids; only on a dedicated account. */
  readonly batchCreate?: boolean;
}

/** Between two rounds of cancelling, real ms. */
const restAgainMs = 100;

export class Orders {
  /** Trading is being ended: nothing is created any more. */
  isEnding = false;
  readonly #parts: OrdersParts;
  readonly #book: TradingComponents;
  readonly #execution: Execution;
  readonly #sweeps: Sweeps;
  readonly #ids: OrderIds;
  /** Requests in flight: ending waits for them. */
  readonly #running = new Set<Promise<unknown>>();
  #areOthersReported = false;

  constructor(parts: OrdersParts, book: TradingComponents, execution: Execution, sweeps: Sweeps, ids: OrderIds) {
    this.#parts = parts;
    this.#book = book;
    this.#execution = execution;
    this.#sweeps = sweeps;
    this.#ids = ids;
  }

  /**
   * The orders that leave in one request with a quote: the others that the same decision needs. Any other order leaves alone, and so does each where
   * batches are not enabled, where the venue takes none, and where anybody else was ever seen to trade on the account: the orders of a batch are distinguished only by what they
   * are.
   */
  together(decision: Decision, refused: readonly OrderDraft[], first: OrderDraft): readonly Sendable[] {
    const { foreign, notice, orders } = this.#execution;
    // A decision on several markets goes on where one outcome is unknown, which a batch does not tell apart.
    const isAlone = first.purpose !== 'quote' || decision.legs.length > 1;
    if (this.#parts.batchCreate !== true || orders.batches === undefined || isAlone) return this.#alone(first);
    if (foreign.size > 0) {
      if (!this.#areOthersReported)
        notice({
          level: 'warn',
          text: 'somebody else has orders on this account: no batches are created, orders leave one by one',
        });
      this.#areOthersReported = true;
      return this.#alone(first);
    }
    const planned = [first];
    const next = (): Step | undefined => this.#book.planner.plan(decision, [...refused, ...planned]);
    for (
      let step = next();
      step?.do === 'create' && step.draft.type === 'LIMIT' && planned.length < maxInBatch;
      step = next()
    )
      planned.push(step.draft);
    const some = planned.length === 1 ? [] : this.#allUnlike(planned);
    return some.length > 1 ? some : this.#alone(first);
  }

  /** An order that cannot be made distinct leaves as it is: if its outcome is unknown then, it is quarantined. */
  #alone(planned: OrderDraft): readonly Sendable[] {
    const { dedicated, portfolio } = this.#execution;
    if (!dedicated) return [{ draft: planned, planned }];
    const taken = takenLikenesses(this.#execution, planned.symbol);
    return [{ draft: unlike(planned, taken, portfolio.instrument(planned.symbol)) ?? planned, planned }];
  }

  /** Those that match no order of ours, not even one that counts as absent; the others wait for their own turn. */
  #allUnlike(drafts: readonly OrderDraft[]): readonly Sendable[] {
    const { portfolio } = this.#execution;
    const taken = takenLikenesses(this.#execution, drafts[0]?.symbol ?? '');
    // Of several answers at once it must be certain which order each is about.
    for (const { intent } of portfolio.orders()) taken.add(likenessOf(intent) ?? '');
    return drafts.flatMap((planned) => {
      const draft = unlike(planned, taken, portfolio.instrument(planned.symbol));
      const likeness = draft === undefined ? undefined : likenessOf(draft);
      if (draft === undefined || likeness === undefined) return [];
      taken.add(likeness);
      return [{ draft, planned }];
    });
  }

  /** Asks the risk rules; a denial is journalled, and so is the smaller target of an order that was reduced. */
  judge(draft: OrderDraft): Judgement {
    const { journal, clock, halts } = this.#execution;
    const { portfolio, risk, planner } = this.#book;
    const [halt] = halts.inForce;
    const reason = this.#parts.blocked?.(draft);
    const verdict: Judgement =
      halt !== undefined
        ? { kind: 'denied', code: 'halted', facts: { reason: halt.text, since: halt.at } }
        : reason === undefined
          ? risk.judge(draft)
          : { kind: 'denied', code: 'blocked', facts: { reason } };
    if (verdict.kind === 'denied')
      journal.append(denialRow(draft, verdict, portfolio.instrument(draft.symbol), clock.now()));
    if (verdict.kind !== 'reduced') return verdict;
    planner.reduced(verdict.draft);
    // Its new size may be that of another order.
    return { kind: 'reduced', draft: this.#alone(verdict.draft)[0]?.draft ?? verdict.draft };
  }

  /** Gives an order its id, counts its exposure from now on, and journals by which numbers it was approved. */
  reserve(draft: OrderDraft): Intent {
    const { identity, maxSendDelayMs, clock } = this.#parts;
    const { portfolio, risk } = this.#book;
    const now = clock.now();
    const intent = intentOf(draft, this.#ids.next(draft.strategy), now, now + maxSendDelayMs);
    // In memory nobody reads an order's events.
    const facts =
      identity === undefined
        ? {}
        : { ...risk.weigh(draft), ...reductionFacts(draft, portfolio.instrument(draft.symbol)) };
    record(this.#execution, portfolio.reserve(intent), 'approved', facts);
    risk.created(draft);
    return intent;
  }

  /** Sends an order that is reserved; returns its outcome. `lost` is called as soon as that is unknown. */
  execute(intent: Intent, lost?: () => void): Promise<SubmitResult> {
    return this.#during(this.#send(intent, lost));
  }

  async #send({ clientOrderId }: Intent, lost?: () => void): Promise<SubmitResult> {
    const order = this.#book.portfolio.order(clientOrderId);
    if (order === undefined) return 'notSent';
    const sent = await execute(this.#execution, this.#sweeps, this.#lastHop, order, lost);
    await this.#cancelIfKilled(order, sent);
    return sent;
  }

  /** Sends several of one symbol in one request; returns their outcomes, in their order. */
  executeAll(intents: readonly Intent[]): Promise<readonly SubmitResult[]> {
    return this.#during(this.#sendAll(intents));
  }

  async #sendAll(intents: readonly Intent[]): Promise<readonly SubmitResult[]> {
    const { batches } = this.#execution.orders;
    const orders = intents.flatMap(({ clientOrderId }) => this.#book.portfolio.order(clientOrderId) ?? []);
    if (batches === undefined) return [];
    const sent = await executeBatch(this.#execution, this.#sweeps, this.#lastHop, batches, orders);
    await Promise.all(orders.map((order, index) => this.#cancelIfKilled(order, sent[index] ?? 'unknown')));
    return sent;
  }

  /**
   * Killed while its outcome was unknown, an order could not be cancelled before it was found. A disk that filled up in the meantime is no
   * reason to cancel: it keeps orders from being created, and this one is journalled.
   */
  async #cancelIfKilled(order: WorkingOrder, sent: SubmitResult): Promise<void> {
    if (sent === 'accepted' && stoppedBy(this.#book, order.intent) !== undefined)
      await cancel(this.#execution, this.#sweeps, order, 'kill');
  }

  /** Why an order cannot be sent at this moment, whatever it is for: the exchange, its time or the disk keeps it up. */
  blocked(order: Pick<Intent, 'symbol' | 'purpose'>): string | undefined {
    return this.#parts.blocked?.(order) ?? (this.#execution.journal.full ? 'the disk is full' : undefined);
  }

  /** Why an order may not be sent at this moment, whatever the risk rules say. */
  against(order: Placed): string | undefined {
    return this.#execution.halts.against() ?? this.blocked(order) ?? stoppedBy(this.#book, order);
  }

  /** Why an order may not leave after all; asked just before it does, so that a kill in the meantime still counts. */
  readonly #lastHop = (intent: Intent): string | undefined => {
    if (this.isEnding) return 'trading is being ended';
    const against = this.against(intent);
    if (against !== undefined) return against;
    const denial = this.#book.risk.judgeAgain(intent);
    return denial === undefined
      ? undefined
      : `denied by ${denial.code} at the last hop: ${denialText(denial, this.#execution.clock.machine(1))}`;
  };

  /** Cancels an order and waits until it is final. */
  cancel(order: WorkingOrder): Promise<void> {
    return this.#during(cancel(this.#execution, this.#sweeps, order));
  }

  /** Cancels several at once, those of one symbol in as few requests as the venue takes. */
  async cancelAll(orders: readonly WorkingOrder[], lane: 'kill' | 'cancel'): Promise<void> {
    const cancelling = cancelTogether(this.#execution, this.#sweeps, orders, lane);
    await Promise.all(cancelling.map((one) => this.#during(one)));
  }

  /**
   * Ends trading: nothing is created any more. Resolves when nothing is in flight and, with `cancel`, nothing rests. Cancels in rounds, because
   * an order in flight can come to rest after the others were cancelled. The cancel of an order that was adopted late goes on by itself: without
   * a wait between the rounds, nothing else would run until it has ended.
   */
  async end(resting: 'cancel' | 'keep'): Promise<void> {
    const { portfolio, clock } = this.#execution;
    const open = (): readonly WorkingOrder[] => [...portfolio.orders()].filter(({ state }) => state === 'open');
    this.isEnding = true;
    for (;;) {
      if (resting === 'cancel') await this.cancelAll(open(), 'cancel');
      while (this.#running.size > 0) await Promise.allSettled(this.#running);
      if (resting === 'keep' || open().length === 0) return;
      await clock.sleep(clock.machine(restAgainMs));
    }
  }

  /** Counts a request from its beginning to its end, however it ends. */
  #during<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    // Not `finally`, which makes three promises of one.
    return work.then(
      (value) => {
        this.#running.delete(work);
        return value;
      },
      (error: unknown) => {
        this.#running.delete(work);
        throw error;
      },
    );
  }
}

/** Client order ids: signed ones with a journal, counted ones in memory, where no other program trades. */
export interface OrderIds {
  readonly next: (strategy: string) => string;
  readonly read: ReadId;
}

export function countedIds(): OrderIds {
  let sequence = 0;
  return { next: () => `b${String(sequence++).padStart(9, '0')}`, read: () => undefined };
}

/** Ids made ahead: an order that has just been decided waits for nothing, and a hash that the processor has forgotten takes 0.2 ms. */
const idsAhead = 16;

/** Ids of this journal's instance and epoch; the sequence may restart with each epoch. */
export function provenIds({ instance, epoch, idKey, strategies }: Identity): OrderIds {
  let sequence = 0;
  const names = new Map([...strategies].map(([id, number]) => [number, id]));
  const ahead = new Map<string, string[]>();
  const made = (strategy: string): string =>
    makeClientOrderId({ instance, epoch, strategy: strategies.get(strategy) ?? 0, sequence: sequence++ }, idKey);
  const someOf = (strategy: string): string[] => Array.from({ length: idsAhead }, () => made(strategy)).reverse();
  for (const strategy of strategies.keys()) ahead.set(strategy, someOf(strategy));
  return {
    next(strategy) {
      const ready = ahead.get(strategy) ?? [];
      if (ready.length === 0) ready.push(...someOf(strategy));
      ahead.set(strategy, ready);
      return ready.pop() as string;
    },
    read(id) {
      const parts = readClientOrderId(id, idKey);
      return parts === undefined ? undefined : { strategy: names.get(parts.strategy) ?? `strategy ${parts.strategy}` };
    },
  };
}

/** Why an order may neither be sent nor rest: a kill, a pause, or the end of the flatten that it belongs to. */
export function stoppedBy({ risk, flattening }: TradingComponents, order: Placed): string | undefined {
  const kill = risk.switch.against(order);
  return kill === undefined ? flattening.against(order) : `${pastOf[kill.kind]} by ${kill.by}: ${kill.reason}`;
}
