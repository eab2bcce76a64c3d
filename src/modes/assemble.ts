/** Puts the parts of a trader together, the same way for every mode: only who answers and who moves time differ. */
import type { Observable } from 'rxjs';
import type { Clock } from '../clock/clock.ts';
import { makeClientOrderId, readClientOrderId } from '../domain/ids.ts';
import type { Instrument } from '../domain/instrument.ts';
import { lots, priceText, quantityText, type Rate, units } from '../domain/money.ts';
import type { Account, Fill, Intent, Signal } from '../domain/order.ts';
import { cancel } from '../execution/cancel.ts';
import { type Execution, type Notice, record, type Timing } from '../execution/desk.ts';
import { execute } from '../execution/executor.ts';
import { latestWhenFree } from '../execution/lane.ts';
import { fillRow, restoreFill, restoreOrder } from '../execution/records.ts';
import { recover } from '../execution/recover.ts';
import { Sweeps } from '../execution/sweep.ts';
import type { Journal } from '../journal/journal.ts';
import type { Loaded } from '../journal/load.ts';
import type { Identity } from '../journal/open.ts';
import type { Draft } from '../portfolio/plan.ts';
import { Planner } from '../portfolio/planner.ts';
import { type Allocation, Portfolio } from '../portfolio/portfolio.ts';
import { type ArmedStop, Protection } from '../portfolio/protect.ts';
import type { Kill } from '../risk/kill.ts';
import { Risk } from '../risk/risk.ts';
import type { Limits } from '../risk/rules.ts';
import type { Desk } from '../trader.ts';
import type { OrderEntry } from '../venue/venue.ts';
import { source } from './source.ts';
import { draftText } from './words.ts';

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
  readonly notice: (notice: Notice) => void;
}

/** A desk without its strategies, and what a mode needs beside it. */
export interface Assembled {
  readonly desk: Omit<Desk, 'signals'>;
  readonly portfolio: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
  readonly risk: Risk;
  readonly sweeps: Sweeps;
  readonly execution: Execution;
  /** Fills that were booked, for whoever wants to know. */
  readonly booked: Observable<Fill>;
  /** Resolves once no order is being sent, resolved or cancelled. */
  idle(): Promise<void>;
  /** A stop was reached: the position is left, and stays left while the goal stays the same. */
  hitStop(stop: ArmedStop, why: string): void;
  /** Stops creation, durably, and cancels what rests. */
  kill(kill: Kill): Promise<void>;
  resume(strategy: string | undefined, by: string, reason: string): Promise<void>;
  /** Cancels resting orders, of one strategy or all; returns how many. */
  cancelAll(strategy?: string): Promise<number>;
}

export function assemble(parts: Parts): Assembled {
  const { clock, journal, loaded, orders, account, instruments, notice } = parts;
  const portfolio = new Portfolio(instruments, parts.allocations);
  const protection = new Protection(portfolio, (strategy, symbol, saved) => {
    journal.append({ kind: 'protection', strategy, symbol, protection: saved });
  });
  const planner = new Planner({
    portfolio,
    protection,
    account,
    marketBuyIn: parts.marketBuyIn,
    feeInBase: parts.feeInBase,
    changed({ at, strategy, symbol, want }, goal) {
      journal.append({
        kind: 'signal',
        at,
        strategy,
        symbol,
        want,
        goal: goal === undefined ? null : quantityText(goal, portfolio.instrument(symbol)),
      });
    },
  });
  restore(loaded, portfolio, protection, planner);
  const risk = new Risk({ limits: parts.limits, portfolio, clock, ...riskMemory(loaded) });
  const ids = orderIds(parts.identity);
  const execution: Execution = {
    clock,
    journal,
    portfolio,
    orders,
    account,
    timing: parts.timing,
    readId: ids.read,
    owners: new Map(loaded.owners),
    foreign: new Set(loaded.foreign),
    notice,
  };
  const sweeps = new Sweeps(execution, loaded.cursors);
  const stopped = source<Signal>();
  const booked = source<Fill>();
  const { during, idle } = counting();

  /** Asked again just before an order leaves: a kill in the meantime still counts. */
  function lastHop(intent: Intent): string | undefined {
    const kill = risk.switch.of(intent.strategy);
    if (journal.full) return 'the disk is full';
    return kill === undefined || (kill.by === 'dailyLoss' && intent.purpose === 'stop')
      ? undefined
      : `killed: ${kill.reason}`;
  }

  const desk: Omit<Desk, 'signals'> = {
    recover: () => recover(execution, sweeps, symbolsOf(parts, portfolio)),
    stopped: stopped.stream,
    fills: sweeps.fills,
    note: (signal) => planner.note(signal),
    plan: (signal) => planner.plan(signal),
    judge(draft) {
      const verdict = risk.judge(draft);
      if (verdict.kind === 'denied') {
        const { strategy, symbol, reason } = draft;
        const wanted = draftText(draft, portfolio.instrument(symbol));
        journal.append({
          kind: 'denied',
          at: clock.now(),
          strategy,
          symbol,
          code: verdict.code,
          facts: verdict.facts,
          wanted,
          reason,
        });
      }
      return verdict;
    },
    reserve(draft) {
      const intent = intentOf(draft, ids.next(draft.strategy), clock.now(), parts.orderLifeMs);
      record(execution, portfolio.reserve(intent), 'approved');
      risk.created(draft);
      return intent;
    },
    async execute(intent) {
      const order = portfolio.order(intent.clientOrderId);
      return order === undefined ? 'refused' : during(execute(execution, sweeps, lastHop, order));
    },
    cancel: (order) => during(cancel(execution, sweeps, order)),
    record: (fill) => journal.insertFill(fillRow(fill, portfolio.instrument(fill.symbol))),
    book(fill) {
      portfolio.apply(fill);
      leaveAfterProfit(fill, portfolio, planner, protection);
      booked.emit(fill);
    },
    latestWhenFree: (carryOut) => latestWhenFree(clock, carryOut),
  };

  async function cancelAll(strategy?: string): Promise<number> {
    const resting = [...portfolio.orders()].filter(
      (order) => order.state === 'open' && (strategy === undefined || order.intent.strategy === strategy),
    );
    await Promise.all(resting.map((order) => cancel(execution, sweeps, order)));
    return resting.length;
  }

  return {
    desk,
    portfolio,
    planner,
    protection,
    risk,
    sweeps,
    execution,
    booked: booked.stream,
    idle,
    hitStop({ strategy, symbol }, why) {
      const signal = planner.standing(strategy, symbol);
      if (signal?.want.kind !== 'target') return;
      protection.leave(strategy, symbol, signal.want.goal, why);
      stopped.emit({ ...signal, at: clock.now() });
    },
    async kill(kill) {
      if (!risk.switch.inForce.includes(kill)) risk.switch.kill(kill);
      journal.append({ kind: 'kill', at: kill.at, strategy: kill.strategy ?? null, by: kill.by, reason: kill.reason });
      await journal.durable();
      await cancelAll(kill.strategy);
    },
    async resume(strategy, by, reason) {
      risk.resume(strategy);
      journal.append({ kind: 'resume', at: clock.now(), strategy: strategy ?? null, by, reason });
      await journal.durable();
    },
    cancelAll,
  };
}

