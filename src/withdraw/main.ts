/** The command line of `sluice-withdraw`, a program of its own: nothing that trades can reach what it does. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { speed } from '../commands/manual/register.ts';
import { out, say } from '../commands/output.ts';
import { Refusal } from '../domain/refusal.ts';
import { opensNoDebugger } from '../process/signals.ts';

// The journal of withdrawals is for its owner alone.
process.umask(0o077);
opensNoDebugger('sluice-withdraw');

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    // What was sent is in the journal as such: the next start asks about it.
    if (stopping.signal.aborted) process.exit(130);
    // The launcher passes a signal on unless it knows that we had it ourselves.
    if (process.connected) process.send?.(signal);
    stopping.abort();
  });
const io = { out, say, signal: stopping.signal, environment: process.env };

function pageNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000_000)
    throw new InvalidArgumentError('must be a whole number from 1');
  return value;
}

const program = new Command('sluice-withdraw')
  .description('Withdrawals: apply for one, with a typed confirmation, and list their states')
  .showHelpAfterError('(sluice-withdraw --help)')
  .showSuggestionAfterError()
  .exitOverride();

const common = (name: string, about: string): Command =>
  program
    .command(name)
    .description(about)
    .option('--config <FILE>', 'the configuration of a daemon: its address and limits')
    .option('--url <URL>', 'the REST address, instead of --config')
    .option('--strip-prefix <PATH>', 'path prefix that a gateway removes before it verifies signatures')
    .option('--speed <N>', 'speed of a built-in exchange, which it prints at its start (1)', speed)
    .option('--state <DIR>', 'directory of the journal of withdrawals (the same for every working directory)')
    .option('--json', 'machine output on stdout; everything else goes to stderr', false);

common('apply', 'apply for a withdrawal; asks to type amount and address, and is sent once')
  .requiredOption(
    '--asset <NAME>',
    "the currency as the exchange names it, with the chain's name where there are several",
  )
  .requiredOption('--amount <AMOUNT>', 'how much')
  .requiredOption('--address <ADDRESS>', 'where to; it must be in the allow-list')
  .option('--label <LABEL>', 'memo or tag, for currencies that use one')
  .option('--id <ID>', 'your own id; a used id is never sent again')
  .option(
    '--allow-list <FILE>',
    'addresses that may be used: CURRENCY ADDRESS [LABEL] a line',
    'withdraw-addresses.txt',
  )
  .action(async (given) => (await import('./withdraw.ts')).apply({ ...given, ...io }));

common('list', 'what became of withdrawals')
  .option('--asset <NAME>', 'only this currency')
  .option('--id <ID>', 'only your id')
  .option('--since <DAY>', 'back to this day, such as 2026-01-31 (90 days)')
  .option('--page <N>', 'from 1 on', pageNumber)
  .action(async (given) => (await import('./list.ts')).list({ ...given, ...io }));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (error instanceof Refusal) {
    say(`sluice-withdraw: ${error.message}`);
    process.exitCode = stopping.signal.aborted ? 130 : error.exitCode;
  } else {
    say(
      `sluice-withdraw: this is a bug, please report it: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    process.exitCode = 1;
  }
}
