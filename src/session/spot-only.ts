/** What simulated fills cannot do. */
import type { Account } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';

/** Refuses a margin account with simulated fills: interest and liquidation are not simulated. */
export function refuseMargin(account: Account, configFile: string): void {
  if (account === 'spot') return;
  throw new Refusal(
    `${configFile}: account: margin cannot be simulated: interest and liquidation are not, and the result would be too good. Use account: spot`,
  );
}
