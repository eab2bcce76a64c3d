/** Rows that lie after the present. */
import { type Frame, frameClose } from '../resample.ts';
import { type Finding, momentText } from './finding.ts';

/** So much the clock of a source may be ahead of this machine's. */
const slackMs = 5_000;

/** Of rows of which the last is of `last` (UTC ms), of klines the opening. */
export function futureFinding(last: number, frame: Frame | undefined, now: number): readonly Finding[] {
  const end = frame === undefined ? last : frameClose(frame, last);
  if (!(end > now + slackMs)) return [];
  const isBegun = frame !== undefined && last <= now;
  return [
    {
      check: 'future',
      count: 1,
      refused: false,
      // What is found is kept: the day makes it true ever after.
      what: isBegun
        ? 'the last kline is not over yet'
        : `times reach to ${momentText(last)}, which on ${momentText(now).slice(0, 10)} is still to come`,
      effect: isBegun
        ? 'it is stored as it stood: import it again when it is over'
        : 'they are dated wrong, or made up',
      places: isBegun ? [{ time: last }] : [],
    },
  ];
}
