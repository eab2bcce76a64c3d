/** The command lines of `sluice simulator`. */
import { type Command, Option } from 'commander';
import { type Io, jsonOption, run, speed, wholeNumber } from '../../terminal/options.ts';

export function addSimulator(program: Command, io: Io): void {
  const port = wholeNumber(0, 65_535);
  const simulator = program
    .command('simulator')
    .description('the built-in exchange, for tests and demos')
    .option('--port <N>', 'the port (0: any free one)', port, 8_790)
    .option('--speed <N>', 'times real time (60 for crash-2020, 1 for others)', speed)
    .option(
      '--scenario <NAMES>',
      'the markets: crash-2020, tape-2024, synthetic, empty, or several with commas between',
      'crash-2020',
    )
    .option('--markets <FILE>', 'a file (YAML) of markets and settings of the exchange, instead of a scenario')
    .addOption(
      new Option('--profile <NAME>', 'the specification, or the quirks of live deployments')
        .choices(['documented', 'observed'])
        .default('documented'),
    )
    .option('--persist <PATH>', 'directory or .db file for accounts, orders, trades and market time (var/simulator)')
    .addOption(new Option('--state <DIR>', 'the same as --persist').conflicts('persist'))
    .option('--fresh', 'delete the state of earlier runs', false)
    .option('--faults <NAME>', 'faults: the name of a plan (a wrong name lists them), or a file of fault rules (YAML)')
    .option('--control <PORT>', 'open the control address on this machine (0: any free port)', port)
    .option('--log <FILE>', 'append the truth log to this file')
    .option('--seed <N>', 'seed of everything random', wholeNumber(0, 4_294_967_295), 1)
    .addOption(jsonOption());
  run(simulator, io, async () => (await import('./simulator.ts')).simulate);
  const report = simulator
    .command('report')
    .description('mistakes of a client, from a truth log')
    .argument('<FILE>', 'the file that --log wrote');
  run(report, io, async () => (await import('./report.ts')).showReport);
}
