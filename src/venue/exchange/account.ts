/** The account's balances. */
import { type AccountReader, ok } from '../venue.ts';
import { failure } from './answer.ts';
import { endpoints } from './endpoints.ts';
import { readBalances } from './read-market.ts';
import type { Rest } from './rest.ts';

/** There is no such operation for margin (specification §4.4): these are the spot balances whatever the account. */
export const accountReader = (rest: Rest): AccountReader => ({
  async balances() {
    const reply = await rest.call({ endpoint: endpoints.account, lane: 'reconcile' });
    if (reply.kind !== 'ok') return failure(endpoints.account, reply);
    const balances = readBalances(reply.value);
    return typeof balances === 'string' ? rest.unreadable(endpoints.account, balances, reply.value) : ok(balances);
  },
});
