/** Refuses a key that may withdraw: a thief could take the money. Checked by a query alone. */
import { Refusal } from '../../domain/refusal.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';

/** Refuses the start when the exchange answers about withdrawals; no answer, or any refusal, lets it go on. */
export async function refuseWithdrawKey(
  { withdrawals }: { readonly withdrawals: Pick<Exchange['withdrawals'], 'query'> },
  accepted: boolean,
): Promise<void> {
  if (accepted) return;
  const answer = await withdrawals.query({});
  if (answer.kind === 'failed') return;
  throw new Refusal(
    'this key may withdraw, but a daemon only needs to read and trade. Remove that permission in the user centre, or create another key. To trade with this key anyway, set execution.withdrawKey: accepted in the configuration',
  );
}
