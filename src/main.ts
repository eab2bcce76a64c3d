/** The command line: parse, choose what to run, signals, exit code. Everything heavy is loaded by the command that needs it. */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { rulesOption } from './commands/backtest/rules-option.ts';
import { addDecisions } from './commands/control/register.ts';
import { addData } from './commands/data/register.ts';
import { refusesEarlyEnd } from './commands/early-end.ts';
import { exitCodeOf } from './commands/exit-code.ts';
import { addJournal } from './commands/journal/register.ts';
import { addByHand, speed } from './commands/manual/register.ts';
import { jsonOption, stateOption } from './commands/options.ts';
import { out, outlivesReaders, progress, say } from './commands/output.ts';
import { addRecord } from './commands/record/register.ts';
import { addRuns, runsOption } from './commands/runs/register.ts';
import type { ShowOptions } from './commands/show/show.ts';
import { Refusal } from './domain/refusal.ts';
import { stopsOnSignals } from './process/signals.ts';

outlivesReaders(process.argv[2]);

// Journals, logs, locks and what libraries write beside them: nothing of a run is for others to read.
process.umask(0o077);

const stopping = stopsOnSignals(process.argv[2]);
const through = refusesEarlyEnd(say);

const packageFile = (): string => {
  const here = new URL(import.meta.url);
  return readFileSync(
    new URL(here.pathname.includes('/dist/') ? '../../package.json' : '../package.json', here),
    'utf8',
  );
};
const version = (): string => (JSON.parse(packageFile()) as { version: string }).version;

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
    return value;
  };
const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

const program = new Command('sluice')
  .description('Algorithmic trading: one path from kline to fill row, live, on paper and over recorded data')
  .version(version())
  .showHelpAfterError('(sluice --help, or sluice COMMAND --help)')
  .showSuggestionAfterError()
  .configureOutput({ writeErr: (text) => process.stderr.write(text) })
  .exitOverride();

