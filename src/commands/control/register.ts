/** The command lines that act on a daemon or its journal: kill, pause, resume, cancel, reload, limits, resolve, resolve-trade, adjust. */
import { type Command, Option } from 'commander';
import { type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';

const load = () => import('./actions.ts');

export function addControl(program: Command, io: Io): void {
  const add = (name: string, about: string): Command =>
    program.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  const ofStrategy = (name: string, about: string): Command =>
    add(name, about).option('--strategy <ID>', 'only this strategy');
  const reasonOf = (action: string) => ['--reason <TEXT>', 'for the journal', `sluice ${action}`] as const;
  const kill = ofStrategy(
    'kill',
    'strategies create no orders until you resume, and their resting orders are cancelled; positions stay, with their exits in force',
  ).option('--everything', 'exits stop, too: stops, time exits and take-profits', false);
  run(kill.option(...reasonOf('kill')), io, async () => (await load()).kill);
  const pause = ofStrategy(
    'pause',
    'nothing is entered until you resume; strategies may leave positions, and exits go on',
  )
    .argument('[STRATEGY]', 'only this strategy; all if left out')
    .option(...reasonOf('pause'));
  run(pause, io, async () => (await load()).pause);
  const resume = ofStrategy(
    'resume',
    'lift kills and pauses: strategies may create orders again; after a kill the daily loss is measured from now on',
  );
  run(resume.option(...reasonOf('resume')), io, async () => (await load()).resume);
  const flatten = ofStrategy(
    'flatten',
    'pause strategies, cancel their orders and close their positions: by LIMIT at the best price, then at market',
  )
    .option('--symbol <SYMBOL>', 'only positions on this symbol')
    .option(
      '--max-slippage <FRACTION>',
      'maximum slippage from the current price, as a fraction (default: risk.maxSlippage, 0.01)',
    )
    .requiredOption('--reason <TEXT>', 'for the journal');
  run(flatten, io, async () => (await load()).flatten);
  const cancel = ofStrategy('cancel', 'cancel resting orders')
    .argument('[ORDER]', "only this one: its id, ours or the exchange's, or its beginning or end")
    .option('--all', 'of every strategy', false)
    .option(...reasonOf('cancel'));
  run(cancel, io, async () => (await load()).cancel);
  const reload = add(
    'reload',
    'read the limits in the configuration, or the code of a strategy, again in the running daemon',
  )
    .argument('[ID]', 'the id of the strategy whose code is loaded anew')
    .option('--loosen', 'confirm limits that are looser than before; needs --reason', false)
    .option('--reason <TEXT>', 'for the journal');
  run(reload, io, async () => (await load()).reload);
  addDecisions(add, io);
  addLimits(add, io);
}

function addDecisions(add: (name: string, about: string) => Command, io: Io): void {
  const reason = ['--reason <TEXT>', 'the evidence, for the journal'] as const;
  const resolve = add(
    'resolve',
    'record the outcome of an order that Sluice cannot determine: unknown, quarantined or stuck',
  )
    .argument('<ORDER>', "its id, ours or the exchange's, or its beginning or end")
    .addOption(new Option('--as <STATE>', 'its outcome').choices(['absent', 'quarantined', 'filled', 'canceled']))
    .option('--adopt <EXCHANGE_ORDER_ID>', 'bind it to this exchange order and book its fills (needs the daemon)')
    .requiredOption(...reason);
  run(resolve, io, async () => (await load()).resolve);
  const trade = add('resolve-trade', 'accept or discard an invalid trade that was quarantined')
    .argument('<TRADE_ID>', "the exchange's id of the trade, or SYMBOL:ID")
    .option('--accept', 'book it as the exchange shows it', false)
    .option('--discard', 'never book it', false)
    .requiredOption(...reason);
  run(trade, io, async () => (await load()).resolveTrade);
  const adjust = add(
    'adjust',
    'book a deposit (positive) or a withdrawal (negative), so that the ledger equals the account again',
  )
    .argument('<ASSET>', 'such as USDT')
    .argument('<AMOUNT>', 'such as 100 or -12.5')
    .requiredOption('--reason <TEXT>', 'for the journal');
  run(adjust, io, async () => (await load()).adjust);
}

function addLimits(add: (name: string, about: string) => Command, io: Io): void {
  const limitsOf = () => import('./limits.ts');
  const limits = add('limits', 'the standard limits, those that were raised, and the code versions that ran');
  run(limits, io, async () => (await limitsOf()).showLimits);
  const confirmed = (name: string, about: string): Command =>
    limits
      .command(name)
      .description(about)
      .requiredOption('--reason <TEXT>', 'for the journal')
      .option('--yes', 'do not ask for confirmation', false);
  const raise = confirmed('raise', 'allow a configuration to exceed a standard limit, after a confirmation')
    .argument('<LIMIT>')
    .argument('<VALUE>');
  run(raise, io, async () => (await limitsOf()).raiseLimit);
  const release = confirmed(
    'release',
    'let the newest version of a strategy use its whole allocation, after a confirmation',
  );
  run(release.argument('<STRATEGY>'), io, async () => (await limitsOf()).releaseVersion);
}
