/** The command line of what only a human decides: how an order ended, quarantined trades, and what moved the balances. */
import { type Command, Option } from 'commander';
import { jsonOption, stateOption } from '../options.ts';

interface Io {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

export function addDecisions(program: Command, io: Io): void {
  program
    .command('resolve')
    .description('record the outcome of an order that Sluice cannot determine: unknown, quarantined or stuck')
    .argument('<ORDER>', "its id, ours or the exchange's, or its beginning or end")
    .addOption(new Option('--as <STATE>', 'its outcome').choices(['absent', 'quarantined', 'filled', 'canceled']))
    .option('--adopt <EXCHANGE_ORDER_ID>', 'bind it to this exchange order and book its fills (needs the daemon)')
    .requiredOption('--reason <TEXT>', 'how you know, for the journal')
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (order: string, given) => (await import('./resolve-by-hand.ts')).resolve(order, { ...given, ...io }));
  program
    .command('resolve-trade')
    .description('accept or discard an invalid trade that was quarantined')
    .argument('<TRADE_ID>', "the exchange's id of the trade, or SYMBOL:ID")
    .option('--accept', 'book it as the exchange shows it', false)
    .option('--discard', 'never book it', false)
    .requiredOption('--reason <TEXT>', 'how you know, for the journal')
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (trade: string, given) =>
      (await import('./resolve-by-hand.ts')).resolveTrade(trade, { ...given, ...io }),
    );
  program
    .command('adjust')
    .description('book a deposit (positive) or a withdrawal (negative), so that the ledger equals the account again')
    .argument('<ASSET>', 'such as USDT')
    .argument('<AMOUNT>', 'such as 100 or -12.5')
    .requiredOption('--reason <TEXT>', 'for the journal')
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (asset: string, amount: string, given) =>
      (await import('./resolve-by-hand.ts')).adjust(asset, amount, { ...given, ...io }),
    );
}