/** Counts work that is under way. */
function counting(): { during<T>(work: Promise<T>): Promise<T>; idle(): Promise<void> } {
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

/** Client order ids: proven ones where there is a journal, counted ones in memory. */
function orderIds(identity: Identity | undefined): {
  next(strategy: string): string;
  read(id: string): { strategy: string } | undefined;
} {
  let sequence = 0;
  if (identity === undefined) return { next: () => `b${String(sequence++).padStart(9, '0')}`, read: () => undefined };
  const { instance, epoch, idKey, strategies } = identity;
  const names = new Map([...strategies].map(([id, number]) => [number, id]));
  return {
    next: (strategy) =>
      makeClientOrderId({ instance, epoch, strategy: strategies.get(strategy) ?? 0, sequence: sequence++ }, idKey),
    read(id) {
      const parts = readClientOrderId(id, idKey);
      return parts === undefined ? undefined : { strategy: names.get(parts.strategy) ?? `strategy ${parts.strategy}` };
    },
  };
}

/** Puts back what a journal kept: orders first, then the fills that belong to them, then what protects the positions. */
function restore(loaded: Loaded, portfolio: Portfolio, protection: Protection, planner: Planner): void {
  for (const row of loaded.orders) portfolio.adopt(restoreOrder(row, portfolio.instrument(row.symbol)));
  for (const row of loaded.fills) portfolio.apply(restoreFill(row, portfolio.instrument(row.symbol)));
  for (const { strategy, symbol, protection: saved } of loaded.protections)
    protection.restore(strategy, symbol, JSON.parse(saved) as Record<string, string>);
  for (const signal of loaded.signals)
    planner.restore(signal, lots(signal.goal ?? '0', portfolio.instrument(signal.symbol)));
}

function riskMemory(loaded: Loaded): {
  kills: readonly Kill[];
  dayStart?: { day: number; equity: ReturnType<typeof units> };
} {
  const kills = loaded.kills.map(({ at, strategy, by, reason }) => ({
    at,
    strategy: strategy ?? undefined,
    by,
    reason,
  }));
  const latest = Math.max(...loaded.days.keys());
  const equity = loaded.days.get(latest);
  return equity === undefined ? { kills } : { kills, dayStart: { day: latest, equity: units(equity) } };
}

/** Every symbol that is traded now or was before. */
const symbolsOf = (parts: Parts, portfolio: Portfolio): Iterable<string> =>
  new Set([...portfolio.places().map(({ symbol }) => symbol), ...parts.loaded.cursors.keys()]);

/** A position that its take-profit closed stays closed while the strategy goes on wishing the same goal. */
export function leaveAfterProfit(fill: Fill, portfolio: Portfolio, planner: Planner, protection: Protection): void {
  if (fill.purpose !== 'takeProfit') return;
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
