/** Retries refused exits and cancels, and reports a full disk. */

import type { Clock } from '../clock/clock.ts';
import {
  type Denial,
  type Intent,
  type Leg,
  mainRole,
  type Signal,
  type SubmitResult,
  sameSize,
  type Target,
} from '../domain/order.ts';
import { denialText } from '../domain/words.ts';
import type { Notice } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import type { OrderDraft } from '../portfolio/plan.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Overdue } from '../portfolio/protection.ts';
import type { TradingComponents } from './components.ts';
import { type Orders, stoppedBy } from './orders.ts';

/** Rules that refuse for a moment only. */
const tooFast = new Set(['orderRate', 'strategyRate']);
/** Obstacles to any order, which end: a ban, a full disk, a HALT, an outage. An exit that met one is planned again after it. */
const obstacles = new Set(['blocked', 'halted', 'staleData']);

/** Real ms before an exit is tried again that was not sent; it doubles with each try up to the longest. */
const [firstWaitMs, longestWaitMs] = [1_000, 10_000];
/** After so many tries in a row an exit that is not sent is reported. */
const reportedTries = 3;

/** What is planned again. */
interface Waiting {
  readonly strategy: string;
  readonly symbol: string;
  /** An exit waits until it can be sent, and only while its strategy wants the same position. */
  readonly exit?: { readonly signal: Signal | undefined; readonly notBefore: number };
}

interface RetryParts {
  readonly clock: Clock;
  readonly orders: Pick<Orders, 'cancelAll'>;
  readonly ask: (leg: Leg) => void;
  /** Why the exit of a position cannot be sent at this moment. */
  readonly blocked: (strategy: string, symbol: string) => string | undefined;
  readonly canExit: (strategy: string, symbol: string) => boolean;
  readonly notice: (notice: Notice) => void;
}

/** When an exit is tried again, UTC ms; undefined where it was sent. One that is not sent several times in a row is reported. */
function unsentExits(clock: Clock, notice: RetryParts['notice']) {
  const triesOf = new Map<string, number>();
  return ({ strategy, symbol }: Intent, result: SubmitResult): number | undefined => {
    const place = `${strategy} ${symbol}`;
    if (result !== 'notSent' && result !== 'absent') {
      triesOf.delete(place);
      return undefined;
    }
    const tries = (triesOf.get(place) ?? 0) + 1;
    triesOf.set(place, tries);
    if (tries === reportedTries) {
      const text = `the exit of ${strategy} on ${symbol} could not be sent ${tries} times in a row. It is tried again until it is sent`;
      notice({ level: 'error', topic: 'stopReached', text });
    }
    return clock.now() + clock.machine(Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)));
  };
}

/** Retries of one trader. */
export function retries(book: TradingComponents, { clock, orders, ask, blocked, canExit, notice }: RetryParts) {
  const { portfolio, planner, protection } = book;
  const waiting = new Map<string, Waiting>();
  function waitForExit({ strategy, symbol }: Pick<OrderDraft, 'strategy' | 'symbol'>, notBefore: number): void {
    const signal = planner.standing(strategy, symbol)?.signal;
    waiting.set(`${strategy} ${symbol}`, { strategy, symbol, exit: { signal, notBefore } });
  }
  const triedAgainAt = unsentExits(clock, notice);
  /** Why the last exit of a position was denied. */
  const denied = new Map<string, string>();
  /** Exits that could not be sent: each is reported once, whatever is repeated. */
  const reported = new Set<string>();
  function report(strategy: string, symbol: string, why: string): void {
    const place = `${strategy} ${symbol}`;
    const cause = (blocked(strategy, symbol) ?? denied.get(place))?.replace(/\.$/, '');
    if (cause === undefined || reported.has(place)) return;
    reported.add(place);
    const text = `the position of ${strategy} on ${symbol} must be closed (${why}), and cannot be closed now: ${cause}. It is closed as soon as that has ended`;
    notice({ level: 'error', topic: 'stopReached', text });
  }
  return {
    /** An order that was only too fast, and an exit that met an obstacle, are not left to the next signal. */
    refused(draft: OrderDraft, denial: Denial): void {
      const { strategy, symbol, purpose } = draft;
      if (tooFast.has(denial.code)) waiting.set(`${strategy} ${symbol}`, { strategy, symbol });
      else if (purpose === 'exit' && obstacles.has(denial.code)) waitForExit(draft, clock.now());
      else if (purpose === 'stop') denied.set(`${strategy} ${symbol}`, denialText(denial, clock.machine(1)));
    },
    /** Nor is an exit that was approved and did not take effect. */
    submitted(intent: Intent, result: SubmitResult): void {
      if (intent.purpose !== 'exit') return;
      const again = triedAgainAt(intent, result);
      if (again !== undefined) waitForExit(intent, again);
    },
    askAgain(): void {
      for (const [place, { strategy, symbol, exit }] of [...waiting]) {
        const leg = planner.standing(strategy, symbol);
        const isOver = leg === undefined || (exit !== undefined && !wantsSame(leg.signal, exit.signal));
        if (!isOver && exit !== undefined && (clock.now() < exit.notBefore || !canExit(strategy, symbol))) continue;
        waiting.delete(place);
        if (!isOver) ask({ ...leg, at: clock.now() });
      }
    },
    /** A stop was hit, but its exit was refused or not sent: the position is unprotected until it is planned again. */
    leaveAgain(): void {
      for (const { strategy, symbol } of portfolio.subAccounts()) {
        const leg = planner.standing(strategy, symbol);
        if (leg === undefined || !protection.isExiting(strategy, symbol)) {
          denied.delete(`${strategy} ${symbol}`);
          reported.delete(`${strategy} ${symbol}`);
          continue;
        }
        // What else rests, as a take-profit does, is cancelled by the exit.
        const isExiting = portfolio.ordersOf(strategy, symbol).some(({ intent }) => intent.purpose === 'stop');
        if (isExiting) continue;
        report(strategy, symbol, protection.exitReason(strategy, symbol));
        ask({ ...leg, at: clock.now() });
      }
    },
    /** An order found only after a kill, as after a restart, was not there to be cancelled by it. */
    async cancelKilled(): Promise<void> {
      const resting = [...portfolio.orders()].filter(
        ({ state, intent }) => state === 'open' && stoppedBy(book, intent) !== undefined,
      );
      await orders.cancelAll(resting, 'kill');
    },
  };
}

