/** The command line of `sluice-withdraw`, a program of its own: nothing that trades can reach what it does. */
import { Command } from 'commander';
import { Refusal } from '../domain/refusal.ts';
import { opensNoDebugger } from '../process/signals.ts';
import { exitCodeOf } from '../terminal/exit-code.ts';
import { restOptions, wholeNumber } from '../terminal/options.ts';
import { out, say } from '../terminal/output.ts';

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

const program = new Command('sluice-withdraw')
  .description('Withdrawals: apply for one, with a typed confirmation, and list their states')
  .showHelpAfterError('(sluice-withdraw --help)')
  .showSuggestionAfterError()
  .exitOverride();

const common = (name: string, about: string): Command =>
  restOptions(program.command(name).description(about)).option(
    '--state <DIR>',
    'directory of the journal of withdrawals (the same for every working directory)',
  );

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
  .option('--page <N>', 'from 1 on', wholeNumber(1, 1_000_000))
  .action(async (given) => (await import('./withdraw.ts')).list({ ...given, ...io }));

try {
  await program.parseAsync();
} catch (error) {
  const code = exitCodeOf(error, say, 'sluice-withdraw');
  process.exitCode = stopping.signal.aborted && error instanceof Refusal ? 130 : code;
}
