/** What the shell is told of an error that ended a command. */
import { CommanderError } from 'commander';
import { Refusal } from '../domain/refusal.ts';
import { StoppedEarly } from '../process/signals.ts';

/** Says it, and gives the exit code that it means. */
export function exitCodeOf(error: unknown, say: (line: string) => void): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Refusal) {
    say(`sluice: ${error.message}`);
    return error instanceof StoppedEarly ? 0 : error.exitCode;
  }
  // It can happen at any write, in libraries, too.
  if (error instanceof Error && /ENOSPC|EDQUOT|No space left on device/.test(error.message)) {
    say(`sluice: a disk is full: ${error.message.split('\n')[0]}: make room there, or name another place`);
    return 1;
  }
  say(
    `sluice: this is a bug, please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}
