/** Puts the parts of a trader together, the same way for every mode: only who answers and who moves time differ. */

import type { Observable } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import { quantityText, type Rate } from '../domain/money.ts';
import { type Account, type Decision, decisionOf, type Fill } from '../domain/order.ts';
import { type Audit, Auditor } from '../execution/audit.ts';
import type { Execution, Timing } from '../execution/context.ts';
import { Ledger } from '../execution/ledger.ts';
import { type ByHand, byHand } from '../execution/operator-decisions.ts';
import { recover } from '../execution/recover.ts';
import { Sweeps } from '../execution/sweep.ts';
import type { Notice } from '../journal/entries.ts';
import { fillRow } from '../journal/fill-entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import { Flattening } from '../portfolio/flattening.ts';
import { type AloneRule, aloneMemory, LegsAlone } from '../portfolio/legs-alone.ts';
import { Planner } from '../portfolio/planner.ts';
import { type Allocation, Portfolio } from '../portfolio/portfolio.ts';
import { type ArmedStop, Protection } from '../portfolio/protection.ts';
import type { Sizing } from '../portfolio/target-size.ts';
import type { Limits, NewVersion } from '../risk/context.ts';
import type { Kill } from '../risk/kill.ts';
import { Risk } from '../risk/risk.ts';
import type { Trader } from '../trader.ts';
import type { Answer, Balance, OrderEntry } from '../venue/venue.ts';
import { executionOf, instrumentOf, unbookedTrades } from './build-execution.ts';
import type { TradingComponents } from './components.ts';
import { type Flattens, flattenMemory, flattens, restMs } from './flatten.ts';
import { denialRow, signalDenialRow } from './format.ts';
import { type Source, source } from './hot-streams.ts';
import { type Controls, canExit, controls, endOldFlattens, exitBlocked } from './kill-switch.ts';
import { countedIds, Orders, type OrdersParts, provenIds } from './orders.ts';
import { keepingEntries, keepingExtremes, keepingMemories, restore, riskMemory } from './restore.ts';
import { diskWatch, exitOf, exitOverdue, expiredLegs, letEnterAgain, retries } from './retries.ts';
import { sharedLanes } from './shared-lanes.ts';
import { Unprotected } from './unprotected.ts';

export interface Parts extends OrdersParts {
  readonly journal: Journal;
  readonly loaded: Loaded;
  readonly orders: OrderEntry;
  readonly account: Account;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly allocations: readonly Allocation[];
  readonly limits: Limits;
  readonly timing: Timing;
  readonly marketBuyIn: 'amount' | 'lots';
  readonly feeInBase: Rate;
  /** How a share of equity becomes a quantity; by the price alone when left out. */
  readonly sizing?: Sizing;
  /** Versions of strategies' code that nobody has released, by strategy. */
  readonly newVersions?: ReadonlyMap<string, NewVersion>;
  /** When an earlier run was last seen alive, UTC ms. */
  readonly aloneSince?: number | undefined;
  readonly notice: (notice: Notice) => void;
  /** The lane of a symbol; its own when left out. */
  readonly laneOf?: (symbol: string) => string;
  /** What strategies want done about legs that are open alone; nothing when left out. */
  readonly aloneRules?: readonly AloneRule[];
  /** Nobody else trades on the account: an order without its client id is found by its likeness. */
  readonly dedicated?: boolean;
  /** What the account holds; absent where nobody can ask: margin, simulated venues. Without it no absence can be proven. */
  readonly balances?: () => Promise<Answer<readonly Balance[]>>;
  /** The exchange's time at its earliest, asked for now; absent: the clock is the exchange's. */
  readonly serverTime?: () => Promise<Answer<number>>;
}

