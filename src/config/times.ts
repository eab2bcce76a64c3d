/** Moments as people write them, in configurations and options. */

/** What `momentOf` takes, for a message. */
export const momentWanted =
  'a date such as 2020-03-12 or 2020-03-12T08:00:00Z: a day that the calendar has, from 1990 on';

/** No market that is traded here is older: an earlier year is a slip of the keys. */
const earliest = 1990;
const spelt =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))?)?$/;

/**
 * UTC ms; NaN for what is none. Without a zone it is UTC, as everywhere: `Date.parse` would take it for local time, and a run would
 * differ from machine to machine; it would take 30 February for 1 March, too.
 */
export function momentOf(text: string): number {
  const parts = spelt.exec(text);
  if (parts === null) return Number.NaN;
  const at = (place: number): number => Number(parts[place] ?? 0);
  const [year, month, day, hour, minute, second] = [at(1), at(2), at(3), at(4), at(5), at(6)];
  if (year < earliest || hour > 23 || minute > 59 || second > 59 || at(9) > 14 || at(10) > 59) return Number.NaN;
  const local = Date.UTC(year, month - 1, day, hour, minute, second, Number((parts[7] ?? '').padEnd(3, '0')));
  const back = new Date(local);
  if (back.getUTCMonth() !== month - 1 || back.getUTCDate() !== day) return Number.NaN;
  return local - (parts[8] === '-' ? -1 : 1) * (at(9) * 60 + at(10)) * 60_000;
}
