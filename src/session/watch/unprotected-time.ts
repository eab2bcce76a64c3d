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
  const places = new ByPosition<UnprotectedTime>();
  const longestAts = new ByPosition<number>();
  for (const [strategy, symbol, longestMs, since, longestAt] of JSON.parse(kept ?? '[]') as readonly UnprotectedRow[]) {
    places.set(strategy, symbol, { longestMs, since: since ?? undefined });
    if (longestAt != null) longestAts.set(strategy, symbol, longestAt);
  }
  const of = (strategy: string, symbol: string): UnprotectedTime =>
    places.get(strategy, symbol) ?? unprotected.of(strategy, symbol);
  let writtenAt = Number.NEGATIVE_INFINITY;
  return {
    of,
    /** The work of each second, after that of `Unprotected`. */
    update(): void {
      const now = clock.now();
      let [turned, lasts] = [false, false];
      for (const { strategy, symbol } of portfolio.subAccounts()) {
        const before = of(strategy, symbol);
        const seen = unprotected.of(strategy, symbol);
        // An earlier run's stretch goes on where this one found it unprotected still.
        const from = Math.min(before.since ?? Number.POSITIVE_INFINITY, seen.since ?? Number.POSITIVE_INFINITY);
        const longestMs = Math.max(before.longestMs, seen.longestMs, Number.isFinite(from) ? now - from : 0);
        const since = seen.since === undefined ? undefined : from;
        if (longestMs === 0 && since === undefined) continue;
        turned ||= (before.since === undefined) !== (since === undefined) || places.get(strategy, symbol) === undefined;
        lasts ||= since !== undefined;
        if (longestMs > (places.get(strategy, symbol)?.longestMs ?? 0)) longestAts.set(strategy, symbol, now);
        places.set(strategy, symbol, { longestMs, since });
      }
      if (!turned && !(lasts && now - writtenAt >= clock.machine(writeMs))) return;
      writtenAt = now;
      const rows: readonly UnprotectedRow[] = [...places.entries()].map(({ strategy, symbol, value }) => [
        strategy,
        symbol,
        value.longestMs,
        value.since ?? null,
        longestAts.get(strategy, symbol) ?? null,
      ]);
      remember(JSON.stringify(rows));
    },
  };
}
