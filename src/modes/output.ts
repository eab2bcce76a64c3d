/** What a program does when whoever reads its output is gone: a pipe that ends, a terminal that closes. */

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
