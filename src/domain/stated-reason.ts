/** Checks the reason that a command must give for the journal. */
import { Refusal } from './refusal.ts';

/** The longest reason that the daemon accepts, characters. */
export const maxReasonLength = 500;

/** A reason is one line: a second one could pass for the program's own text. */
export const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** A reason that somebody must state: a blank one would be a row of the journal that says nothing. */
export function statedReason(text: string, option = '--reason'): string {
  const reason = oneLine(text);
  if (reason === '') throw new Refusal(`${option} is empty: say in a few words why, for the journal`);
  if (reason.length > maxReasonLength)
    throw new Refusal(`${option} has ${reason.length} characters: say it in at most ${maxReasonLength}`);
  return reason;
}
