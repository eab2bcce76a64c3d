/** The command line of `sluice record`. */
import type { Command } from 'commander';
import { dataOption, exchangeOptions, type Io, run, wholeNumber } from '../../terminal/options.ts';

/** Default disk space of recorded frames, MB: months of one symbol. */
const defaultMaxMb = 20_000;

export function addRecord(program: Command, io: Io): void {
  const record = exchangeOptions(program.command('record').description('record the market into the catalogue'))
    .argument('<SYMBOL...>')
    .addOption(dataOption())
    .option('--trades', 'public trades; without any of the three, all are recorded', false)
    .option('--depth', 'full depth', false)
    .option('--klines <I,I,…>', 'closed klines of these intervals (1min)')
    .option('--source <NAME>', "source of the data (the exchange's host)")
    .option('--max-mb <N>', 'maximum disk space of recorded frames, MB', wholeNumber(1, 1e9), defaultMaxMb);
  run(record, io, async () => (await import('./command.ts')).record);
}
