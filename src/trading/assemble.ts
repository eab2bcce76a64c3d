/** Puts the parts of a trader together, the same way for every mode: only who answers and who moves time differ. */
import type { Observable } from 'rxjs';
import type { Clock } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import { quantityText, type Rate } from '../domain/money.ts';
import { type Account, type Decision, decisionOf, type Fill, type Intent, type Verdict } from '../domain/order.ts';
import { denialText } from '../domain/words.ts';
import { type Audit, Auditor } from '../execution/audit.ts';
import { cancel, cancelTogether } from '../execution/cancel.ts';
import { type Execution, type Notice, record, type Timing } from '../execution/context.ts';
import type { Halts } from '../execution/halt.ts';
import { latestWhenFree } from '../execution/lane.ts';
import { Ledger } from '../execution/ledger.ts';
import { type ByHand, byHand } from '../execution/operator-decisions.ts';
import { fillRow } from '../execution/records.ts';
import { recover } from '../execution/recover.ts';
import { Sweeps } from '../execution/sweep.ts';
import type { Journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import type { Identity } from '../journal/open.ts';
import { intentOf, type OrderDraft } from '../portfolio/plan.ts';
import { Planner, type Sizing } from '../portfolio/planner.ts';
import { type Allocation, Portfolio } from '../portfolio/portfolio.ts';
import { type ArmedStop, Protection } from '../portfolio/protection.ts';
import { Unprotected } from '../portfolio/unprotected.ts';
import type { Limits, NewVersion } from '../risk/context.ts';
import type { Kill } from '../risk/kill.ts';
import { Risk } from '../risk/risk.ts';
import type { Trader } from '../trader.ts';
import type { Answer, Balance, OrderEntry } from '../venue/venue.ts';
import { togetherWith } from './batches.ts';
import { executionOf, instrumentOf, unbookedTrades } from './build-execution.ts';
import type { TradingComponents } from './components.ts';
import { denialRow, signalDenialRow } from './format.ts';
import { type Source, source } from './hot-streams.ts';
import { type Controls, canLeave, controls } from './kill-switch.ts';
import { countedIds, type OrderIds, provenIds } from './order-ids.ts';
import { counting, type Work } from './pending-tasks.ts';
import { restore, riskMemory } from './restore.ts';
import { type Cancelling, type CancellingAll, diskWatch, exitOf, leaveOverdue, retries } from './retries.ts';
import { send, sendAll } from './send.ts';

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
  /** How a share of equity becomes a quantity; by the price alone when left out. */
  readonly sizing?: Sizing;
  /** Versions of strategies' code that nobody has released, by strategy. */
  readonly newVersions?: ReadonlyMap<string, NewVersion>;
  /** When an earlier run was last seen alive, UTC ms. */
  readonly aloneSince?: number | undefined;
  readonly notice: (notice: Notice) => void;
  /** Why no order may be created at the moment although none of the rules speaks against it, as when the time is in doubt. */
  readonly blocked?: (symbol: string) => string | undefined;
  /** Nobody else trades on the account: an order without its client id is found by its likeness. */
  readonly dedicated?: boolean;
  /** Several quotes leave in one request, without client ids; only on a dedicated account. */
  readonly batchCreate?: boolean;
  /** What the account holds; absent where nobody can ask: margin, simulated venues. Without it no absence can be proven. */
  readonly balances?: () => Promise<Answer<readonly Balance[]>>;
  /** The exchange's time at its earliest, asked for now; absent: the clock is the exchange's. */
  readonly serverTime?: () => Promise<Answer<number>>;
}

/** A trader without its strategies, and what a mode needs beside it. */
export interface Assembled extends TradingComponents, Controls, ByHand {
  readonly trader: Omit<Trader, 'decisions'>;
  readonly sweeps: Sweeps;
  readonly execution: Execution;
  /** Fills that were booked. */
  readonly booked: Observable<Fill>;
  /**
   * Ends trading: from now on nothing is created, what is on its way is seen through, and what rests is cancelled or kept.
   * Resolves when that is done; an outcome that stays unknown delays it without end.
   */
  end(resting: 'cancel' | 'keep'): Promise<void>;
  /** Retries exits of stops that were refused and cancels under a kill; reports a full disk. */
  retryPending(): void;
  /** Exits a position whose stop was hit. The exit stays in force until the strategy changes its target. */
  hitStop(stop: Pick<ArmedStop, 'strategy' | 'symbol'>, why: string): void;
  /** Compares the ledger with the account, to the last decimal. Reports differences, and halts where something is missing. */
  audit(): Promise<Audit>;
}

/** There is an account to keep a ledger of; simulated fills have none. */
const isOnExchange = ({ balances, account }: Parts): boolean => balances !== undefined || account === 'margin';

