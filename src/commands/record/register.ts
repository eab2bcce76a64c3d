/** The command line of `sluice record`. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Io, reaching } from '../manual/register.ts';

/** What frames may take on the disk unless something else is said, MB: months of one symbol. */
export const usualMostMb = 20_000;

function megabytes(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1e9)
    throw new InvalidArgumentError('must be a whole number above 0');
  return value;
}

/** Adds `record`. */
export function addRecord(program: Command, io: Io): void {
  reaching(program.command('record').description('record the market into the catalogue'))
    .argument('<SYMBOL...>')
    .option('--data <DIR>', 'the folder of the catalogue', 'var/data')
    .option('--trades', 'public trades; without any of the three, all are recorded', false)
    .option('--depth', 'full depth', false)
    .option('--klines <I,I,…>', 'closed klines of these intervals (1min)')
    .option('--source <NAME>', "source of the data (the exchange's host)")
    .option('--most-mb <N>', 'maximum disk space of recorded frames, MB', megabytes, usualMostMb)
    .action(async (symbols: readonly string[], given) =>
      (await import('./command.ts')).record(symbols, { ...given, ...io, environment: process.env }),
    );
}
