/** `sluice-withdraw list`: what the exchange says of withdrawals; what was not known is cleared up on the way. */

import { answered } from '../commands/manual/client.ts';
import { printRows } from '../commands/manual/show.ts';
import { momentOf } from '../config/times.ts';
import { Refusal } from '../domain/refusal.ts';
import { entryText, withdrawalRow } from './format.ts';
import { resolve } from './resolve.ts';
import { type WithdrawCommand, withDesk } from './withdraw.ts';

export interface ListCommand extends WithdrawCommand {
  readonly asset?: string;
  /** Ours. */
  readonly id?: string;
  /** Back to this day; 90 days when left out. */
  readonly since?: string;
  readonly page?: number;
}

export async function list(command: ListCommand): Promise<void> {
  const { asset, id, since, page } = command;
  const startTime = since === undefined ? undefined : momentOf(`${since}T00:00Z`);
  if (Number.isNaN(startTime)) throw new Refusal(`--since ${since}: must be a day such as 2026-01-31`);
  await withDesk(command, async (desk) => {
    for (const entry of desk.book.open(desk.host)) {
      const now = await resolve(entry, desk.book, desk.history, desk.clock);
      command.say(entryText(now));
    }
    const answer = await desk.history.query({
      ...(asset !== undefined && { asset: asset.toUpperCase() }),
      ...(id !== undefined && { withdrawOrderId: id }),
      ...(startTime !== undefined && { startTime }),
      ...(page !== undefined && { page }),
    });
    const { rows, count } = answered(answer, desk);
    printRows(rows.map(withdrawalRow), command.json, command.out, 'no withdrawals');
    if (count === undefined && rows.length > 0)
      command.say('the exchange does not say how many there are: --page N shows whether there are more');
    if (count !== undefined && count > rows.length) command.say(`${rows.length} of ${count}: --page N shows more`);
  });
}
