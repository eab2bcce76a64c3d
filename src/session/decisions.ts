/** What a daemon does when an operator decides: resolves or adopts an order, decides about a trade, adjusts the ledger. */

import type { DashboardSource } from '../dashboard/dashboard.ts';
import {
  type Decimal,
  MoneyError,
  noUnits,
  plus,
  type Units,
  units,
  unitsDecimal,
  unitsText,
} from '../domain/money.ts';
import type { TradeDecision } from '../domain/order.ts';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import { type ByHand, type HumanWord, humanWords } from '../execution/operator-decisions.ts';
import type { Assembled } from '../trading/assemble.ts';

const isWord = (word: string): word is HumanWord => Object.hasOwn(humanWords, word);

export const resolvedText = (order: string, as: HumanWord): string =>
  as === 'quarantined'
    ? `Order ${order} is quarantined: it stays reserved and its symbol blocked until the exchange shows it, or you close it.`
    : `Order ${order} is closed as ${as}, because you say so. Nothing was booked: what it did trade is booked when the exchange shows it, or said with sluice adjust.`;

export const tradeText = (trade: string, as: TradeDecision): string =>
  as === 'accepted'
    ? `Trade ${trade} accepted and booked as the exchange shows it.`
    : `Trade ${trade} discarded. It will never be booked, and the position does not count it. If it changed balances, run sluice adjust. An order that waits for it is closed with sluice resolve ORDER --as filled.`;

export const adjustedText = (asset: string, amount: string, isCompared: boolean): string =>
  `The ledger counts ${amount.replace('-', '')} ${asset} ${amount.startsWith('-') ? 'less' : 'more'}; ${isCompared ? 'the next comparison shows whether it equals the account' : 'nothing compares it with the account, because the exchange has no query for margin balances'}.`;

/** What a daemon does when it is told so, by a command or by the API: what the command refuses it refuses, too. */
export function decisionsOf({
  resolveByHand,
  adoptByHand,
  resolveTrade: decideTrade,
  adjust: adjustLedger,
  execution: { books, halts },
  portfolio: { instruments },
}: ByHand & Known): Pick<DashboardSource, 'resolve' | 'adopt' | 'resolveTrade' | 'adjust'> {
  return {
    async resolve(order, as, reason) {
      if (!isWord(as)) throw new Refusal(`an order is resolved as ${Object.keys(humanWords).join(', ')}, not as ${as}`);
      const against = await resolveByHand(order.toLowerCase(), as, 'operator', reason);
      if (against !== undefined) throw new Refusal(against);
      return resolvedText(order, as);
    },
    async adopt(order, orderId, reason) {
      const against = await adoptByHand({ clientOrderId: order.toLowerCase(), orderId, by: 'operator', reason });
      if (against !== undefined) throw new Refusal(against);
      return `Order ${order} adopted as exchange order ${orderId}. Its fills are booked.`;
    },
    async resolveTrade(trade, as, reason) {
      const against = await decideTrade(trade, as, 'operator', reason);
      if (against !== undefined) throw new Refusal(against);
      return tradeText(trade, as);
    },
    async adjust(asset, text, reason) {
      refuseNoAsset(asset);
      const amount = amountOf(text);
      if (books === undefined) throw new Refusal(onPaper);
      const held = books.ledger.expected();
      const traded = [...instruments.values()].flatMap(({ base, quote }) => [base, quote]);
      refuseUnheard(asset, [...new Set([...traded, ...held.keys()])]);
      // What the account was itself seen to lack may be said, too.
      const isShort = halts.inForce.some(({ cause }) => cause === 'ledger');
      const there = books.ledger.begun && !isShort ? held.get(asset) : undefined;
      if (there !== undefined && amount < 0n) refuseBelowNothing(asset, unitsText(amount), unitsDecimal(there));
      await adjustLedger(asset, amount, 'operator', reason);
      return adjustedText(asset, unitsText(amount), books.balances !== undefined);
    },
  };
}

interface Known {
  readonly execution: Pick<Assembled['execution'], 'books' | 'halts'>;
  readonly portfolio: Pick<Assembled['portfolio'], 'instruments'>;
}

export const onPaper =
  'nothing can be adjusted on paper: what there is comes from the configuration (cash, allocation) and from the fills, and is compared with no account';

export function refuseNoAsset(asset: string): void {
  if (!/^[A-Z0-9]{1,20}$/.test(asset))
    throw new Refusal(`${asset} is not an asset: write it as the exchange does, such as USDT`);
}

export function refuseUnheard(asset: string, heard: readonly string[]): void {
  if (heard.length > 0 && !heard.includes(asset))
    throw new Refusal(
      `${asset} is not an asset of this account${didYouMean(asset, heard)}: the journal knows ${heard.join(', ')}`,
    );
}

/** Nobody can withdraw more than there is; what the account was itself seen to lack is another matter. */
export function refuseBelowNothing(asset: string, amount: string, held: Decimal, seen?: string): void {
  if (held.plus(amount).gte(0)) return;
  if (seen !== undefined && held.plus(seen).lte(held.plus(amount))) return;
  throw new Refusal(
    `the ledger holds ${held.toFixed()} ${asset}, and ${amount.slice(1)} less would be below nothing: look at the amount and its sign${seen === undefined ? '' : `; when the account was last compared it held ${seen} ${asset} beside what the ledger explains`}`,
  );
}

/** More than any exchange holds of anything, the cheapest coins too. */
const most = units('1000000000000000000');

export function amountOf(text: string): Units {
  try {
    const amount = /^-?\d+(\.\d+)?$/.test(text) ? units(text) : undefined;
    if (amount === noUnits) throw new Refusal(`${text} would change nothing: write what came (100) or went (-12.5)`);
    if (amount !== undefined && (amount > most || plus(amount, most) < noUnits))
      throw new Refusal(`${text} is more than there is of any asset: look at the amount`);
    if (amount !== undefined) return amount;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
  }
  throw new Refusal(`${text} is not an amount: write a plain number with at most 18 decimals, such as 100 or -12.5`);
}
