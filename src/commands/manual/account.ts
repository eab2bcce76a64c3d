/** `sluice account`: the balances. */
import { noUnits, unitsText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { answered, type Commanded, type WhichExchange, withClient } from './client.ts';
import { printRows } from './show.ts';

/** `all` lists coins without a balance, too; exchanges name every coin they have. */
export const account = (command: WhichExchange & Commanded & { readonly all?: boolean }): Promise<void> =>
  withClient(command, command, true, async (client) => {
    if (client.account === 'margin')
      throw new Refusal('the interface has no query for margin balances: look in the user centre');
    const balances = answered(await client.exchange.account.balances(), client)
      .filter(({ free, locked }) => command.all === true || free !== noUnits || locked !== noUnits)
      .map(({ asset, free, locked }) => ({ asset, free: unitsText(free), locked: unitsText(locked) }));
    printRows(balances, command.json, command.out, 'no balances');
  });
