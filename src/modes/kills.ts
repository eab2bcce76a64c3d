/** What a kill and its end are told as, by a daemon and by a command without one. */
import type { KillEntry } from '../journal/entries.ts';

/** `where` is the state directory when no daemon runs on it. */
export function resumedText(
  strategy: string | undefined,
  standing: readonly Pick<KillEntry, 'strategy' | 'reason'>[],
  where = '',
): string {
  const whom = strategy ?? 'Everything';
  const still = standing.find((kill) => strategy === undefined || kill.strategy === null || kill.strategy === strategy);
  if (still === undefined) return `${whom} may create orders again${where}; the daily loss is measured from now on.`;
  return `${whom} may not create orders yet${where}: everything is killed (${still.reason}). To lift that, too: sluice resume without --strategy.`;
}
