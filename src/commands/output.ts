/** What a program writes to its terminal, and what it does when whoever reads that is gone: a pipe that ends, a terminal that closes. */
import { escapeText } from '../domain/printable.ts';

/** A line of output, or several. Texts of the exchange and of strategies are in it: `isStyled` says that they are made printable already. */
export const out = (line: string, isStyled = false): void => {
  process.stdout.write(`${isStyled ? line : escapeText(line)}\n`);
};

/** A line about what is done, beside the output. */
export const say = (line: string): void => {
  process.stderr.write(`${escapeText(line)}\n`);
};

/** A line that the next one takes the place of; the cursor waits at its start, so that whatever is said next takes its place, too. */
export const progress = (line: string): void => {
  process.stderr.write(`\u001B[2K${escapeText(line)}\r`);
};

/** Their orders and stops need them, read or not. */
const goOn: ReadonlySet<string | undefined> = new Set(['live', 'paper', 'demo', 'watchdog', 'record']);

/** `sluice fills | head` is at its end then, which is no failure; a daemon goes on without (what it says is in its log as well). */
export function outlivesReaders(command: string | undefined): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (goOn.has(command)) return;
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!goOn.has(command) && error.code !== 'EPIPE') throw error;
  });
}
