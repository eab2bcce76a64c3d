/** What keeps orders of a session from being created, whatever the risk rules say. */
import type { Budget } from '../../budget/budget.ts';
import type { Intent } from '../../domain/order.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import { forbiddingFile } from '../control/control-files.ts';
import type { SessionOptions } from '../options.ts';
import { bannedText } from './exchange-watch.ts';
import type { Terms } from './instrument-updates.ts';

/** Why nothing may be created at this moment. Simulated fills do not depend on the exchange's time. */
export const blockedBy =
  ({ stateDir, secrets }: SessionOptions, { time }: Exchange, limits: Budget, terms: Terms) =>
  ({ symbol, purpose }: Partial<Pick<Intent, 'symbol' | 'purpose'>> = {}): string | undefined => {
    const file = forbiddingFile(stateDir, purpose ?? 'enter');
    if (file !== undefined) return `the file ${file} in ${stateDir} asks for it`;
    // A ban may arrive while an order is being journalled: checked at the last hop, the order does not leave.
    const general = bannedText({ secrets }, limits) ?? (secrets === undefined ? undefined : time.against());
    return general ?? terms.against(symbol ?? '');
  };

/** Why nothing at all reaches the exchange now, cancels included: a ban or an outage. Undefined where it takes requests. */
export function awayText(
  options: { readonly secrets: unknown },
  limits: Parameters<typeof bannedText>[1],
  sweeps: { readonly unanswered: string | undefined },
): string | undefined {
  const cause = sweeps.unanswered;
  return bannedText(options, limits) ?? (cause === undefined ? undefined : `the exchange does not answer (${cause})`);
}
