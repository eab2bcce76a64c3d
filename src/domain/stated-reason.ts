/** Checks the reason that a command must give for the journal. */
import { Refusal } from './refusal.ts';

/** The longest reason that the daemon accepts, characters. */
export const maxReasonLength = 500;

/** A reason as one line: a second line could look like the program's own text. */
export const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Checks a reason: a blank one would be useless in the journal. */
export function statedReason(text: string, option = '--reason'): string {
  const reason = oneLine(text);
  if (reason === '') throw new Refusal(`${option} is empty: say in a few words why, for the journal`);
  if (reason.length > maxReasonLength)
    throw new Refusal(`${option} has ${reason.length} characters: say it in at most ${maxReasonLength}`);
  return reason;
}
