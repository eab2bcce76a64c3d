/** Advice about klines at wrong times. */
import { changingPlace } from '../time-zones.ts';
import { lengthText } from './finding.ts';

const hourMs = 3_600_000;
const quarterMs = hourMs / 4;

/** For klines `lengthMs` long of which some, or all, are off their grid by `offsetMs`, undefined where it differs. */
export function gridAdvice(lengthMs: number, isAll: boolean, offsetMs: number | undefined): string {
  if (!isAll)
    return 'rows of a smaller interval among these? split the file by interval, or give the one they have (--interval)';
  if (offsetMs === undefined) return 'give the interval they have (--interval)';
  if (lengthMs - offsetMs <= 1_000) return 'these are ends of klines: say so (--stamps close)';
  const late = `each is ${lengthText(offsetMs)} late`;
  const hours = (lengthMs - offsetMs) / hourMs;
  return offsetMs % quarterMs === 0 && hours <= 14
    ? `${late}: days of another time zone (UTC+${hours}); fetch days of UTC or smaller klines`
    : `${late}: times of something else than openings, such as of last trades; fetch them with their openings`;
}

/** For two different klines of one time, UTC ms or local. */
export function contradictionAdvice(time: number | undefined, lengthMs: number): string {
  const place = time === undefined || lengthMs !== hourMs ? undefined : changingPlace(time, 'back');
  const edit = 'remove the line of the wrong one from the file';
  return place === undefined
    ? `${edit}; --repair does not choose between them`
    : `clocks of ${place} show this hour twice in autumn: if these are local times, say of which place (--zone ${place}), or export them in UTC; else ${edit}`;
}

const names = ['open', 'high', 'low', 'close', 'volume'];

/** The values in which a row differs from the one before it. */
export const differencesText = (row: readonly number[], before: readonly number[]): string =>
  row
    .flatMap((value, at) =>
      value === before[at] ? [] : [`${names[at] ?? ''} ${value}, in the row before it ${before[at]}`],
    )
    .join('; ');