/** A trader without its strategies, and what a mode needs beside it. */
export interface Assembled
  extends TradingComponents,
    Controls,
    ByHand,
    Pick<Flattens, 'flatten'>,
    Pick<Orders, 'blocked'> {
  readonly trader: Omit<Trader, 'decisions'>;
  readonly sweeps: Sweeps;
  readonly execution: Execution;
  /** Fills that were booked. */
  readonly booked: Observable<Fill>;
  /**
   * Ends trading: from now on nothing is created, requests in flight are awaited, and resting orders are cancelled or kept.
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
  const book = openBook(parts, ledger, {
    disabled: (kill) => void control.kill(kill),
    blocked: (order) => orders.blocked(order),
  });
  const { planner, protection } = book;
  const ids = parts.identity === undefined ? countedIds() : provenIds(parts.identity);
  const { clock, journal, notice } = parts;
  const execution = executionOf(parts, book.portfolio, ledger, ids.read);
  const sweeps = new Sweeps(execution, parts.loaded.cursors);
  const orders = new Orders(parts, book, execution, sweeps, ids);
  const audits = new Auditor(execution, sweeps);
  const stopped = source<Decision>();
  const booked = source<Fill>();
  const blocked = exitBlocked(book, orders);
  const mayExit = canExit(book, clock, blocked);
  const retrying = retries(book, {
    ...{ clock, orders, blocked, canExit: mayExit, notice },
    ask: (leg) => stopped.emit(decisionOf(leg)),
  });
  const reportDisk = diskWatch(journal, clock, notice);
  const control = controls(book, execution, orders);
  // In an outage its time does not run either.
  const unsent: Orders['blocked'] = (order) => orders.blocked(order) ?? sweeps.unanswered;
  const flattening = flattens(book, execution, unsent, control.kill, (decision) => stopped.emit(decision));
  return {
    ...book,
    ...control,
    flatten: flattening.flatten,
    blocked: (order) => orders.blocked(order),
    trader: traderOf(parts, { book, execution, sweeps, orders, audits, stopped, booked, retrying }),
    sweeps,
    execution,
    booked: booked.stream,
    audit: () => audits.check(),
    ...byHand(execution, sweeps),
    end: (resting) => orders.end(resting),
    retryPending() {
      reportDisk();
      exitOverdue(book, clock.now(), (position, why) => this.hitStop(position, why));
      // Before recovery is through nobody would carry them out, and they would count as requested.
      if (stopped.isObserved) {
        for (const leg of expiredLegs(book, clock.now())) stopped.emit(decisionOf(leg));
        for (const decision of book.legsAlone.look(clock.now())) stopped.emit(decision);
        flattening.goOn();
        retrying.leaveAgain();
        retrying.askAgain();
      }
      book.unprotected.measure(clock.now(), mayExit);
      void retrying.cancelKilled();
    },
    hitStop({ strategy, symbol }, why) {
      const leg = exitOf(planner, strategy, symbol, why, clock.now());
      if (leg === undefined) return;
      protection.exit(strategy, symbol, leg.signal.size, why, clock.now());
      stopped.emit(decisionOf(leg));
    },
  };
}

interface Assembling {
  readonly book: TradingComponents;
  readonly execution: Execution;
  readonly sweeps: Sweeps;
  readonly orders: Orders;
  readonly audits: Auditor;
  readonly stopped: Source<Decision>;
  readonly booked: Source<Fill>;
  readonly retrying: ReturnType<typeof retries>;
}

function traderOf(parts: Parts, assembling: Assembling): Omit<Trader, 'decisions'> {
  const { book, execution, sweeps, orders, audits, stopped, booked, retrying } = assembling;
  const { portfolio, planner } = book;
  const { clock, journal, laneOf = (symbol) => symbol } = parts;
  return {
    async recover() {
      sweeps.bookAgain(unbookedTrades(parts.loaded, instrumentOf(portfolio)));
      await recover(execution, sweeps, symbolsOf(parts, portfolio));
      await knowHoldings(execution, audits, parts.loaded.firstOrderAt === undefined);
      await retrying.cancelKilled();
    },
    stopped: stopped.stream,
    fills: sweeps.fills,
    note(decision) {
      // As in a backtest: a close at which the time after an exit is over may enter.
      for (const { symbol } of decision.legs) letEnterAgain(book, symbol, clock.now());
      const isOpen = planner.note(book.legsAlone.completing(decision));
      book.legsAlone.see(decision.strategy, clock.now());
      return isOpen;
    },
    // While trading ends, resting orders are being cancelled: planning now would create one again.
    plan: (decision, refused) => (orders.isEnding ? undefined : planner.plan(decision, refused)),
    judge(draft) {
      const verdict = orders.judge(draft);
      if (verdict.kind === 'denied') retrying.refused(draft, verdict);
      return verdict;
    },
    reserve(draft) {
      book.flattening.sent(draft);
      return orders.reserve(draft);
    },
    together: (decision, refused, first) => orders.together(decision, refused, first),
    executeAll: (intents) => orders.executeAll(intents),
    ...sharedLanes({
      ...{ clock, portfolio, planner, isShared: isSharedIn(parts, laneOf) },
      orders: {
        cancel: (order) => orders.cancel(order),
        async execute(intent, lost) {
          const result = await orders.execute(intent, lost);
          retrying.submitted(intent, result);
          return result;
        },
      },
      again: ([first, ...others]) =>
        stopped.emit({ strategy: first.strategy, at: clock.now(), legs: [first, ...others] }),
    }),
    record: (fill) => journal.insertFill(fill, () => fillRow(fill, portfolio.instrument(fill.symbol))),
    book(fill) {
      bookFill(book, execution, fill);
      book.legsAlone.see(fill.strategy, clock.now());
      booked.emit(fill);
      const waiting = planner.waiting(fill.strategy);
      if (waiting !== undefined) stopped.emit({ strategy: fill.strategy, at: clock.now(), legs: waiting.legs });
    },
    laneOf,
    isProtective: ({ legs }) => legs.every(({ strategy, symbol }) => isClosed(book, strategy, symbol)),
    track: (work) => clock.track(work),
  };
}

/** Whether protection or an operator has the position of a strategy on a symbol left, and nothing entered. */
function isClosed({ planner, protection, flattening }: TradingComponents, strategy: string, symbol: string): boolean {
  if (flattening.of(strategy, symbol) !== undefined) return true;
  const signal = planner.standing(strategy, symbol)?.signal;
  return signal?.kind === 'target' && protection.override(strategy, symbol, signal).exit !== undefined;
}

/** Whether the lane of a symbol is that of others, too. */
function isSharedIn(
  { allocations }: Pick<Parts, 'allocations'>,
  laneOf: (symbol: string) => string,
): (symbol: string) => boolean {
  const lanes = Map.groupBy(new Set(allocations.map(({ symbol }) => symbol)), laneOf);
  return (symbol) => (lanes.get(laneOf(symbol))?.length ?? 0) > 1;
}

/** Positions, standing signals, protection and risk, as the journal left them. */
function openBook(
  parts: Parts,
  ledger: Ledger | undefined,
  { disabled, blocked }: Pick<Orders, 'blocked'> & { readonly disabled: (kill: Kill) => void },
): TradingComponents {
  const { clock, journal, loaded, account, instruments, limits, marketBuyIn, feeInBase } = parts;
  const portfolio = new Portfolio(instruments, parts.allocations, keepingExtremes(journal));
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
    maxLeverage: limits.maxLeverage,
    changed({ at, strategy, role, symbol, signal, memory }, lots, decision) {
      const quantity = lots === undefined ? null : quantityText(lots, portfolio.instrument(symbol));
      const kept = memory === undefined ? null : JSON.stringify(memory);
      journal.append({ kind: 'signal', at, decision, strategy, role, symbol, signal, quantity, memory: kept });
    },
    remembered: keepingMemories(journal),
    entryKept: keepingEntries(journal),
    best: (symbol) => risk.best(symbol),
    mayChange: (leg) => risk.mayChange(leg),
    restriction: (strategy) => risk.restriction(strategy),
    flattening: () => flattening,
    unsent: (draft, denial) =>
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
  const legsAlone = new LegsAlone({
    ...{ portfolio, planner, protection, account, rules: parts.aloneRules ?? [] },
    kept: loaded.memories.get(aloneMemory),
    keep: (value) => journal.append({ kind: 'memory', name: aloneMemory, value }),
  });
  const flattening = new Flattening({
    ...{ portfolio, now: () => clock.now(), restMs: clock.machine(restMs), book: (symbol) => risk.book(symbol) },
    mayStop: ({ strategy, symbol }) =>
      risk.switch.against({ strategy, purpose: 'stop' }) === undefined &&
      blocked({ symbol, purpose: 'stop' }) === undefined,
    kept: loaded.memories.get(flattenMemory),
    keep: (value) => journal.append({ kind: 'memory', name: flattenMemory, value }),
  });
  endOldFlattens({ flattening, risk });
  return { portfolio, protection, planner, risk, unprotected, legsAlone, flattening };
}

/** Between attempts to read what the account holds before the first order, ms, and their number: an account may never rest. */
const holdingsRetryMs = 2_000;
const maxHoldingsTries = 30;

/** Before the first order of all it must be known what the account holds: afterwards an order of open outcome would be in it. */
async function knowHoldings({ books, clock }: Execution, audits: Auditor, isFirst: boolean): Promise<void> {
  await audits.begin();
  for (
    let tries = 1;
    isFirst && books?.balances !== undefined && !books.ledger.begun && tries < maxHoldingsTries;
    tries++
  ) {
    await clock.sleep(holdingsRetryMs);
    await audits.begin();
  }
}

function bookFill(
  { portfolio, planner, risk, flattening }: TradingComponents,
  { changes, books }: Execution,
  fill: Fill,
): void {
  portfolio.apply(fill);
  changes.count++;
  books?.ledger.own(fill, portfolio.instrument(fill.symbol));
  planner.booked(fill);
  risk.booked(fill);
  flattening.booked(fill);
}

/** Every symbol that is traded now or was before. */
const symbolsOf = (parts: Parts, portfolio: Portfolio): Iterable<string> =>
  new Set([...portfolio.subAccounts().map(({ symbol }) => symbol), ...parts.loaded.cursors.keys()]);