export function assemble(parts: Parts): Assembled {
  const ledger = isOnExchange(parts) ? new Ledger(parts.loaded.adjustments) : undefined;
  const book = openBook(parts, ledger, (kill) => void control.kill(kill));
  const { portfolio, planner, protection } = book;
  const ids = parts.identity === undefined ? countedIds() : provenIds(parts.identity);
  const { clock, journal, notice } = parts;
  const execution = executionOf(parts, portfolio, ledger, ids.read);
  const sweeps = new Sweeps(execution, parts.loaded.cursors);
  const audits = new Auditor(execution, sweeps);
  const stopped = source<Decision>();
  const booked = source<Fill>();
  const work = counting();
  const cancelling: Cancelling = (order, lane) => work.during(cancel(execution, sweeps, order, lane));
  const cancellingAll: CancellingAll = async (orders, lane) => {
    await Promise.all(cancelTogether(execution, sweeps, orders, lane).map((one) => work.during(one)));
  };
  const retrying = retries(book, clock, cancellingAll, (leg) => stopped.emit(decisionOf(leg)));
  const reportDisk = diskWatch(journal, notice);
  const control = controls(book, execution, cancellingAll);
  const against: Against = {
    ending: false,
    reason: (intent) =>
      against.ending
        ? 'trading is being ended'
        : (execution.halts.against() ?? parts.blocked?.(intent.symbol) ?? reasonAgainst(book.risk, parts, intent)),
  };
  const trader = traderOf(parts, {
    book,
    execution,
    sweeps,
    audits,
    ids,
    stopped,
    booked,
    work,
    retrying,
    cancelling,
    against,
  });
  return {
    ...book,
    ...control,
    trader,
    sweeps,
    execution,
    booked: booked.stream,
    audit: () => audits.check(),
    ...byHand(execution, sweeps),
    end(resting) {
      against.ending = true;
      return resting === 'keep' ? work.idle() : untilNothingRests(portfolio, control, work, clock);
    },
    retryPending() {
      reportDisk();
      leaveOverdue(book, clock.now(), (place, why) => this.hitStop(place, why));
      retrying.leaveAgain();
      retrying.askAgain();
      book.unprotected.measure(clock.now(), canLeave(book, execution));
      void retrying.cancelKilled();
    },
    hitStop({ strategy, symbol }, why) {
      const leg = exitOf(planner, strategy, symbol, why, clock.now());
      if (leg === undefined) return;
      protection.leave(strategy, symbol, leg.signal.size, why);
      stopped.emit(decisionOf(leg));
    },
  };
}

/** What speaks against creating an order at the last moment. */
interface Against {
  ending: boolean;
  readonly reason: (intent: Intent) => string | undefined;
}

interface Assembling {
  readonly book: TradingComponents;
  readonly execution: Execution;
  readonly sweeps: Sweeps;
  readonly audits: Auditor;
  readonly ids: OrderIds;
  readonly stopped: Source<Decision>;
  readonly booked: Source<Fill>;
  readonly work: Work;
  readonly retrying: ReturnType<typeof retries>;
  readonly cancelling: Cancelling;
  readonly against: Against;
}

function traderOf(parts: Parts, assembling: Assembling): Omit<Trader, 'decisions'> {
  const { book, execution, sweeps, audits, ids, stopped, booked, work, retrying, cancelling, against } = assembling;
  const { portfolio, planner } = book;
  const { clock, journal } = parts;
  return {
    async recover() {
      sweeps.bookAgain(unbookedTrades(parts.loaded, instrumentOf(portfolio)));
      await recover(execution, sweeps, symbolsOf(parts, portfolio));
      await knowHoldings(execution, audits, parts.loaded.firstOrderAt === undefined);
      await retrying.cancelKilled();
    },
    stopped: stopped.stream,
    fills: sweeps.fills,
    note: (decision) => planner.note(decision),
    // An order that is being moved is not created anew behind the back of whoever cancels what rests.
    plan: (decision, refused) => (against.ending ? undefined : planner.plan(decision, refused)),
    judge(draft) {
      const verdict = judge(parts, book, execution.halts, draft);
      if (verdict.kind === 'denied') retrying.refused(draft, verdict.code);
      return verdict;
    },
    reserve: (draft) => reserve(parts, book, execution, ids.next(draft.strategy), draft),
    execute: (intent) => work.during(send(book, execution, sweeps, against.reason, intent)),
    together: togetherWith(execution, planner, parts.batchCreate === true),
    executeAll: (intents) => work.during(sendAll(book, execution, sweeps, against.reason, intents)),
    cancel: (order) => cancelling(order),
    record: (fill) => journal.insertFill(fill, () => fillRow(fill, portfolio.instrument(fill.symbol))),
    book(fill) {
      bookFill(book, execution, fill);
      booked.emit(fill);
    },
    latestWhenFree: (carryOutOne) => latestWhenFree(clock, carryOutOne),
  };
}

/** Between two rounds of cancelling, real ms. */
const restAgainMs = 100;