const logOption = (): Option =>
  new Option('--log-level <LEVEL>', 'level of the log in the state directory')
    .choices(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info');
const configOption = (): Option => new Option('--config <FILE>', 'the configuration');
/** Asked for here: commander would ask for it before it tells that `--cofig` is no option. */
function withConfig<T extends { readonly config?: string }>(
  command: string,
  given: T,
): T & { readonly config: string } {
  if (given.config === undefined)
    throw new Refusal(
      `${command} needs a configuration: --config FILE, such as --config config/${command === 'doctor' || command === 'watchdog' ? 'live' : command}.yaml`,
    );
  return { ...given, config: given.config };
}

/** A command that reads a journal. */
function reading(name: string, about: string): Command {
  return program.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
}
const showOptions = (given: { state?: string; json: boolean }): ShowOptions => ({ ...given, out, say });

program
  .command('demo')
  .description('a live daemon on the built-in exchange with recorded data and a dashboard')
  .addOption(
    new Option('--scenario <NAME>', 'which recorded market').choices(['crash-2020', 'tape-2024']).default('crash-2020'),
  )
  .option('--speed <N>', 'times real time (60 for crash-2020, 1 for tape-2024)', speed)
  .option('--port <N>', "the dashboard's port (0: any free one)", whole(0, 65_535), 0)
  .option(
    '--faults <NAME>',
    'faults of the exchange: the name of a plan (a wrong name lists them), or a file of fault rules (default: one create in fifty is answered with a 504 after it was accepted)',
  )
  .option('--fresh', 'delete the positions and the market time of earlier runs', false)
  .addOption(stateOption())
  .addOption(jsonOption())
  .addOption(logOption())
  .action(async (given) =>
    (await import('./commands/demo/demo.ts')).demo({ ...given, out, say, signal: stopping.signal }),
  );

for (const [name, about] of [
  ['live', 'trade on the exchange'],
  ['paper', "trade on the exchange's market with simulated fills"],
] as const) {
  const command = program
    .command(name)
    .description(about)
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(new Option('--set <PATH=VALUE>', 'change a value of the configuration').argParser(collect).default([]))
    .addOption(jsonOption())
    .addOption(logOption());
  if (name === 'live') command.option('--accept-restored <REASON>', 'accept a restored or missing journal');
  command.action(async (given) =>
    (await import('./session/daemon.ts')).daemon({
      ...withConfig(name, given),
      mode: name,
      out,
      say,
      signal: stopping.signal,
    }),
  );
}

program
  .command('backtest')
  .description('run strategies over recorded klines')
  .addOption(configOption())
  .addOption(new Option('--set <PATH=VALUE>', 'change a value of the configuration').argParser(collect).default([]))
  .addOption(rulesOption())
  .option('--stress', 'also run with doubled fees, tripled latency and signals one kline later', false)
  .option('--report [FILE]', 'write an HTML report; default name: that of the run')
  .option('--csv <DIR>', 'write orders, fills, equity and stops as CSV')
  .option('--no-save', 'do not save this run, nor count it as a trial')
  .addOption(
    new Option('--grid <PARAM=VALUES>', 'every combination of values: fast=5..24, slow=30..75:5, mode=a,b')
      .argParser(collect)
      .default([])
      .conflicts(['stress']),
  )
  .option('--workers <N>', 'threads of a grid (the number of cores)', whole(1, 256))
  .addOption(
    new Option('--all [DIR]', 'compare every configuration of a folder with its expectations')
      .preset('backtests')
      .conflicts(['config', 'grid', 'stress', 'report', 'csv', 'rules']),
  )
  .option('--accept', 'with --all: save the results as expectations', false)
  .addOption(runsOption())
  .addOption(jsonOption())
  .action(async ({ save, runs, grid, all, accept, rules, ...given }) => {
    if (rules !== undefined) given.set = [...given.set, `rules=${rules}`];
    if (accept && all === undefined) throw new Refusal('--accept is for scenarios: give --all, or leave it out');
    if (all !== undefined)
      return (await import('./commands/backtest/expectations.ts')).checkAll({
        ...given,
        dir: all,
        accept,
        run: async (config) => {
          const printed: string[] = [];
          const { backtest } = await import('./commands/backtest/backtest.ts');
          await backtest({ ...given, config, json: true, out: (line) => void printed.push(line), say: () => {} });
          return printed.join('');
        },
        signal: stopping.signal,
        out,
        say,
      });
    const kept = save === true ? { runs } : { ledger: runs };
    (await import('./commands/writable.ts')).refuseUnwritable({ ...given, ...kept });
    if (grid.length > 0)
      return (await import('./commands/grid/command.ts')).gridBacktest({
        ...withConfig('backtest', given),
        grid,
        ...kept,
        ...(process.stderr.isTTY ? { progress } : {}),
        sluice: version(),
        signal: stopping.signal,
        out,
        say,
      });
    return (await import('./commands/backtest/backtest.ts')).backtest({
      ...withConfig('backtest', given),
      ...kept,
      sluice: version(),
      signal: stopping.signal,
      out,
      say,
    });
  });
addRuns(program, { out, say });
program
  .command('check')
  .description('check a strategy for look-ahead and measure its warm-up')
  .argument('<STRATEGY>', 'a shipped strategy, a file, or with --config the id of a configured one')
  .addOption(configOption())
  .addOption(new Option('--set <PATH=VALUE>', 'change a value of the configuration').argParser(collect).default([]))
  .addOption(jsonOption())
  .action(async (strategy: string, given) =>
    (await import('./commands/check/command.ts')).check({ ...given, strategy, signal: stopping.signal, out, say }),
  );

const simulator = program
  .command('simulator')
  .description('the built-in exchange, for tests and demos')
  .option('--port <N>', 'the port (0: any free one)', whole(0, 65_535), 8_790)
  .option('--speed <N>', 'times real time (60 for crash-2020, 1 for others)', speed)
  .option(
    '--scenario <NAMES>',
    'the markets: crash-2020, tape-2024, synthetic, empty, or several with commas between',
    'crash-2020',
  )
  .option('--markets <FILE>', 'a file (YAML) of markets and settings of the exchange, instead of a scenario')
  .addOption(
    new Option('--profile <NAME>', 'the specification, or the habits of live deployments')
      .choices(['documented', 'observed'])
      .default('documented'),
  )
  .option('--persist <PATH>', 'directory or .db file for accounts, orders, trades and market time (var/simulator)')
  .addOption(new Option('--state <DIR>', 'the same as --persist').conflicts('persist'))
  .option('--fresh', 'delete the state of earlier runs', false)
  .option('--faults <NAME>', 'faults: the name of a plan (a wrong name lists them), or a file of fault rules (YAML)')
  .option('--control <PORT>', 'open the control address on this machine (0: any free port)', whole(0, 65_535))
  .option('--log <FILE>', 'append the truth log to this file')
  .option('--seed <N>', 'seed of everything random', whole(0, 4_294_967_295), 1)
  .addOption(jsonOption())
  .action(async ({ state, ...given }) =>
    (await import('./commands/simulator/simulator.ts')).simulate({
      persist: state,
      ...given,
      out,
      say,
      signal: stopping.signal,
    }),
  );
simulator
  .command('report')
  .description('mistakes of a client, from a truth log')
  .argument('<FILE>', 'the file that --log wrote')
  .action(async (file: string, _given, command: Command) =>
    (await import('./commands/simulator/report.ts')).showReport(file, {
      json: command.optsWithGlobals<{ json: boolean }>().json,
      out,
    }),
  );

reading('orders', 'every order and its state').action(async (given) =>
  (await import('./commands/show/show.ts')).showOrders(showOptions(given)),
);
reading('fills', 'every fill, one row each').action(async (given) =>
  (await import('./commands/show/show.ts')).showFills(showOptions(given)),
);
reading('positions', 'what each strategy holds').action(async (given) =>
  (await import('./commands/show/show.ts')).showPositions(showOptions(given)),
);
reading('status', 'what runs where, open orders, unknown outcomes, kills').action(async (given) =>
  (await import('./commands/show/show.ts')).showStatus(showOptions(given)),
);
reading('why', 'the timeline of an order, or of signals that became none')
  .argument('<ORDER>', "the id of an order, ours or the exchange's, or its beginning or end; or the id of a strategy")
  .action(async (subject: string, given) =>
    (await import('./commands/show/why.ts')).showWhy(subject, showOptions(given)),
  );

const controlling = (name: string, about: string): Command =>
  program
    .command(name)
    .description(about)
    .addOption(stateOption())
    .option('--strategy <ID>', 'only this strategy')
    .addOption(jsonOption());
controlling('kill', 'stop creating orders, durably, and cancel what rests; positions stay')
  .option('--reason <TEXT>', 'for the journal', 'sluice kill')
  .action(async (given) =>
    (await import('./commands/control/kill-resume-cancel.ts')).control('kill', { ...given, out, say }),
  );
controlling('resume', 'lift a kill: strategies may create orders again, the daily loss is measured from now on')
  .option('--reason <TEXT>', 'for the journal', 'sluice resume')
  .action(async (given) =>
    (await import('./commands/control/kill-resume-cancel.ts')).control('resume', { ...given, out, say }),
  );
controlling('cancel', 'cancel resting orders')
  .option('--all', 'of every strategy', false)
  .action(async (given) =>
    (await import('./commands/control/kill-resume-cancel.ts')).control('cancel', { ...given, out, say }),
  );

addDecisions(program, { out, say });

program
  .command('watchdog')
  .description('cancel the orders of a daemon without a heartbeat, as a separate process with its own key')
  .addOption(configOption())
  .addOption(stateOption())
  .addOption(jsonOption())
  .action(async (given) =>
    (await import('./watchdog/run.ts')).watchdog({
      ...withConfig('watchdog', given),
      environment: process.env,
      ...{ out, say, signal: stopping.signal },
    }),
  );
const limits = reading('limits', 'the standard limits, what was raised above them, and which code ran');
limits.action(async (given) => (await import('./commands/control/limits.ts')).showLimits(showOptions(given)));
for (const [name, about, argument] of [
  ['raise', 'let a configuration stand above a standard limit; asks first', '<LIMIT> <VALUE>'],
  ['release', 'let the version of a strategy that ran last use its whole allocation; asks first', '<STRATEGY>'],
] as const) {
  const step = limits.command(name).description(about);
  for (const one of argument.split(' ')) step.argument(one);
  step
    .requiredOption('--reason <TEXT>', 'for the journal')
    .option('--yes', 'do not ask', false)
    .action(async (...given: readonly unknown[]) => {
      const command = given.at(-1) as Command;
      const { raiseLimit, releaseVersion } = await import('./commands/control/limits.ts');
      const options = {
        ...command.optsWithGlobals<{ state?: string; json: boolean; reason: string; yes: boolean }>(),
        ...{ out, say, signal: stopping.signal },
      };
      const [first, second] = command.args as [string, string];
      await (name === 'raise' ? raiseLimit(first, second, options) : releaseVersion(first, options));
    });
}

program
  .command('doctor')
  .description('check whether a configuration can trade here and now; changes nothing')
  .addOption(configOption())
  .addOption(stateOption())
  .addOption(new Option('--set <PATH=VALUE>', 'change a value of the configuration').argParser(collect).default([]))
  .addOption(jsonOption())
  .action(async (given) =>
    (await import('./commands/doctor/doctor.ts')).doctor({
      ...withConfig('doctor', given),
      environment: process.env,
      out,
      say,
    }),
  );

addByHand(program, { out, say, signal: stopping.signal });
addData(program, { out, say, signal: stopping.signal });
addRecord(program, { out, say, signal: stopping.signal });
addJournal(program, { out, say });

/** What is missing shows how the command is written; the program's own word of help would not say. */
function showUsage(command: Command, path: string): void {
  command.showHelpAfterError(`usage: ${path} ${command.usage()}\n(${path} --help)`);
  for (const one of command.commands) showUsage(one, `${path} ${one.name()}`);
}
for (const one of program.commands) showUsage(one, `sluice ${one.name()}`);

/** Not awaited at the top level: where nothing is left to wait for, Node would blame this file. */
async function run(): Promise<void> {
  try {
    await program.parseAsync();
    if (stopping.exitCode !== undefined) process.exitCode = stopping.exitCode;
  } catch (error) {
    const code = exitCodeOf(error, say);
    process.exitCode = stopping.exitCode ?? code;
  }
  through();
  // What a stopped daemon could not finish, such as an order of unknown outcome, is taken up by the next start: no wait for it here.
  if (stopping.signal.aborted || process.exitCode === 1) process.exit();
}
void run();
