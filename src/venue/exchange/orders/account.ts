/** The account's balances. */
import type { AccountReader, Balance } from '../../venue.ts';
import { endpoints } from '../rest/endpoints.ts';
import { amountOf, idOf, isFields, textOf } from '../rest/json.ts';
import { rowsOf } from '../rest/reply.ts';
import type { Rest } from '../rest/rest.ts';

/**
 * Always the spot balances: margin has no such operation (specification §4.4). `uidSeen` gets the uid that some deployments show
 * beside them.
 */
export const accountReader = (rest: Rest, uidSeen: (uid: string) => void = () => {}): AccountReader => ({
  balances: () =>
    rest.ask({ endpoint: endpoints.account, lane: 'reconcile' }, (value) => {
      const uid = isFields(value) ? idOf(value['uid']) : undefined;
      if (uid !== undefined) uidSeen(uid);
      return readBalances(value);
    }),
});

/** `{"balances":[{"asset":"BTC","free":"4723846.89208129","locked":"0.0000000000000000"}, …]}`, every coin; a text says why they cannot be read. */
function readBalances(value: unknown): readonly Balance[] | string {
  const rows = isFields(value) ? rowsOf(value['balances']) : undefined;
  if (rows === undefined || !isFields(value) || !Array.isArray(value['balances']))
    return 'the answer has no list of balances';
  const balances: Balance[] = [];
  for (const row of rows) {
    const asset = isFields(row) ? textOf(row['asset'])?.toUpperCase() : undefined;
    if (!isFields(row) || asset === undefined) return 'a balance has no asset';
    const free = amountOf(row['free']);
    const locked = amountOf(row['locked']);
    if (free === undefined || locked === undefined) return `the balance of ${asset} cannot be read`;
    balances.push({ asset, free, locked });
  }
  return balances;
}