/**
 * Cancels again and again: an order that was on its way can come to rest after the others were cancelled. The cancel of one that was adopted
 * late goes on by itself: without a wait between the rounds, nothing else would get its turn until it has ended.
 */
async function untilNothingRests(
  portfolio: Portfolio,
  { cancelAll }: Pick<Assembled, 'cancelAll'>,
  work: Pick<Work, 'idle'>,
  clock: Clock,
): Promise<void> {
  for (;;) {
    await cancelAll();
    await work.idle();
    if (![...portfolio.orders()].some(({ state }) => state === 'open')) return;
    await clock.sleep(clock.machine(restAgainMs));
  }
}

/** What is held, wished, protected and allowed, as the journal left it. */
function openBook(parts: Parts, ledger: Ledger | undefined, disabled: (kill: Kill) => void): TradingComponents {
  const { clock, journal, loaded, account, instruments, limits, marketBuyIn, feeInBase } = parts;
  const portfolio = new Portfolio(instruments, parts.allocations);
  const protection = new Protection(portfolio, (strategy, symbol, saved) => {
    journal.append({ kind: 'protection', strategy, symbol, protection: saved() });
  });
  const planner = new Planner({
    portfolio,
    protection,
    account,
    marketBuyIn,
    feeInBase,
    ...(parts.sizing === undefined ? {} : { sizing: parts.sizing }),
    changed({ at, strategy, role, symbol, signal }, lots, decision) {
      const quantity = lots === undefined ? null : quantityText(lots, portfolio.instrument(symbol));
      journal.append({ kind: 'signal', at, decision, strategy, role, symbol, signal, quantity });
    },
    mayChange: (leg) => risk.mayChange(leg),
    tooSmall: (draft, denial) =>
      journal.append(denialRow(draft, denial, portfolio.instrument(draft.symbol), clock.now())),
  });
  restore(loaded, { portfolio, protection, planner, ledger });
  const risk = new Risk({
    limits,
    portfolio,
    clock,
    ...riskMemory(loaded),
    ...(parts.newVersions === undefined ? {} : { newVersions: parts.newVersions }),
    remember: (name, value) => journal.append({ kind: 'memory', name, value }),
    disabled,
    signalDenied: (leg, denial) => journal.append(signalDenialRow(leg, denial, clock.now())),
  });
  const unprotected = new Unprotected({
    portfolio,
    protection,
    kept: loaded.memories.get('unprotected'),
    keep: (value) => journal.append({ kind: 'memory', name: 'unprotected', value }),
    aloneSince: parts.aloneSince,
  });
  return { portfolio, protection, planner, risk, unprotected };
}

function judge(
  { journal, clock, blocked }: Parts,
  { risk, portfolio }: TradingComponents,
  halts: Halts,
  draft: OrderDraft,
): Verdict {
  const [halt] = halts.inForce;
  const reason = blocked?.(draft.symbol);
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
  for (
    let tries = 1;
    isFirst && books?.balances !== undefined && !books.ledger.begun && tries < mostHoldingsTries;
    tries++
  ) {
    await clock.sleep(holdingsRetryMs);
    await audits.begin();
  }
}

/** Gives an order its id, counts its exposure from now on, and writes down by which numbers it was approved. */
function reserve(
  { clock, identity, orderLifeMs }: Parts,
  { portfolio, risk }: TradingComponents,
  execution: Execution,
  clientOrderId: string,
  draft: OrderDraft,
): Intent {
  const now = clock.now();
  const intent = intentOf(draft, clientOrderId, now, now + orderLifeMs);
  // In memory nobody reads an order's events.
  const facts = identity === undefined ? {} : risk.weigh(draft);
  record(execution, portfolio.reserve(intent), 'approved', facts);
  risk.created(draft);
  return intent;
}

function bookFill({ portfolio, planner, risk }: TradingComponents, { changes, books }: Execution, fill: Fill): void {
  portfolio.apply(fill);
  changes.count++;
  books?.ledger.own(fill, portfolio.instrument(fill.symbol));
  planner.booked(fill);
  risk.booked(fill);
}

/** Asked again just before an order leaves: a kill in the meantime still counts. */
function reasonAgainst(
  risk: Risk,
  { journal, clock }: Pick<Parts, 'journal' | 'clock'>,
  intent: Intent,
): string | undefined {
  if (journal.full) return 'the disk is full';
  const kill = risk.switch.against(intent);
  if (kill !== undefined) return `killed: ${kill.reason}`;
  const denial = risk.judgeAgain(intent);
  return denial === undefined
    ? undefined
    : `denied by ${denial.code} at the last hop: ${denialText(denial, clock.machine(1))}`;
}

/** Every symbol that is traded now or was before. */
const symbolsOf = (parts: Parts, portfolio: Portfolio): Iterable<string> =>
  new Set([...portfolio.places().map(({ symbol }) => symbol), ...parts.loaded.cursors.keys()]);
