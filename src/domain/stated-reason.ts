/** Checks the reason that a command must give for the journal. */
import { Refusal } from './refusal.ts';

/** The longest reason that the daemon accepts, characters. */
export const maxReasonLength = 500;

/** A reason that somebody must state: a blank one would be a row of the journal that says nothing. */
export function statedReason(text: string, option = '--reason'): string {
  const reason = text.trim();
  if (reason === '') throw new Refusal(`${option} is empty: say in a few words why, for the journal`);
  if (reason.length > maxReasonLength)
    throw new Refusal(`${option} has ${reason.length} characters: say it in at most ${maxReasonLength}`);
  return reason;
}
