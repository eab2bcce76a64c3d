/** The longest time that each position was without its protection, over restarts, including times that still last. */

import { ByPosition, type PositionKey } from '../../portfolio/by-position.ts';
import type { Unprotected, UnprotectedTime } from '../../trading/unprotected.ts';

/** Its name in the journal's memory. */
export const unprotectedMemory = 'unprotectedPositions';

/** Between two writes while a position is unprotected, real ms: a status is not older than that. */
const writeMs = 15_000;

export interface UnprotectedParts {
  readonly assembled: {
    readonly portfolio: { subAccounts(): readonly PositionKey[] };
    readonly unprotected: Pick<Unprotected, 'of'>;
  };
  readonly clock: { now(): number; machine(realMs: number): number };
  /** What an earlier run wrote down. */
  readonly kept: string | undefined;
  readonly remember: (value: string) => void;
}

export type UnprotectedTimes = ReturnType<typeof unprotectedTimes>;

/** `since` is null where it has ended. `longestAt`: when the longest time ended or was last measured. Times in UTC ms, lengths in ms of the market. */
export type UnprotectedRow = readonly [
  strategy: string,
  symbol: string,
  longestMs: number,
  since: number | null,
  longestAt?: number | null,
];

export function unprotectedTimes({ assembled, clock, kept, remember }: UnprotectedParts) {
  const { portfolio, unprotected } = assembled;
  const times = new ByPosition<UnprotectedTime & { readonly longestAt: number | null }>();
  for (const [strategy, symbol, longestMs, since, longestAt = null] of JSON.parse(kept ?? '[]') as UnprotectedRow[])
    times.set(strategy, symbol, { longestMs, since: since ?? undefined, longestAt });
  const of = (strategy: string, symbol: string): UnprotectedTime =>
    times.get(strategy, symbol) ?? unprotected.of(strategy, symbol);
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    of,
    /** The work of each second, after that of `Unprotected`. */
    update(): void {
      const now = clock.now();
      let [turned, lasts] = [false, false];
      for (const { strategy, symbol } of portfolio.subAccounts()) {
        const known = times.get(strategy, symbol);
        const before = known ?? unprotected.of(strategy, symbol);
        const seen = unprotected.of(strategy, symbol);
        // An earlier run's stretch goes on where this one found it unprotected still.
        const from = Math.min(before.since ?? Number.POSITIVE_INFINITY, seen.since ?? Number.POSITIVE_INFINITY);
        const longestMs = Math.max(before.longestMs, seen.longestMs, Number.isFinite(from) ? now - from : 0);
        const since = seen.since === undefined ? undefined : from;
        if (longestMs === 0 && since === undefined) continue;
        turned ||= (before.since === undefined) !== (since === undefined) || known === undefined;
        lasts ||= since !== undefined;
        const longestAt = longestMs > (known?.longestMs ?? 0) ? now : (known?.longestAt ?? null);
        times.set(strategy, symbol, { longestMs, since, longestAt });
      }
      if (!turned && !(lasts && now - writtenAt >= clock.machine(writeMs))) return;
      writtenAt = now;
      const rows = Array.from(times.entries(), ({ strategy, symbol, value }): UnprotectedRow => {
        const { longestMs, since = null, longestAt } = value;
        return [strategy, symbol, longestMs, since, longestAt];
      });
      remember(JSON.stringify(rows));
    },
  };
}
