/** The command line: registers the families of commands, handles signals, sets the exit code. A command loads what carries it out. */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { addAlerts } from './commands/alerts/register.ts';
import { addBacktest } from './commands/backtest/register.ts';
import { addBooks } from './commands/books/register.ts';
import { addControl } from './commands/control/register.ts';
import { addDashboard } from './commands/dashboard/register.ts';
import { addData } from './commands/data/register.ts';
import { detectEarlyEnd } from './commands/early-end.ts';
import { addInstall } from './commands/install/register.ts';
import { addJournal } from './commands/journal/register.ts';
import { addManual } from './commands/manual/register.ts';
import { addProject } from './commands/project/register.ts';
import { addRecord } from './commands/record/register.ts';
import { addRuns } from './commands/runs/register.ts';
import { addShow } from './commands/show/register.ts';
import { addSimulator } from './commands/simulator/register.ts';
import { stopsOnSignals } from './process/signals.ts';
import { exitCodeOf } from './terminal/exit-code.ts';
import {
  configured,
  type Io,
  jsonOption,
  logOption,
  requireValues,
  run,
  setOption,
  speed,
  stateOption,
  wholeNumber,
} from './terminal/options.ts';
import { out, registerSecretsOf, say, toleratesClosedOutput } from './terminal/output.ts';

toleratesClosedOutput(process.argv[2]);

// Journals, logs, locks and the files of libraries beside them are for their owner alone.
process.umask(0o077);

registerSecretsOf(process.env);

const stopping = stopsOnSignals(process.argv[2]);
const through = detectEarlyEnd(say);
const io: Io = { out, say, signal: stopping.signal };

function version(): string {
  const here = new URL(import.meta.url);
  const file = new URL(here.pathname.includes('/dist/') ? '../../package.json' : '../package.json', here);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

const program = new Command('sluice')
  .description('Algorithmic trading framework: backtest, paper trade and trade live with the same strategy code')
  .version(version())
  .showHelpAfterError('(sluice --help, or sluice COMMAND --help)')
  .showSuggestionAfterError()
  .configureOutput({ writeErr: (text) => process.stderr.write(text) })
  .exitOverride();

const scenarios = ['crash-2020', 'tape-2024'];
const demo = program
  .command('demo')
  .description('a live daemon on the built-in exchange with recorded data and a dashboard')
  .addOption(new Option('--scenario <NAME>', 'which recorded market').choices(scenarios).default('crash-2020'))
  .option('--speed <N>', 'times real time (60 for crash-2020, 1 for tape-2024)', speed)
  .option('--port <N>', "the dashboard's port (0: any free one)", wholeNumber(0, 65_535), 0)
  .option(
    '--faults <NAME>',
    'faults of the exchange: the name of a plan (a wrong name lists them), or a file of fault rules (default: one create in fifty is answered with a 504 after it was accepted)',
  )
  .option('--fresh', 'delete the positions and the market time of earlier runs', false)
  .addOption(stateOption())
  .addOption(jsonOption())
  .addOption(logOption());
run(demo, io, async () => (await import('./commands/demo/demo.ts')).demo);

const trading = (name: string, about: string): Command =>
  configured(program.command(name).description(about))
    .addOption(stateOption())
    .addOption(setOption())
    .addOption(jsonOption())
    .addOption(logOption());
const live = trading('live', 'trade on the exchange').option(
  '--accept-restored <REASON>',
  'start on a restored journal, or without the lost one; the reason is journalled',
);
run(live, io, async () => (await import('./commands/trade/trade.ts')).live);
const paper = trading('paper', "trade on the exchange's market with simulated fills");
run(paper, io, async () => (await import('./commands/trade/trade.ts')).paper);

addProject(program, io);
addBacktest(program, io, version());
addRuns(program, io);
addSimulator(program, io);
addShow(program, io);
addDashboard(program, io);
addBooks(program, io);
addControl(program, io);
addAlerts(program, io);
addInstall(program, io);

const watchdog = configured(program.command('watchdog'))
  .description('cancel the orders of a daemon without a heartbeat, as a separate process with its own key')
  .addOption(stateOption())
  .addOption(jsonOption());
run(watchdog, io, async () => (await import('./watchdog/run.ts')).watchdog);
const doctor = configured(program.command('doctor'))
  .description('check whether a configuration can trade here and now; changes nothing')
  .addOption(stateOption())
  .addOption(setOption())
  .addOption(jsonOption());
run(doctor, io, async () => (await import('./commands/doctor/doctor.ts')).doctor);

addManual(program, io);
addData(program, io);
addRecord(program, io);
addJournal(program, io);

/** Errors of arguments show how the command is written. */
function showUsage(command: Command, path: string): void {
  command.showHelpAfterError(`usage: ${path} ${command.usage()}\n(${path} --help)`);
  for (const one of command.commands) showUsage(one, `${path} ${one.name()}`);
}
for (const one of program.commands) showUsage(one, `sluice ${one.name()}`);
requireValues(program);

/** Not awaited at the top level: if nothing is left to wait for, Node would blame this file. */
async function main(): Promise<void> {
  try {
    await program.parseAsync();
    // A command sets its own where it was done before the signal.
    if (stopping.exitCode !== undefined) process.exitCode ??= stopping.exitCode;
  } catch (error) {
    const code = exitCodeOf(error, say);
    process.exitCode = stopping.exitCode ?? code;
  }
  through();
  // The next start resolves what a stopped daemon could not finish, such as an order of unknown outcome.
  if (stopping.signal.aborted || process.exitCode === 1) process.exit();
}
void main();
