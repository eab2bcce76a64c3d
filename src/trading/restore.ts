/** What a journal kept, put back into the parts of a trader. */

import type { KeptState, Memory } from '../domain/memory.ts';
import { lots, units } from '../domain/money.ts';
import { type Leg, sizeValue } from '../domain/order.ts';
import type { Ledger } from '../execution/ledger.ts';
import { restoreOrder } from '../execution/records.ts';
import { restoreFill } from '../journal/fill-entries.ts';
import type { Journal } from '../journal/journal.ts';
import { finer, type Loaded } from '../journal/load.ts';
import type { Extremes } from '../portfolio/held-klines.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection, SavedGuard } from '../portfolio/protection.ts';
import type { KeptEntry } from '../portfolio/standing.ts';
import type { SubAccount } from '../portfolio/sub-account.ts';
import type { RiskOptions } from '../risk/risk.ts';

/** What is put back together. */
export interface Restored {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  readonly planner: Planner;
  /** What others' trades moved is booked again from the evidence; here it gets what our fills moved. */
  readonly ledger: Pick<Ledger, 'own'> | undefined;
}

/** Orders first, then the fills that belong to them, then the protection of positions and the last signals. */
export function restore(loaded: Loaded, { portfolio, protection, planner, ledger }: Restored): void {
  for (const row of loaded.orders) portfolio.adopt(restoreOrder(row, portfolio.instrument(row.symbol)));
  // There may be a million of them: one reading of each serves all.
  for (const row of loaded.past.fills()) {
    const at = finer(row, portfolio.instrument(row.symbol));
    const fill = restoreFill(row, at);
    portfolio.apply(fill, at);
    ledger?.own(fill, at);
  }
  restorePositions(loaded, portfolio);
  for (const { strategy, symbol, protection: saved } of loaded.protections) {
    protection.restore(strategy, symbol, JSON.parse(saved) as SavedGuard);
  }
  for (const { quantity, decision, memory: _, ...leg } of loaded.signals) {
    const entry = loaded.memories.get(entryName(leg));
    planner.restore(
      leg satisfies Leg,
      lots(quantity ?? '0', portfolio.instrument(leg.symbol), 'down'),
      decision,
      entry === undefined ? {} : (JSON.parse(entry) as KeptEntry),
    );
  }
  for (const [name, value] of loaded.memories)
    if (name.startsWith(memoryPrefix))
      planner.memories.restore(name.slice(memoryPrefix.length), { memory: JSON.parse(value) as Memory });
    else if (name.startsWith(askedPrefix))
      planner.memories.restore(name.slice(askedPrefix.length), { askedAt: Number(value) });
}

/** How the names begin in the journal under which memories are kept, and when strategies were asked. */
const memoryPrefix = 'strategy ';
const askedPrefix = 'asked ';

/** Journals what is kept of a strategy. That of a backtest ends with it. */
export const keepingMemories =
  (journal: Pick<Journal, 'append' | 'volatile'>) =>
  (strategy: string, { memory, askedAt }: KeptState): void => {
    if (journal.volatile) return;
    const keep = (name: string, value: string): void => journal.append({ kind: 'memory', name, value });
    if (memory !== undefined) keep(`${memoryPrefix}${strategy}`, JSON.stringify(memory));
    if (askedAt !== undefined) keep(`${askedPrefix}${strategy}`, String(askedAt));
  };

/** The name of what is kept of an entry in the journal. */
const entryName = ({ strategy, symbol }: Pick<Leg, 'strategy' | 'symbol'>): string => `entry ${strategy} ${symbol}`;

/** Journals when an entry expires, since a signal that only moves its stop has another time, and where its limit was moved to. */
export const keepingEntries =
  (journal: Pick<Journal, 'append' | 'volatile'>) =>
  (leg: Leg, entry: KeptEntry): void => {
    if (!journal.volatile) journal.append({ kind: 'memory', name: entryName(leg), value: JSON.stringify(entry) });
  };

/** The name of a position's extremes in the journal. */
const extremesName = ({ strategy, instrument: { symbol } }: SubAccount): string => `extremes ${strategy} ${symbol}`;

/** Journals the best and the worst price of positions: the klines of a long one would take long to load at a start. */
export const keepingExtremes =
  (journal: Pick<Journal, 'append' | 'volatile'>) =>
  (subAccount: SubAccount): void => {
    const { extremes, enteredAt } = subAccount;
    if (journal.volatile || extremes === undefined) return;
    const { top, bottom } = extremes;
    journal.append({
      kind: 'memory',
      name: extremesName(subAccount),
      value: JSON.stringify({ enteredAt, top, bottom }),
    });
  };

/** What fills alone do not say of positions: their extremes, and why the last was closed. */
function restorePositions({ memories, past }: Loaded, portfolio: Portfolio): void {
  for (const subAccount of portfolio.subAccounts()) {
    const { closedBy } = subAccount;
    if (closedBy?.purpose === 'stop')
      subAccount.closedBy = { ...closedBy, why: closedBy.why ?? past.reasonOf(closedBy.clientOrderId) };
    const text = memories.get(extremesName(subAccount));
    if (text === undefined) continue;
    const { enteredAt, top, bottom } = JSON.parse(text) as Extremes & Pick<SubAccount, 'enteredAt'>;
    if (enteredAt === subAccount.enteredAt)
      subAccount.restoreExtremes({ entryNumber: subAccount.entryNumber, top, bottom });
  }
}

/** Kills and pauses in force, and the equity that the last known day began with. */
export function riskMemory(loaded: Loaded): Pick<RiskOptions, 'kills' | 'dayStart' | 'memories'> {
  const kills = loaded.kills.map(({ kind, strategy, ...kill }) => ({
    ...kill,
    kind: kind === 'pause' ? ('pause' as const) : ('kill' as const),
    strategy: strategy ?? undefined,
  }));
  const day = Math.max(...loaded.days.keys());
  const equity = loaded.days.get(day);
  const { memories } = loaded;
  return equity === undefined ? { kills, memories } : { kills, memories, dayStart: { day, equity: units(equity) } };
}

/**
 * Whether an order is missing that the last signal of an earlier run asked for. Exits, and what enters again after one, are carried out without
 * the strategy.
 */
export function isCutOff(
  {
    planner,
    protection,
  }: { readonly planner: Pick<Planner, 'at' | 'plan'>; readonly protection: Pick<Protection, 'isExiting'> },
  leg: Leg,
): boolean {
  const { strategy, symbol, signal } = leg;
  if (signal.kind !== 'target' || planner.at(strategy, symbol)?.lots === undefined) return false;
  if (protection.isExiting(strategy, symbol)) return false;
  const step = planner.plan({ legs: [leg] });
  if (step?.do !== 'create') return step !== undefined && sizeValue(signal.size) === 0;
  return step.draft.purpose === 'enter' || step.draft.purpose === 'exit';
}
