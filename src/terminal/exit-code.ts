/** Exit codes of errors that end a program. */
import { CommanderError } from 'commander';
import { causeOf, isNoSpace, Refusal } from '../domain/refusal.ts';
import { isEnvironmentError } from '../domain/system-errors.ts';
import { StoppedEarly } from '../process/signals.ts';

/** Prints an error, and returns its exit code. */
export function exitCodeOf(error: unknown, say: (line: string) => void, program = 'sluice'): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Refusal) {
    say(`${program}: ${error.message}`);
    return error instanceof StoppedEarly ? 0 : error.exitCode;
  }
  if (isNoSpace(error))
    say(`${program}: a disk is full: ${error.message.split('\n')[0]}: make room there, or name another folder`);
  else if (isEnvironmentError(error)) say(`${program}: ${causeOf(error)}`);
  else
    say(
      `${program}: this is a bug, please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  return 1;
}