/** Whether two signals ask for the same position. */
const wantsSame = (a: Signal, b: Signal | undefined): boolean =>
  a === b || (a.kind === 'target' && b?.kind === 'target' && sameSize(a.size, b.size));

/** Lets be entered what an exit kept from it for long enough. */
export function letEnterAgain(
  { planner, protection }: Pick<TradingComponents, 'planner' | 'protection'>,
  symbol: string,
  now: number,
): void {
  for (const strategy of protection.release(symbol, now)) planner.sizeAnew(strategy, symbol, now);
}

/** Exits every position that was held for as long as it may be, and lets be entered what an exit kept from it for long enough. */
export function exitOverdue(
  book: Pick<TradingComponents, 'portfolio' | 'planner' | 'protection'>,
  now: number,
  exit: (overdue: Overdue, why: string) => void,
): void {
  for (const symbol of new Set(book.portfolio.subAccounts().map(({ symbol: one }) => one))) {
    letEnterAgain(book, symbol, now);
    for (const one of book.protection.overdue(symbol, now)) exit(one, one.why);
  }
}

/** Entries that have expired: what rests of them is cancelled when they are planned. */
export const expiredLegs = (
  { portfolio, planner }: Pick<TradingComponents, 'portfolio' | 'planner'>,
  now: number,
): readonly Leg[] =>
  [...new Set(portfolio.subAccounts().map(({ symbol }) => symbol))].flatMap((symbol) =>
    planner.expiries.expire(symbol, now),
  );

/**
 * The standing target, which protection turns into an exit, or a flat one where a journal has none. undefined for quotes.
 */
export function exitOf(
  planner: Planner,
  strategy: string,
  symbol: string,
  why: string,
  at: number,
): (Leg & { readonly signal: Target }) | undefined {
  const leg = planner.standing(strategy, symbol);
  const signal = leg?.signal ?? { kind: 'target', size: { quantity: 0 }, reason: why };
  return signal.kind === 'target' ? { strategy, role: leg?.role ?? mainRole, symbol, at, signal } : undefined;
}

/** Without a failed commit for so long the disk counts as no longer full, real ms: a nearly full one takes some commits and refuses others. */
const writableMs = 5_000;

/** Reports once when the disk has filled up, and once when commits have succeeded again for a while. */
export function diskWatch(journal: Journal, clock: Clock, notice: (notice: Notice) => void): () => void {
  let isReported = false;
  let writableSince: number | undefined;
  return () => {
    if (journal.full) {
      writableSince = undefined;
      if (isReported) return;
      isReported = true;
      const text = 'the disk is full: no order is created until there is space, so stops do not work; cancels go on';
      notice({ level: 'error', topic: 'diskFull', text });
    } else if (isReported) {
      writableSince ??= clock.now();
      if (clock.now() - writableSince < clock.machine(writableMs)) return;
      isReported = false;
      writableSince = undefined;
      notice({ level: 'info', text: 'the journal can be written again: orders are created again' });
    }
  };
}
