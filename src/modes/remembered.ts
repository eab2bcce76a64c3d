/** What a journal kept, put back into the parts of a trader. */
import { lots, units } from '../domain/money.ts';
import type { Signal } from '../domain/order.ts';
import { restoreFill, restoreOrder } from '../execution/records.ts';
import { finer, type Loaded } from '../journal/load.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection, SavedGuard } from '../portfolio/protect.ts';
import type { RiskOptions } from '../risk/risk.ts';

/** Orders first, then the fills that belong to them, then what protects the positions and what was wished last. */
export function restore(loaded: Loaded, portfolio: Portfolio, protection: Protection, planner: Planner): void {
  for (const row of loaded.orders) portfolio.adopt(restoreOrder(row, portfolio.instrument(row.symbol)));
  for (const row of loaded.fills) {
    const at = finer(row, portfolio.instrument(row.symbol));
    portfolio.apply(restoreFill(row, at), at);
  }
  for (const { strategy, symbol, protection: saved } of loaded.protections) {
    protection.restore(strategy, symbol, JSON.parse(saved) as SavedGuard);
  }
  for (const { goal, ...signal } of loaded.signals) {
    planner.restore(signal satisfies Signal, lots(goal ?? '0', portfolio.instrument(signal.symbol), 'down'));
  }
}

/** Kills in force, and the equity that the last known day began with. */
export function riskMemory(loaded: Loaded): Pick<RiskOptions, 'kills' | 'dayStart' | 'memories'> {
  const kills = loaded.kills.map(({ at, strategy, by, reason }) => ({
    at,
    strategy: strategy ?? undefined,
    by,
    reason,
  }));
  const day = Math.max(...loaded.days.keys());
  const equity = loaded.days.get(day);
  const { memories } = loaded;
  return equity === undefined ? { kills, memories } : { kills, memories, dayStart: { day, equity: units(equity) } };
}
