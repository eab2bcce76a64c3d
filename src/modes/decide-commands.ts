/** The command line of what a human decides beside orders: quarantined trades, and what moved the balances. */
import { type Command, Option } from 'commander';

interface Io {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

const stateOption = (): Option => new Option('--state <DIR>', 'where all state lives');
const jsonOption = (): Option =>
  new Option('--json', 'machine output on stdout; everything else goes to stderr').default(false);

export function addDecisions(program: Command, io: Io): void {
  program
    .command('resolve-trade')
    .description('accept or discard a quarantined trade: one that cannot be as the exchange shows it')
    .argument('<TRADE_ID>', "the exchange's id of the trade, or SYMBOL:ID")
    .option('--accept', 'book it as the exchange shows it', false)
    .option('--discard', 'never book it', false)
    .requiredOption('--reason <TEXT>', 'how you know, for the journal')
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (trade: string, given) => (await import('./decide.ts')).resolveTrade(trade, { ...given, ...io }));
  program
    .command('adjust')
    .description('tell the ledger of a deposit (positive) or a withdrawal, so that it equals the account again')
    .argument('<ASSET>', 'such as USDT')
    .argument('<AMOUNT>', 'such as 100 or -12.5')
    .requiredOption('--reason <TEXT>', 'for the journal')
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (asset: string, amount: string, given) =>
      (await import('./decide.ts')).adjust(asset, amount, { ...given, ...io }),
    );
}
