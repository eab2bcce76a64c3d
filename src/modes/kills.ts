/** What a kill and its end are told as, by a daemon and by a command without one. */
import type { Halted } from '../execution/halt.ts';
import type { KillEntry } from '../journal/entries.ts';

/** What a resume means for the halts that it lifts. */
export const liftedText = (halts: readonly Pick<Halted, 'text'>[]): string =>
  halts.length === 0
    ? ''
    : ` It lifts HALT (${halts.map(({ text }) => text).join('; ')}): what is still wrong halts again.`;

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
