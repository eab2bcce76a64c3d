/** Puts the parts of a trader together, the same way for every mode: only who answers and who moves time differ. */
import type { Observable } from 'rxjs';
import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import { priceText, quantityText, type Rate, type Units, unitsText } from '../domain/money.ts';
import type { Account, Fill, Intent, Signal, Verdict } from '../domain/order.ts';
import { type Audit, type Auditor, auditor } from '../execution/audit.ts';
import { byHand, type HumanWord } from '../execution/by-hand.ts';
import { cancel, cancelTogether } from '../execution/cancel.ts';
import { type Execution, type Notice, record, type Timing } from '../execution/desk.ts';
import { type Carried, execute } from '../execution/executor.ts';
import type { Halts } from '../execution/halt.ts';
import { latestWhenFree } from '../execution/lane.ts';
import { fillRow } from '../execution/records.ts';
import { recover } from '../execution/recover.ts';
import { Sweeps } from '../execution/sweep.ts';
import type { Journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import type { Identity } from '../journal/open.ts';
import type { Draft } from '../portfolio/plan.ts';
import { Planner } from '../portfolio/planner.ts';
import { type Allocation, Portfolio, type WorkingOrder } from '../portfolio/portfolio.ts';
import { type ArmedStop, Protection } from '../portfolio/protect.ts';
import { type Kill, letsThrough } from '../risk/kill.ts';
import { Risk } from '../risk/risk.ts';
import type { Limits, NewVersion } from '../risk/scene.ts';
import type { Desk } from '../trader.ts';
import type { Answer, Balance, OrderEntry } from '../venue/venue.ts';
import type { Book } from './book.ts';
import { executionOf, instrumentOf, unbookedTrades } from './execution-parts.ts';
import { type Cancelling, type CancellingAll, diskWatch, exitOf, insistence } from './insist.ts';
import { countedIds, provenIds } from './order-ids.ts';
import { restore, riskMemory } from './remembered.ts';
import { signalDoor } from './signal-door.ts';
import { source } from './source.ts';
import { denialRow } from './words.ts';

export interface Parts {
  readonly clock: Clock;
  readonly journal: Journal;
  /** undefined in memory: ids need no proof where nobody else trades. */
  readonly identity: Identity | undefined;
  readonly loaded: Loaded;
  readonly orders: OrderEntry;
  readonly account: Account;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly allocations: readonly Allocation[];
  readonly limits: Limits;
  readonly timing: Timing;
  /** How long a decision may wait for request weight, ms of the clock. */
  readonly orderLifeMs: number;
  readonly marketBuyIn: 'amount' | 'lots';
  readonly feeInBase: Rate;
  /** Versions of strategies' code that nobody has released, by strategy. */
  readonly newVersions?: ReadonlyMap<string, NewVersion>;
  readonly notice: (notice: Notice) => void;
  /** Why no order may be created at the moment although none of the rules speaks against it, as when the time is in doubt. */
  readonly blocked?: () => string | undefined;
  /** What the account holds; absent where nobody can ask: margin, simulated venues. Without it no absence can be proven. */
  readonly balances?: () => Promise<Answer<readonly Balance[]>>;
  /** The exchange's time at its earliest, asked for now; absent: the clock is the exchange's. */
  readonly serverTime?: () => Promise<Answer<number>>;
}

/** A desk without its strategies, and what a mode needs beside it. */
export interface Assembled extends Book {
  readonly desk: Omit<Desk, 'signals'>;
  readonly sweeps: Sweeps;
  readonly execution: Execution;
  /** Fills that were booked, for whoever wants to know. */
  readonly booked: Observable<Fill>;
  /**
   * Ends trading: from now on nothing is created, what is on its way is seen through, and what rests is cancelled or kept.
   * Resolves when that is done; an outcome that stays unknown delays it without end.
   */
  end(resting: 'cancel' | 'keep'): Promise<void>;
  /** Asks again for what must not stay undone: exits of stops that were refused, cancels under a kill. Tells of a full disk. */
  insist(): void;
  /** A stop was reached: the position is left, and stays left while the goal stays the same. */
  hitStop(stop: Pick<ArmedStop, 'strategy' | 'symbol'>, why: string): void;
  /** Stops creation, durably, and cancels what rests. */
  kill(kill: Kill): Promise<void>;
  resume(strategy: string | undefined, by: string, reason: string): Promise<void>;
  /** Cancels resting orders, of one strategy or all; returns how many. */
  cancelAll(strategy?: string): Promise<number>;
  /** Compares the ledger with the account, to the last decimal; tells, and halts where something is missing. */
  audit(): Promise<Audit>;
  /** Closes an order that only a human may close; gives why that cannot be. */
  resolveByHand(clientOrderId: string, as: HumanWord, by: string, reason: string): Promise<string | undefined>;
  /** Counts an amount that was paid in (positive) or out, durably. */
  adjust(asset: string, amount: Units, by: string, reason: string): Promise<void>;
}

export function assemble(parts: Parts): Assembled {
  const book = openBook(parts, (kill) => void control.kill(kill));
  const { portfolio, planner, protection, risk } = book;
  const ids = parts.identity === undefined ? countedIds() : provenIds(parts.identity);
  const { clock, journal, notice } = parts;
  const execution = executionOf(parts, portfolio, ids.read);
  const sweeps = new Sweeps(execution, parts.loaded.cursors);
  const audits = auditor(execution, sweeps);
  const stopped = source<Signal>();
  const booked = source<Fill>();
  const work = counting();
  const cancelling: Cancelling = (order, lane) => work.during(cancel(execution, sweeps, order, lane));
  const cancellingAll: CancellingAll = async (orders, lane) => {
    await Promise.all(cancelTogether(execution, sweeps, orders, lane).map((one) => work.during(one)));
  };
  const insisting = insistence(book, clock, cancellingAll, (signal) => stopped.emit(signal));
  const tellOfDisk = diskWatch(journal, notice);
  const hears = signalDoor(book, clock, journal);
  const control = controls(book, execution, cancellingAll);
  let ending = false;
  const against = (intent: Intent): string | undefined =>
    ending
      ? 'trading is being ended'
      : (execution.halts.against() ?? parts.blocked?.() ?? reasonAgainst(risk, journal, intent));
  const desk: Omit<Desk, 'signals'> = {
    async recover() {
      sweeps.bookAgain(unbookedTrades(parts.loaded, instrumentOf(portfolio)));
      await recover(execution, sweeps, symbolsOf(parts, portfolio));
      await knowHoldings(execution, audits, parts.loaded.firstOrderAt === undefined);
      await insisting.cancelKilled();
    },
    stopped: stopped.stream,
    fills: sweeps.fills,
    note: (signal) => hears(signal) && planner.note(signal),
    // An order that is being moved is not created anew behind the back of whoever cancels what rests.
    plan: (signal, denied) => (ending ? undefined : planner.plan(signal, denied)),
    judge(draft) {
      const verdict = judge(parts, book, execution.halts, draft);
      if (verdict.kind === 'denied') insisting.refused(draft, verdict.code);
      return verdict;
    },
    reserve: (draft) => reserve(parts, book, execution, ids.next(draft.strategy), draft),
    execute: (intent) => work.during(carryOut(book, execution, sweeps, against, intent)),
    cancel: (order) => cancelling(order),
    record: (fill) => journal.insertFill(fillRow(fill, portfolio.instrument(fill.symbol))),
    book(fill) {
      bookFill(book, execution, fill);
      booked.emit(fill);
    },
    latestWhenFree: (carryOutOne) => latestWhenFree(clock, carryOutOne),
  };
  return {
    ...book,
    ...control,
    desk,
    sweeps,
    execution,
    booked: booked.stream,
    audit: () => audits.check(),
    ...byHand(execution),
    end(resting) {
      ending = true;
      return resting === 'keep' ? work.idle() : untilNothingRests(portfolio, control, work);
    },
    insist() {
      tellOfDisk();
      insisting.leaveAgain();
      insisting.askAgain();
      void insisting.cancelKilled();
    },
    hitStop({ strategy, symbol }, why) {
      const signal = exitOf(planner, strategy, symbol, why, clock.now());
      if (signal === undefined) return;
      protection.leave(strategy, symbol, signal.want.goal, why);
      stopped.emit(signal);
    },
  };
}

/** Cancels again and again: an order that was on its way can come to rest after the others were cancelled. */
async function untilNothingRests(
  portfolio: Portfolio,
  { cancelAll }: Pick<Assembled, 'cancelAll'>,
  work: Pick<Work, 'idle'>,
): Promise<void> {
  do {
    await cancelAll();
    await work.idle();
  } while ([...portfolio.orders()].some(({ state }) => state === 'open'));
}

/** What is held, wished, protected and allowed, as the journal left it. */
function openBook(parts: Parts, disabled: (kill: Kill) => void): Book {
  const { clock, journal, loaded, account, instruments, limits, marketBuyIn, feeInBase } = parts;
  const portfolio = new Portfolio(instruments, parts.allocations);
  const protection = new Protection(portfolio, (strategy, symbol, saved) => {
    journal.append({ kind: 'protection', strategy, symbol, protection: saved });
  });
  const planner = new Planner({
    portfolio,
    protection,
    account,
    marketBuyIn,
    feeInBase,
    changed({ at, strategy, symbol, want }, size) {
      const goal = size === undefined ? null : quantityText(size, portfolio.instrument(symbol));
      journal.append({ kind: 'signal', at, strategy, symbol, want, goal });
    },
  });
  restore(loaded, portfolio, protection, planner);
  const risk = new Risk({
    limits,
    portfolio,
    clock,
    ...riskMemory(loaded),
    ...(parts.newVersions === undefined ? {} : { newVersions: parts.newVersions }),
    remember: (name, value) => journal.append({ kind: 'memory', name, value }),
    disabled,
  });
  return { portfolio, protection, planner, risk };
}

function judge({ journal, clock, blocked }: Parts, { risk, portfolio }: Book, halts: Halts, draft: Draft): Verdict {
  const [halt] = halts.inForce;
  const reason = blocked?.();
  const verdict: Verdict =
    halt !== undefined
      ? { kind: 'denied', code: 'halted', facts: { reason: halt.text, since: halt.at } }
      : reason === undefined
        ? risk.judge(draft)
        : { kind: 'denied', code: 'blocked', facts: { reason } };
  if (verdict.kind === 'denied')
    journal.append(denialRow(draft, verdict, portfolio.instrument(draft.symbol), clock.now()));
  return verdict;
}

/** Between tries to learn what the account holds before the first order, ms, and how many there are: an account may never rest. */
const holdingsRetryMs = 2_000;
const mostHoldingsTries = 30;

/** Before the first order of all it must be known what the account holds: afterwards an order of open outcome would be in it. */
async function knowHoldings({ books, clock }: Execution, audits: Auditor, isFirst: boolean): Promise<void> {
  await audits.begin();
  for (let tries = 1; isFirst && books?.ledger.begun === false && tries < mostHoldingsTries; tries++) {
    await clock.sleep(holdingsRetryMs);
    await audits.begin();
  }
}

/** Gives an order its id, counts its exposure from now on, and writes down by which numbers it was approved. */
function reserve(
  { clock, identity, orderLifeMs }: Parts,
  { portfolio, risk }: Book,
  execution: Execution,
  clientOrderId: string,
  draft: Draft,
): Intent {
  const intent = intentOf(draft, clientOrderId, clock.now(), orderLifeMs);
  // In memory nobody reads an order's events.
  const facts = identity === undefined ? {} : risk.weigh(draft);
  record(execution, portfolio.reserve(intent), 'approved', facts);
  risk.created(draft);
  return intent;
}

function bookFill({ portfolio, planner, protection, risk }: Book, { changes, books }: Execution, fill: Fill): void {
  portfolio.apply(fill);
  changes.count++;
  books?.ledger.own(fill, portfolio.instrument(fill.symbol));
  leaveAfterProfit(fill, portfolio, planner, protection);
  risk.booked(fill);
}

async function carryOut(
  book: Book,
  execution: Execution,
  sweeps: Sweeps,
  against: (intent: Intent) => string | undefined,
  intent: Intent,
): Promise<Carried> {
  const order = book.portfolio.order(intent.clientOrderId);
  if (order === undefined) return 'refused';
  const carried = await execute(execution, sweeps, against, order);
  // Killed while its outcome was unknown: it could not be cancelled before it was found. A disk that filled up in the
  // meantime is no such reason: it keeps orders from being created, and this one is written down and wanted.
  if (carried === 'placed' && book.risk.switch.against(intent) !== undefined)
    await cancel(execution, sweeps, order, 'kill');
  return carried;
}

/** Asked again just before an order leaves: a kill in the meantime still counts. */
function reasonAgainst(risk: Risk, journal: Journal, intent: Intent): string | undefined {
  if (journal.full) return 'the disk is full';
  const kill = risk.switch.against(intent);
  return kill === undefined ? undefined : `killed: ${kill.reason}`;
}

/** What an operator or a limit does. */
function controls(
  { portfolio, risk }: Book,
  execution: Execution,
  cancellingAll: CancellingAll,
): Pick<Assembled, 'kill' | 'resume' | 'cancelAll'> {
  const { journal, clock } = execution;
  async function cancelResting(
    lane: 'kill' | 'cancel',
    strategy: string | undefined,
    unless: (order: WorkingOrder) => boolean = () => false,
  ): Promise<number> {
    const resting = [...portfolio.orders()].filter(
      (order) =>
        order.state === 'open' && (strategy === undefined || order.intent.strategy === strategy) && !unless(order),
    );
    await cancellingAll(resting, lane);
    return resting.length;
  }
  return {
    async kill(kill) {
      if (!risk.switch.inForce.includes(kill)) risk.switch.kill(kill);
      const { at, strategy = null, by, reason } = kill;
      journal.append({ kind: 'kill', at, strategy, by, reason });
      await journal.durable();
      await cancelResting('kill', kill.strategy, ({ intent }) => letsThrough(kill, intent.purpose));
    },
    async resume(strategy, by, reason) {
      // What is remembered from here on comes after the row that has everything before it forgotten.
      journal.append({ kind: 'resume', at: clock.now(), strategy: strategy ?? null, by, reason });
      risk.resume(strategy);
      if (strategy === undefined) execution.halts.resume();
      noteDay(risk, journal);
      await journal.durable();
    },
    cancelAll: (strategy) => cancelResting('cancel', strategy),
  };
}

/** Writes down what the day's loss is measured from, once that is known. */
export function noteDay({ dayStart: { day, equity } }: Risk, journal: Journal): void {
  if (!Number.isNaN(day)) journal.append({ kind: 'day', day, equity: unitsText(equity) });
}

/** Work that is under way. */
interface Work {
  during<T>(work: Promise<T>): Promise<T>;
  /** Resolves once there is none. */
  idle(): Promise<void>;
}

function counting(): Work {
  const running = new Set<Promise<unknown>>();
  return {
    during(work) {
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

const intentOf = (draft: Draft, clientOrderId: string, now: number, lifeMs: number): Intent => ({
  ...draft,
  clientOrderId,
  createdAt: now,
  expiresAt: now + lifeMs,
});

/** Every symbol that is traded now or was before. */
const symbolsOf = (parts: Parts, portfolio: Portfolio): Iterable<string> =>
  new Set([...portfolio.places().map(({ symbol }) => symbol), ...parts.loaded.cursors.keys()]);

/** A position that its take-profit closed stays closed while the strategy goes on wishing the same goal. */
export function leaveAfterProfit(fill: Fill, portfolio: Portfolio, planner: Planner, protection: Protection): void {
  if (fill.purpose !== 'takeProfit') return;
  protection.tookProfit(fill.strategy, fill.symbol, fill.quantity);
  const order = portfolio.order(fill.clientOrderId);
  if (order !== undefined && order.filled < order.intent.expectedLots) return;
  const want = planner.standing(fill.strategy, fill.symbol)?.want;
  if (want?.kind !== 'target') return;
  protection.leave(
    fill.strategy,
    fill.symbol,
    want.goal,
    `profit was taken at ${priceText(fill.price, portfolio.instrument(fill.symbol))}`,
  );
}
