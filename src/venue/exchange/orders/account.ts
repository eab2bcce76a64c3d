/** The account's balances. */
import { type AccountReader, ok } from '../../venue.ts';
import { readBalances } from '../market/read-market.ts';
import { endpoints } from '../rest/endpoints.ts';
import { failure } from '../rest/failure.ts';
import { idOf, isFields } from '../rest/json.ts';
import type { Rest } from '../rest/rest.ts';

/**
 * There is no such operation for margin (specification §4.4): these are the spot balances whatever the account. `uidSeen` is told of the uid
 * that some deployments show beside them.
 */
export const accountReader = (rest: Rest, uidSeen: (uid: string) => void = () => {}): AccountReader => ({
  async balances() {
    const reply = await rest.call({ endpoint: endpoints.account, lane: 'reconcile' });
    if (reply.kind !== 'ok') return failure(endpoints.account, reply);
    const uid = isFields(reply.value) ? idOf(reply.value['uid']) : undefined;
    if (uid !== undefined) uidSeen(uid);
    const balances = readBalances(reply.value);
    return typeof balances === 'string' ? rest.unreadable(endpoints.account, balances, reply.value) : ok(balances);
  },
});
